import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client";
import type { Triple } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Badge, Time } from "../../ui/bits";
import { Panel } from "../../ui/Panel";
import { ErrorState, SkeletonRows } from "../../ui/states";
import { predicateText } from "../conversations/grounding";
import { objectText } from "./FactRow";
import { Sources } from "./Sources";
import { useRetract } from "./useRetract";

export function FactPanel({
  id,
  onClose,
  onOpenNode,
}: {
  id: string;
  onClose: () => void;
  onOpenNode: (id: string) => void;
}) {
  const query = useQuery({ queryKey: [...keys.triples, "one", id], queryFn: () => api.knowledge.triple(id) });
  return (
    <Panel title={t.knowledge.factOf} onClose={onClose}>
      {query.isPending ? (
        <SkeletonRows rows={5} />
      ) : query.isError ? (
        <ErrorState
          what={t.knowledge.factOf.toLowerCase()}
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      ) : (
        <Body fact={query.data} onOpenNode={onOpenNode} />
      )}
    </Panel>
  );
}

function Body({ fact, onOpenNode }: { fact: Triple; onOpenNode: (id: string) => void }) {
  const [gone, setGone] = useState(false);
  const retract = useRetract({ onRetracted: () => setGone(true), onRestored: () => setGone(false) });
  const { object } = fact;
  const date = (value: string | null) => (value === null ? null : value.slice(0, 10));
  const rows: [string, React.ReactNode][] = [
    [t.knowledge.kind, t.knowledge.kinds[fact.kind] ?? fact.kind],
    [t.knowledge.confidence, `${Math.round(fact.confidence * 100)}%`],
    [t.knowledge.source, fact.source],
    [t.knowledge.validFrom, date(fact.valid_from)],
    [t.knowledge.validTo, date(fact.valid_to)],
    [t.knowledge.recorded, <Time key="c" at={fact.created_at} style="exact" />],
    [t.knowledge.retracted, fact.retracted_at ? <Time key="r" at={fact.retracted_at} style="exact" /> : null],
  ];
  return (
    <>
      <p className="fact-big">
        <button type="button" className="cell-link" onClick={() => onOpenNode(fact.subject.id)}>
          {fact.subject.label}
        </button>{" "}
        <span className="muted">
          {fact.polarity === "-" ? <Badge tone="warn">{t.knowledge.notSo}</Badge> : null}{" "}
          {predicateText(fact.predicate)}
        </span>{" "}
        {object.node_id ? (
          <button type="button" className="cell-link" onClick={() => onOpenNode(object.node_id ?? "")}>
            {objectText(object)}
          </button>
        ) : (
          <strong>{objectText(object)}</strong>
        )}
      </p>
      <dl className="facts-dl">
        {rows
          .filter(([, value]) => value !== null && value !== "")
          .map(([label, value]) => (
            <div key={label} className="dl-row">
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <section className="side-section">
        <h3>{t.documents.members}</h3>
        <Sources triple={fact.id} />
      </section>
      {fact.retracted_at || gone ? null : (
        <div>
          <Button kind="danger" size="s" disabled={retract.isPending} onClick={() => retract.mutate(fact)}>
            {t.knowledge.retract}
          </Button>
        </div>
      )}
    </>
  );
}
