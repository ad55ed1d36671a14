import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client";
import { asApiError } from "../../api/error";
import { balls } from "../../api/knowledge";
import type { Ball, BallFilters, NewBall } from "../../api/knowledge-types";
import type { Id } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Button, IconButton } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Field, Input } from "../../ui/Field";
import { Select } from "../../ui/Select";
import { RequestId, sentence } from "../../ui/states";
import { toast } from "../../ui/Toast";
import { predicateText } from "../conversations/grounding";
import { NodePicker } from "./NodePicker";
import { confidenceOf } from "./value";

/** Makes a neighbourhood, or changes one. */
export function BallDialog({
  ball,
  open,
  onClose,
  onSaved,
}: {
  ball: Ball | null;
  open: boolean;
  onClose: () => void;
  onSaved: (ball: Ball) => void;
}) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={ball === null ? t.knowledge.ball.new : t.knowledge.ball.edit}
      size="l"
    >
      <Body ball={ball} onClose={onClose} onSaved={onSaved} />
    </Dialog>
  );
}

type Radius = "0" | "1" | "2" | "3";
type Kinds = keyof typeof t.knowledge.ball.kindOptions;
type Polarity = keyof typeof t.knowledge.ball.polarities;

function Body({
  ball,
  onClose,
  onSaved,
}: {
  ball: Ball | null;
  onClose: () => void;
  onSaved: (ball: Ball) => void;
}) {
  const client = useQueryClient();
  const words = t.knowledge.ball;
  const before = ball?.filters ?? {};
  const [name, setName] = useState(ball?.name ?? "");
  const [centers, setCenters] = useState(ball?.centers ?? []);
  const [radius, setRadius] = useState<Radius>(String(ball?.radius ?? 1) as Radius);
  const [predicates, setPredicates] = useState<ReadonlySet<string>>(new Set(before.predicates ?? []));
  const [kinds, setKinds] = useState<Kinds>(before.kinds?.length === 1 ? (before.kinds[0] ?? "all") : "all");
  const [confidence, setConfidence] = useState(
    before.min_confidence ? String(Math.round(before.min_confidence * 100)) : "",
  );
  const [polarity, setPolarity] = useState<Polarity>(before.polarity ?? "any");
  const [problem, setProblem] = useState<string | null>(null);
  const known = useQuery({ queryKey: keys.predicates, queryFn: api.knowledge.predicates });
  const save = useMutation({
    mutationFn: (body: NewBall) => (ball === null ? balls.create(body) : balls.update(ball.id, body)),
    onSuccess: (made) => {
      toast({ text: ball === null ? words.created : words.saved });
      void client.invalidateQueries({ queryKey: keys.balls });
      onClose();
      onSaved(made);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const least = confidence.trim() === "" ? null : confidenceOf(confidence);
    if (name.trim() === "") setProblem(words.nameMissing);
    else if (centers.length === 0) setProblem(words.centersMissing);
    else {
      setProblem(null);
      const filters: BallFilters = {
        ...(predicates.size > 0 ? { predicates: [...predicates] } : {}),
        ...(kinds === "all" ? {} : { kinds: [kinds] }),
        ...(least === null ? {} : { min_confidence: least }),
        ...(polarity === "any" ? {} : { polarity }),
      };
      save.mutate({
        name: name.trim(),
        centers: centers.map((one) => one.id),
        radius: Number(radius),
        filters,
      });
    }
  };
  const toggle = (predicate: string) =>
    setPredicates((all) => {
      const next = new Set(all);
      if (!next.delete(predicate)) next.add(predicate);
      return next;
    });
  const drop = (id: Id) => setCenters((all) => all.filter((one) => one.id !== id));
  const error = save.isError ? asApiError(save.error) : null;
  return (
    <form className="stack" onSubmit={submit}>
      <Field label={words.name}>
        <Input
          value={name}
          maxLength={200}
          placeholder={words.nameEx}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <div className="field">
        <span className="field-label">{words.centers}</span>
        {centers.length > 0 ? (
          <ul className="alias-list ball-centers">
            {centers.map((one) => (
              <li key={one.id} className="alias">
                {one.label}
                <IconButton
                  size="s"
                  label={`${t.common.remove}: ${one.label}`}
                  icon={<X size={12} />}
                  onClick={() => drop(one.id)}
                />
              </li>
            ))}
          </ul>
        ) : null}
        <NodePicker
          label={words.centersSearch}
          without={new Set(centers.map((one) => one.id))}
          onPick={(node) => setCenters((all) => [...all, { id: node.id, label: node.label }])}
        />
      </div>
      <div className="two-columns">
        <Field label={words.radius}>
          <Select<Radius>
            value={radius}
            options={(["0", "1", "2", "3"] as const).map((value) => ({
              value,
              label: words.radii[value] ?? value,
            }))}
            onChange={setRadius}
          />
        </Field>
        <Field label={words.kinds}>
          <Select<Kinds>
            value={kinds}
            options={(Object.keys(words.kindOptions) as Kinds[]).map((value) => ({
              value,
              label: words.kindOptions[value],
            }))}
            onChange={setKinds}
          />
        </Field>
        <Field label={words.minConfidence} optional>
          <Input
            inputMode="numeric"
            value={confidence}
            onChange={(event) => setConfidence(event.target.value)}
          />
        </Field>
        <Field label={words.polarity}>
          <Select<Polarity>
            value={polarity}
            options={(Object.keys(words.polarities) as Polarity[]).map((value) => ({
              value,
              label: words.polarities[value],
            }))}
            onChange={setPolarity}
          />
        </Field>
      </div>
      <fieldset className="choose">
        <legend className="field-label">
          {words.predicates} <span className="muted small">{words.predicatesHint}</span>
        </legend>
        <ul className="choose-list choose-columns">
          {(known.data?.items ?? []).map((one) => (
            <li key={one.id}>
              <label className="choose-row">
                <input type="checkbox" checked={predicates.has(one.name)} onChange={() => toggle(one.name)} />
                <span className="truncate">{predicateText(one.name)}</span>
              </label>
            </li>
          ))}
        </ul>
      </fieldset>
      {problem ? (
        <p className="field-error" role="alert">
          {problem}
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
          {ball === null ? t.common.create : t.common.save}
        </Button>
      </div>
    </form>
  );
}
