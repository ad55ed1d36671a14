import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client";
import type { NewTriple, Triple } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Badge, Time } from "../../ui/bits";
import { Panel } from "../../ui/Panel";
import { ErrorState, SkeletonRows } from "../../ui/states";
import { toast, toastError } from "../../ui/Toast";
import { predicateText } from "../conversations/grounding";
import { objectText } from "./FactRow";

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
  const client = useQueryClient();
  const [gone, setGone] = useState(false);
  const refresh = () => client.invalidateQueries({ queryKey: keys.knowledge });
  const retract = useMutation({
    mutationFn: () => api.knowledge.retract(fact.id),
    onSuccess: async () => {
      setGone(true);
      await refresh();
      toast({
        text: t.knowledge.retractedToast,
        action: {
          label: t.common.undo,
          run: () => {
            // Retracting keeps the history, so undoing it records the same fact again.
            api.knowledge
              .add([again(fact)])
              .then(() => {
                setGone(false);
                toast({ text: t.knowledge.restoredToast });
                return refresh();
              })
              .catch((error) => toastError(t.common.undo.toLowerCase(), error));
          },
        },
      });
    },
    onError: (error) => toastError(t.knowledge.retract.toLowerCase(), error),
  });
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
      {fact.retracted_at || gone ? null : (
        <div>
          <Button kind="danger" size="s" disabled={retract.isPending} onClick={() => retract.mutate()}>
            {t.knowledge.retract}
          </Button>
        </div>
      )}
    </>
  );
}

function again(fact: Triple): NewTriple {
  const { object } = fact;
  const plain =
    typeof object.value === "string" || typeof object.value === "number" || typeof object.value === "boolean";
  return {
    subject: fact.subject.label,
    predicate: fact.predicate,
    object:
      object.type === "node" || !plain
        ? object.label
        : { type: object.type, value: object.value, ...(object.unit ? { unit: object.unit } : {}) },
    polarity: fact.polarity,
    confidence: fact.confidence,
    kind: fact.kind,
    ...(fact.source === null ? {} : { source: fact.source }),
    ...(fact.valid_from === null ? {} : { valid_from: fact.valid_from }),
    ...(fact.valid_to === null ? {} : { valid_to: fact.valid_to }),
  };
}
