import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useDeferredValue, useRef, useState } from "react";
import { api } from "../../api/client";
import { asApiError } from "../../api/error";
import type { NewTriple } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Field, Input } from "../../ui/Field";
import { Panel } from "../../ui/Panel";
import { Select } from "../../ui/Select";
import { RequestId, sentence } from "../../ui/states";
import { toast } from "../../ui/Toast";
import { confidenceOf, objectValue } from "./value";

const blank = {
  predicate: "",
  object: "",
  source: "",
  confidence: "100",
  kind: "fact" as "fact" | "claim",
  polarity: "+" as "+" | "-",
  valid_from: "",
  valid_to: "",
};

/** Adds one fact after another; what stays the same from one to the next is kept. */
export function AddFactsPanel({ about, onClose }: { about: string; onClose: () => void }) {
  const client = useQueryClient();
  const [subject, setSubject] = useState(about);
  const [form, setForm] = useState(blank);
  const [more, setMore] = useState(false);
  const [missing, setMissing] = useState(false);
  const first = useRef<HTMLInputElement>(null);
  const relation = useRef<HTMLInputElement>(null);
  const change = (part: Partial<typeof blank>) => setForm((before) => ({ ...before, ...part }));

  const names = useDeferredValue(subject.trim());
  const nodes = useQuery({
    queryKey: [...keys.nodes, "suggest", names],
    queryFn: ({ signal }) => api.knowledge.nodes({ q: names, limit: 8 }, signal),
    enabled: names.length > 1,
  });
  const predicates = useQuery({ queryKey: keys.predicates, queryFn: api.knowledge.predicates });

  const add = useMutation({
    mutationFn: (fact: NewTriple) => api.knowledge.add([fact]),
    onSuccess: async () => {
      setForm((before) => ({ ...blank, source: before.source, kind: before.kind }));
      relation.current?.focus();
      toast({ text: t.knowledge.added(1) });
      await client.invalidateQueries({ queryKey: keys.knowledge });
    },
  });

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const confidence = confidenceOf(form.confidence);
    if (
      subject.trim() === "" ||
      form.predicate.trim() === "" ||
      form.object.trim() === "" ||
      confidence === null
    ) {
      setMissing(true);
      (subject.trim() === "" ? first : relation).current?.focus();
      return;
    }
    setMissing(false);
    add.mutate({
      subject: subject.trim(),
      predicate: form.predicate.trim(),
      object: objectValue(form.object),
      ...(form.polarity === "-" ? { polarity: "-" as const } : {}),
      ...(confidence === 1 ? {} : { confidence }),
      ...(form.source.trim() === "" ? {} : { source: form.source.trim() }),
      ...(form.kind === "claim" ? { kind: "claim" as const } : {}),
      ...(form.valid_from === "" ? {} : { valid_from: form.valid_from }),
      ...(form.valid_to === "" ? {} : { valid_to: form.valid_to }),
    });
  };
  const error = add.isError ? asApiError(add.error) : null;

  return (
    <Panel title={t.knowledge.add} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label={t.knowledge.subject}>
          <Input
            ref={first}
            list="known-names"
            autoComplete="off"
            placeholder={t.knowledge.subjectEx}
            value={subject}
            onChange={(event) => setSubject(event.target.value)}
          />
        </Field>
        <datalist id="known-names">
          {(nodes.data?.items ?? []).map((node) => (
            <option key={node.id} value={node.label} />
          ))}
        </datalist>
        <Field label={t.knowledge.predicate}>
          <Input
            ref={relation}
            list="known-relations"
            autoComplete="off"
            autoCapitalize="none"
            placeholder={t.knowledge.predicateEx}
            value={form.predicate}
            onChange={(event) => change({ predicate: event.target.value })}
          />
        </Field>
        <datalist id="known-relations">
          {(predicates.data?.items ?? []).map((one) => (
            <option key={one.id} value={one.name} />
          ))}
        </datalist>
        <Field label={t.knowledge.object}>
          <Input
            autoComplete="off"
            placeholder={t.knowledge.objectEx}
            value={form.object}
            onChange={(event) => change({ object: event.target.value })}
          />
        </Field>
        <Field label={t.knowledge.source} optional>
          <Input
            placeholder={t.knowledge.sourceEx}
            value={form.source}
            onChange={(event) => change({ source: event.target.value })}
          />
        </Field>
        {more ? (
          <>
            <Field label={t.knowledge.polarity}>
              <Select
                value={form.polarity}
                options={[
                  { value: "+", label: t.knowledge.positive },
                  { value: "-", label: t.knowledge.negative },
                ]}
                onChange={(polarity) => change({ polarity })}
              />
            </Field>
            <Field label={t.knowledge.kind}>
              <Select
                value={form.kind}
                options={[
                  { value: "fact", label: t.knowledge.kinds.fact },
                  { value: "claim", label: t.knowledge.kinds.claim },
                ]}
                onChange={(kind) => change({ kind })}
              />
            </Field>
            <Field label={`${t.knowledge.confidence} (%)`}>
              <Input
                inputMode="numeric"
                value={form.confidence}
                onChange={(event) => change({ confidence: event.target.value })}
              />
            </Field>
            <div className="two-columns">
              <Field label={t.knowledge.validFrom} optional>
                <Input
                  type="date"
                  value={form.valid_from}
                  onChange={(e) => change({ valid_from: e.target.value })}
                />
              </Field>
              <Field label={t.knowledge.validTo} optional>
                <Input
                  type="date"
                  value={form.valid_to}
                  onChange={(e) => change({ valid_to: e.target.value })}
                />
              </Field>
            </div>
          </>
        ) : null}
        {missing ? (
          <p className="field-error" role="alert">
            {t.knowledge.required}
          </p>
        ) : null}
        {error ? (
          <div className="notice" data-tone="danger" role="alert">
            <div className="grow">
              {sentence(error.detail)} {error.hint ? sentence(error.hint) : null}
              {error.requestId ? <RequestId id={error.requestId} /> : null}
            </div>
          </div>
        ) : null}
        <div className="row">
          <Button kind="primary" type="submit" disabled={add.isPending}>
            {t.knowledge.addOne}
          </Button>
          <Button kind="ghost" onClick={() => setMore(!more)} aria-expanded={more}>
            {more ? t.knowledge.fewer : t.knowledge.more}
          </Button>
        </div>
      </form>
    </Panel>
  );
}
