import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { asApiError } from "../../api/error";
import { memory } from "../../api/knowledge";
import type { Memory } from "../../api/knowledge-types";
import type { Agent, Id } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Field, Input, Textarea } from "../../ui/Field";
import { Select } from "../../ui/Select";
import { RequestId, sentence } from "../../ui/states";
import { toast } from "../../ui/Toast";
import { parseValue, valueText } from "./entry";

type Ttl = keyof typeof t.memory.ttls | "keep";
const SECONDS: Record<Ttl, number | null> = {
  keep: null,
  never: null,
  hour: 3_600,
  day: 86_400,
  week: 604_800,
  month: 2_592_000,
};
const ALL = "all";

export function MemoryDialog({
  target,
  agents,
  agent,
  onClose,
}: {
  target: Memory | "new" | null;
  agents: Agent[];
  /** Whom the list shows; a new entry is for the same. */
  agent: Id | null;
  onClose: () => void;
}) {
  return (
    <Dialog open={target !== null} onClose={onClose} title={target === "new" ? t.memory.add : t.memory.edit}>
      {target === null ? null : (
        <Body entry={target === "new" ? null : target} agents={agents} agent={agent} onClose={onClose} />
      )}
    </Dialog>
  );
}

function Body({
  entry,
  agents,
  agent,
  onClose,
}: {
  entry: Memory | null;
  agents: Agent[];
  agent: Id | null;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const [who, setWho] = useState<string>(agent ?? ALL);
  const [key, setKey] = useState(entry?.key ?? "");
  const [value, setValue] = useState(valueText(entry?.value));
  const [note, setNote] = useState(entry?.note ?? "");
  const [ttl, setTtl] = useState<Ttl>(entry === null ? "never" : "keep");
  const [missing, setMissing] = useState(false);
  const save = useMutation({
    mutationFn: () => {
      const seconds = SECONDS[ttl];
      if (entry === null)
        return memory.create({
          ...(who === ALL ? {} : { agent_id: who }),
          ...(key.trim() === "" ? {} : { key: key.trim() }),
          ...(value.trim() === "" ? {} : { value: parseValue(value) }),
          ...(note.trim() === "" ? {} : { note: note.trim() }),
          ...(seconds === null ? {} : { ttl_seconds: seconds }),
        });
      return memory.update(entry.id, {
        key: key.trim() === "" ? null : key.trim(),
        value: parseValue(value),
        note: note.trim() === "" ? null : note.trim(),
        ...(ttl === "keep" ? {} : { ttl_seconds: seconds }),
      });
    },
    onSuccess: async () => {
      toast({ text: entry === null ? t.memory.added : t.memory.changed });
      onClose();
      await client.invalidateQueries({ queryKey: keys.memory });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const named = key.trim() !== "" && value.trim() !== "";
    if (!named && note.trim() === "") {
      setMissing(true);
      return;
    }
    setMissing(false);
    save.mutate();
  };
  const error = save.isError ? asApiError(save.error) : null;
  const ttls: Ttl[] = [...(entry === null ? [] : ["keep" as const]), "never", "hour", "day", "week", "month"];
  return (
    <form className="stack" onSubmit={submit}>
      {entry === null ? (
        <Field label={t.memory.for}>
          <Select<string>
            value={who}
            options={[
              { value: ALL, label: t.memory.everyAgent },
              ...agents.map((one) => ({ value: one.id, label: one.display_name ?? one.name })),
            ]}
            onChange={setWho}
          />
        </Field>
      ) : null}
      <Field label={t.memory.key} optional hint={t.memory.keyHint}>
        <Input
          value={key}
          maxLength={200}
          autoCapitalize="none"
          placeholder={t.memory.keyEx}
          onChange={(event) => setKey(event.target.value)}
        />
      </Field>
      <Field label={t.memory.value} optional hint={t.memory.valueHint}>
        <Textarea
          rows={2}
          value={value}
          placeholder={t.memory.valueEx}
          onChange={(event) => setValue(event.target.value)}
        />
      </Field>
      <Field label={t.memory.note} optional>
        <Textarea
          rows={3}
          value={note}
          placeholder={t.memory.noteEx}
          onChange={(event) => setNote(event.target.value)}
        />
      </Field>
      <Field label={t.memory.ttl}>
        <Select<Ttl>
          value={ttl}
          options={ttls.map((one) => ({
            value: one,
            label: one === "keep" ? t.memory.keepTtl : t.memory.ttls[one],
          }))}
          onChange={setTtl}
        />
      </Field>
      {missing ? (
        <p className="field-error" role="alert">
          {t.memory.needed}
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
      <div className="dialog-foot">
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button kind="primary" type="submit" disabled={save.isPending}>
          {t.common.save}
        </Button>
      </div>
    </form>
  );
}
