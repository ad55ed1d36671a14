import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { type FormEvent, useState } from "react";
import { entities } from "../../api/knowledge";
import type { Disagreement, TriplePatch } from "../../api/knowledge-types";
import type { Id, Triple } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { useSeen } from "../../lib/useSeen";
import { Button } from "../../ui/Button";
import { Badge } from "../../ui/bits";
import { Dialog } from "../../ui/Dialog";
import { Field, Input } from "../../ui/Field";
import { sentence } from "../../ui/states";
import { toast, toastError } from "../../ui/Toast";
import { predicateText } from "../conversations/grounding";
import { objectText } from "./FactRow";
import { Sources } from "./Sources";
import { validity } from "./Timeline";
import { useRetract } from "./useRetract";

function text(fact: Triple): string {
  return `${fact.subject.label} ${fact.polarity === "-" ? `${t.knowledge.notSo} ` : ""}${predicateText(fact.predicate)} ${objectText(fact.object)}`;
}

/** Two statements that cannot both hold, side by side, with what a person can do about it. */
export function DisagreementCard({ item, onOpenFact }: { item: Disagreement; onOpenFact: (id: Id) => void }) {
  const [ref, seen] = useSeen<HTMLElement>();
  const [dating, setDating] = useState(false);
  const words = t.knowledge.conflict;
  const retract = useRetract({ done: words.retracted });
  return (
    <article className="clash" ref={ref} aria-label={`${text(item.a)} / ${text(item.b)}`}>
      <div className="clash-sides">
        {([item.a, item.b] as const).map((fact, side) => (
          <div key={fact.id} className="clash-side">
            <button type="button" className="clash-fact" onClick={() => onOpenFact(fact.id)}>
              <strong>{fact.subject.label}</strong>{" "}
              <span className="muted">
                {fact.polarity === "-" ? <span className="not-so">{t.knowledge.notSo} </span> : null}
                {predicateText(fact.predicate)}
              </span>{" "}
              <strong>{objectText(fact.object)}</strong>
            </button>
            <div className="clash-meta small muted">
              {fact.kind === "claim" ? <Badge>{t.knowledge.kinds.claim}</Badge> : null}
              {fact.confidence < 1 ? (
                <span>
                  {t.knowledge.confidence} {Math.round(fact.confidence * 100)}%
                </span>
              ) : null}
              {validity(fact) ? <span>{validity(fact)}</span> : null}
              {fact.source ? <span>{fact.source}</span> : null}
            </div>
            <Sources triple={fact.id} enabled={seen} />
            <div className="clash-act">
              <Button
                size="s"
                disabled={retract.isPending}
                aria-label={words.keepThis(text(fact))}
                onClick={() => retract.mutate(side === 0 ? item.b : item.a)}
              >
                <Check size={14} aria-hidden /> {words.thisOne}
              </Button>
            </div>
          </div>
        ))}
      </div>
      <div className="clash-foot">
        <span className="muted small grow">{sentence(item.reason)}</span>
        <Button size="s" onClick={() => setDating(true)}>
          {words.both}
        </Button>
      </div>
      <Dialog open={dating} onClose={() => setDating(false)} title={words.bothTitle}>
        <Dates item={item} onClose={() => setDating(false)} />
      </Dialog>
    </article>
  );
}

interface Range {
  from: string;
  to: string;
}

const rangeOf = (fact: Triple): Range => ({
  from: fact.valid_from?.slice(0, 10) ?? "",
  to: fact.valid_to?.slice(0, 10) ?? "",
});

function Dates({ item, onClose }: { item: Disagreement; onClose: () => void }) {
  const client = useQueryClient();
  const words = t.knowledge.conflict;
  const [ranges, setRanges] = useState<[Range, Range]>([rangeOf(item.a), rangeOf(item.b)]);
  const [problem, setProblem] = useState<string | null>(null);
  const save = useMutation({
    mutationFn: async () => {
      for (const [fact, range] of [
        [item.a, ranges[0]],
        [item.b, ranges[1]],
      ] as const) {
        const before = rangeOf(fact);
        const patch: TriplePatch = {
          ...(range.from === before.from ? {} : { valid_from: range.from === "" ? null : range.from }),
          ...(range.to === before.to ? {} : { valid_to: range.to === "" ? null : range.to }),
        };
        if (Object.keys(patch).length > 0) await entities.qualify(fact.id, patch);
      }
    },
    onSuccess: async () => {
      onClose();
      toast({ text: words.qualified });
      await client.invalidateQueries({ queryKey: keys.knowledge });
    },
    onError: (error) => toastError(words.qualify.toLowerCase(), error),
  });
  const change = (side: 0 | 1, part: Partial<Range>) =>
    setRanges(([a, b]) => (side === 0 ? [{ ...a, ...part }, b] : [a, { ...b, ...part }]));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (ranges.every((one) => one.from === "" && one.to === "")) setProblem(words.datesNeeded);
    else if (ranges.some((one) => one.from !== "" && one.to !== "" && one.from > one.to))
      setProblem(words.order);
    else save.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <p className="muted">{words.bothHint}</p>
      {([0, 1] as const).map((side) => {
        const fact = side === 0 ? item.a : item.b;
        return (
          <fieldset key={fact.id} className="clash-dates">
            <legend>{text(fact)}</legend>
            <div className="two-columns">
              <Field label={t.knowledge.validFrom} optional>
                <Input
                  type="date"
                  value={ranges[side].from}
                  onChange={(event) => change(side, { from: event.target.value })}
                />
              </Field>
              <Field label={t.knowledge.validTo} optional>
                <Input
                  type="date"
                  value={ranges[side].to}
                  onChange={(event) => change(side, { to: event.target.value })}
                />
              </Field>
            </div>
          </fieldset>
        );
      })}
      {problem ? (
        <p className="field-error" role="alert">
          {problem}
        </p>
      ) : null}
      <div className="dialog-foot">
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button kind="primary" type="submit" disabled={save.isPending}>
          {words.qualify}
        </Button>
      </div>
    </form>
  );
}
