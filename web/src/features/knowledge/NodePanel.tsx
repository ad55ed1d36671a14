import { useQuery } from "@tanstack/react-query";
import { ExternalLink, Plus, Waypoints } from "lucide-react";
import { Link } from "react-router";
import { api } from "../../api/client";
import type { Triple } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Badge } from "../../ui/bits";
import { Panel } from "../../ui/Panel";
import { ErrorState, SkeletonRows } from "../../ui/states";
import { predicateText } from "../conversations/grounding";
import { Aliases } from "./Aliases";
import { objectText } from "./FactRow";

/** A name with its other names and every fact around it. */
export function NodePanel({
  id,
  onClose,
  onOpenNode,
  onOpenFact,
  onAdd,
}: {
  id: string;
  onClose: () => void;
  onOpenNode: (id: string) => void;
  onOpenFact: (id: string) => void;
  onAdd: (label: string) => void;
}) {
  const query = useQuery({ queryKey: [...keys.nodes, id], queryFn: () => api.knowledge.node(id) });
  const node = query.data;
  const facts = node?.triples ?? [];
  return (
    <Panel title={node?.label ?? t.knowledge.nodes} onClose={onClose}>
      {query.isPending ? (
        <SkeletonRows rows={5} />
      ) : query.isError ? (
        <ErrorState what={t.knowledge.node} error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <>
          <div className="side-links">
            <Link className="button" data-size="s" to={`/knowledge/entities/${id}`}>
              <ExternalLink size={14} aria-hidden /> {t.knowledge.openEntity}
            </Link>
            <Link className="button" data-size="s" to={`/knowledge/graph?center=${id}`}>
              <Waypoints size={14} aria-hidden /> {t.knowledge.openGraph}
            </Link>
          </div>
          <Aliases nodeId={id} label={query.data.label} aliases={query.data.aliases} />
          <section className="side-section">
            <h3>{t.knowledge.factsAbout}</h3>
            {facts.length === 0 ? <p className="muted">{t.knowledge.noFactsAbout}</p> : null}
            <ul className="fact-list">
              {facts.map((fact) => (
                <NodeFact
                  key={fact.id}
                  fact={fact}
                  nodeId={id}
                  onOpenNode={onOpenNode}
                  onOpenFact={onOpenFact}
                />
              ))}
            </ul>
            <Button size="s" className="side-add" onClick={() => onAdd(query.data.label)}>
              <Plus size={14} aria-hidden /> {t.knowledge.addOne}
            </Button>
          </section>
        </>
      )}
    </Panel>
  );
}

function NodeFact({
  fact,
  nodeId,
  onOpenNode,
  onOpenFact,
}: {
  fact: Triple;
  nodeId: string;
  onOpenNode: (id: string) => void;
  onOpenFact: (id: string) => void;
}) {
  const outgoing = fact.subject.id === nodeId;
  const otherId = outgoing ? (fact.object.node_id ?? null) : fact.subject.id;
  const other = outgoing ? objectText(fact.object) : fact.subject.label;
  return (
    <li className="fact">
      <div className="grow">
        {outgoing ? null : (
          <button type="button" className="cell-link" onClick={() => onOpenNode(fact.subject.id)}>
            {fact.subject.label}
          </button>
        )}{" "}
        <span className="muted">
          {fact.polarity === "-" ? `${t.knowledge.notSo} ` : ""}
          {predicateText(fact.predicate)}
        </span>{" "}
        {outgoing ? (
          otherId === null ? (
            <strong>{other}</strong>
          ) : (
            <button type="button" className="cell-link" onClick={() => onOpenNode(otherId)}>
              {other}
            </button>
          )
        ) : (
          <strong>{objectText(fact.object)}</strong>
        )}
        {fact.retracted_at ? <Badge>{t.knowledge.retracted}</Badge> : null}
      </div>
      <button
        type="button"
        className="cell-open"
        aria-label={t.knowledge.factOf}
        onClick={() => onOpenFact(fact.id)}
      >
        ›
      </button>
    </li>
  );
}
