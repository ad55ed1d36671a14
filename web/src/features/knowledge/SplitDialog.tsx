import { type FormEvent, useState } from "react";
import type { Id, KnowledgeNodeDetail } from "../../api/types";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Field, Input } from "../../ui/Field";
import { predicateText } from "../conversations/grounding";
import { objectText } from "./FactRow";
import { validity } from "./Timeline";

interface Split {
  label: string;
  triple_ids: Id[];
  alias_ids: Id[];
}

export function SplitDialog({
  node,
  open,
  onClose,
  onSplit,
}: {
  node: KnowledgeNodeDetail;
  open: boolean;
  onClose: () => void;
  onSplit: (split: Split) => void;
}) {
  return (
    <Dialog open={open} onClose={onClose} title={t.knowledge.entity.splitTitle(node.label)} size="l">
      <Body node={node} onClose={onClose} onSplit={onSplit} />
    </Dialog>
  );
}

function toggled(set: ReadonlySet<Id>, id: Id): ReadonlySet<Id> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}

function Body({
  node,
  onClose,
  onSplit,
}: {
  node: KnowledgeNodeDetail;
  onClose: () => void;
  onSplit: (split: Split) => void;
}) {
  const [label, setLabel] = useState("");
  const [facts, setFacts] = useState<ReadonlySet<Id>>(new Set());
  const [aliases, setAliases] = useState<ReadonlySet<Id>>(new Set());
  const [missing, setMissing] = useState(false);
  const words = t.knowledge.entity;
  const others = node.aliases.filter((one) => one.alias !== node.label);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (label.trim() === "" || facts.size === 0) {
      setMissing(true);
      return;
    }
    onSplit({ label: label.trim(), triple_ids: [...facts], alias_ids: [...aliases] });
    onClose();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <p className="muted">{words.splitHint}</p>
      <Field label={words.splitLabel}>
        <Input value={label} maxLength={300} onChange={(event) => setLabel(event.target.value)} />
      </Field>
      <fieldset className="choose">
        <legend className="row">
          <span className="field-label grow">{words.splitFacts}</span>
          <span className="muted small">{words.chosen(facts.size)}</span>
          <Button
            size="s"
            kind="ghost"
            onClick={() =>
              setFacts(
                facts.size === node.triples.length ? new Set() : new Set(node.triples.map((one) => one.id)),
              )
            }
          >
            {facts.size === node.triples.length ? words.chooseNone : words.chooseAll}
          </Button>
        </legend>
        <ul className="choose-list">
          {node.triples.map((fact) => {
            const out = fact.subject.id === node.id;
            return (
              <li key={fact.id}>
                <label className="choose-row">
                  <input
                    type="checkbox"
                    checked={facts.has(fact.id)}
                    onChange={() => setFacts(toggled(facts, fact.id))}
                  />
                  <span className="grow">
                    {out ? null : <strong>{fact.subject.label} </strong>}
                    <span className="muted">
                      {fact.polarity === "-" ? `${t.knowledge.notSo} ` : ""}
                      {predicateText(fact.predicate)}
                    </span>{" "}
                    <strong>{objectText(fact.object)}</strong>
                  </span>
                  <span className="muted small no-wrap">{validity(fact) ?? ""}</span>
                </label>
              </li>
            );
          })}
        </ul>
      </fieldset>
      {others.length > 0 ? (
        <fieldset className="choose">
          <legend className="field-label">{words.splitAliases}</legend>
          <ul className="choose-list">
            {others.map((one) => (
              <li key={one.id}>
                <label className="choose-row">
                  <input
                    type="checkbox"
                    checked={aliases.has(one.id)}
                    onChange={() => {
                      setAliases(toggled(aliases, one.id));
                      if (label === "" && !aliases.has(one.id)) setLabel(one.alias);
                    }}
                  />
                  <span>{one.alias}</span>
                </label>
              </li>
            ))}
          </ul>
        </fieldset>
      ) : null}
      {missing ? (
        <p className="field-error" role="alert">
          {words.splitNone}
        </p>
      ) : null}
      <div className="dialog-foot">
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button kind="primary" type="submit">
          {words.splitDo(facts.size)}
        </Button>
      </div>
    </form>
  );
}
