import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client";
import type { NodeAlias, Triple } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Button, IconButton } from "../../ui/Button";
import { Badge } from "../../ui/bits";
import { Input } from "../../ui/Field";
import { Panel } from "../../ui/Panel";
import { ErrorState, SkeletonRows } from "../../ui/states";
import { toastError } from "../../ui/Toast";
import { predicateText } from "../conversations/grounding";
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

function Aliases({ nodeId, label, aliases }: { nodeId: string; label: string; aliases: NodeAlias[] }) {
  const client = useQueryClient();
  const [text, setText] = useState("");
  const refresh = () => client.invalidateQueries({ queryKey: keys.nodes });
  const add = useMutation({
    mutationFn: (alias: string) => api.knowledge.addAlias({ node: nodeId, alias }),
    onSuccess: () => {
      setText("");
      return refresh();
    },
    onError: (error) => toastError(t.knowledge.addAlias.toLowerCase(), error),
  });
  const remove = useMutation({
    mutationFn: (id: string) => api.knowledge.removeAlias(id),
    onSuccess: refresh,
    onError: (error) => toastError(t.common.remove.toLowerCase(), error),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") add.mutate(text.trim());
  };
  const rows = aliases.filter((one) => one.alias !== label);
  return (
    <section className="side-section">
      <h3>{t.knowledge.aliases}</h3>
      {rows.length === 0 ? <p className="muted small">{t.knowledge.noAliases}</p> : null}
      <ul className="alias-list">
        {rows.map((one) => (
          <li key={one.id} className="alias">
            {one.alias}
            <IconButton
              size="s"
              label={`${t.common.remove}: ${one.alias}`}
              icon={<X size={12} />}
              onClick={() => remove.mutate(one.id)}
            />
          </li>
        ))}
      </ul>
      <form className="row" onSubmit={submit}>
        <Input
          aria-label={t.knowledge.alias}
          placeholder={t.knowledge.aliasEx}
          value={text}
          maxLength={300}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" disabled={text.trim() === "" || add.isPending}>
          {t.knowledge.addAlias}
        </Button>
      </form>
    </section>
  );
}
