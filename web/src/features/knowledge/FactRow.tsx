import type { Triple } from "../../api/types";
import { groupDigits } from "../../lib/numbers";
import { t } from "../../lib/strings";
import { Badge } from "../../ui/bits";
import { predicateText } from "../conversations/grounding";

export function objectText(object: Triple["object"]): string {
  const text = object.label ?? String(object.value ?? "");
  const whole = object.unit && !text.includes(object.unit) ? `${text} ${object.unit}` : text;
  return object.type === "number" ? groupDigits(whole) : whole;
}

/** One fact in a table: what it is about, the relation, the value. */
export function FactRow({
  fact,
  current,
  onOpen,
  onOpenNode,
}: {
  fact: Triple;
  current: boolean;
  onOpen: () => void;
  onOpenNode: (id: string) => void;
}) {
  const { object } = fact;
  return (
    <tr data-current={current} data-retracted={fact.retracted_at !== null}>
      <td>
        <button type="button" className="cell-link" onClick={() => onOpenNode(fact.subject.id)}>
          {fact.subject.label}
        </button>
      </td>
      <td className="muted">
        {fact.polarity === "-" ? <Badge tone="warn">{t.knowledge.notSo}</Badge> : null}{" "}
        {predicateText(fact.predicate)}
      </td>
      <td>
        {object.type === "node" && object.node_id ? (
          <button type="button" className="cell-link" onClick={() => onOpenNode(object.node_id ?? "")}>
            {objectText(object)}
          </button>
        ) : (
          objectText(object)
        )}
      </td>
      <td className="muted hide-narrow">
        <span className="clamp">{fact.source ?? ""}</span>
      </td>
      <td className="cell-end">
        {fact.retracted_at === null ? (
          fact.kind === "claim" ? (
            <Badge>{t.knowledge.kinds.claim}</Badge>
          ) : null
        ) : (
          <Badge>{t.knowledge.retracted}</Badge>
        )}
        <button
          type="button"
          className="cell-open"
          onClick={onOpen}
          aria-label={`${t.knowledge.factOf}: ${fact.subject.label} ${predicateText(fact.predicate)} ${objectText(object)}`}
        >
          ›
        </button>
      </td>
    </tr>
  );
}
