import { useEffect, useRef } from "react";
import { Link } from "react-router";
import type { AnswerPassage, Contradiction, Gap, Message } from "../../../api/types";
import { t } from "../../../lib/strings";
import { Badge } from "../../../ui/bits";
import { EmptyState, sentence } from "../../../ui/states";
import { citedIds, type FactLine, factLine, groundingOf, predicateText } from "../grounding";

export function FactsPanel({ message, focus }: { message: Message; focus: string | null }) {
  const grounding = groundingOf(message);
  const numbers = new Map([...citedIds(message)].map(([n, id]) => [id, n]));
  // What the answer cites comes first, by its number; the rest keeps its order of relevance.
  const place = (fact: FactLine) => numbers.get(fact.id) ?? Number.POSITIVE_INFINITY;
  const facts = (grounding?.triples ?? [])
    .map(factLine)
    .sort((a, b) => Math.min(1e6, place(a)) - Math.min(1e6, place(b)));
  const competence = grounding?.competence;
  const conflicts = grounding?.contradictions ?? [];
  const gaps = grounding?.gaps ?? [];
  const passages = message.metadata.passages ?? [];
  return (
    <>
      {competence ? (
        <p className="notice" data-tone={competence === "competent" ? undefined : "warn"}>
          {t.thread.competence[competence]}
        </p>
      ) : null}
      {conflicts.length > 0 ? <Conflicts items={conflicts} /> : null}
      {facts.length > 0 ? (
        <section className="side-section">
          <h3>{t.thread.facts(facts.length)}</h3>
          <p className="field-hint side-hint">{t.thread.factsHint}</p>
          <ul className="fact-list">
            {facts.map((fact) => (
              <Fact key={fact.id} fact={fact} n={numbers.get(fact.id) ?? null} focused={fact.id === focus} />
            ))}
          </ul>
        </section>
      ) : (
        <EmptyState title={t.thread.noFacts} hint={t.thread.noFactsHint} />
      )}
      {passages.length > 0 ? <Passages items={passages} focus={focus} /> : null}
      {gaps.length > 0 ? <Gaps items={gaps} /> : null}
    </>
  );
}

function Fact({ fact, n, focused }: { fact: FactLine; n: number | null; focused: boolean }) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (focused) row.current?.scrollIntoView({ block: "nearest" });
  }, [focused]);
  return (
    <li ref={row} className="fact" data-focused={focused}>
      {n === null ? null : (
        <span className="fact-n" title={t.thread.cited}>
          {n}
        </span>
      )}
      <div className="grow">
        <FactText fact={fact} />
        <FactMeta fact={fact} />
      </div>
    </li>
  );
}

export function FactText({ fact }: { fact: FactLine }) {
  const to = `/knowledge?panel=fact&fact=${encodeURIComponent(fact.id)}`;
  return (
    <div>
      <Link to={to} className="fact-text">
        <strong>{fact.subject}</strong>{" "}
        <span className="muted">
          {fact.negative ? `${t.knowledge.notSo} ` : ""}
          {predicateText(fact.predicate)}
        </span>{" "}
        <strong>{fact.object}</strong>
      </Link>
    </div>
  );
}

function FactMeta({ fact }: { fact: FactLine }) {
  return (
    <div className="row small muted fact-meta">
      {fact.kind === "claim" ? <Badge>{t.knowledge.kinds.claim}</Badge> : null}
      {fact.confidence !== null && fact.confidence < 1 ? (
        <span className="no-wrap">
          {t.knowledge.confidence} {Math.round(fact.confidence * 100)}%
        </span>
      ) : null}
      {fact.source ? <span className="truncate">{fact.source}</span> : null}
    </div>
  );
}

function Conflicts({ items }: { items: Contradiction[] }) {
  return (
    <section className="side-section">
      <h3>{t.thread.contradictionsTitle}</h3>
      <ul className="fact-list">
        {items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: conflicts have no id and keep their order
          <li key={index} className="notice conflict" data-tone="warn">
            <div className="grow">
              <FactText fact={factLine(item.a)} />
              <div className="small muted">{t.thread.versus}</div>
              <FactText fact={factLine(item.b)} />
              {item.reason ? <div className="small muted">{sentence(item.reason)}</div> : null}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Passages({ items, focus }: { items: AnswerPassage[]; focus: string | null }) {
  return (
    <section className="side-section">
      <h3>{t.verdicts.passages(items.length)}</h3>
      <p className="field-hint side-hint">{t.verdicts.passagesHint}</p>
      <ul className="fact-list">
        {items.map((item) => (
          <li key={item.chunk_id} className="fact" data-focused={item.chunk_id === focus}>
            <span className="fact-n">{item.n}</span>
            <div className="grow">
              <Link
                className="passage"
                to={`/documents/${item.document_id}?span=${item.span[0]}-${item.span[1]}`}
              >
                <span className="passage-text">{item.text}</span>
                <span className="small muted truncate">{item.title ?? t.verdicts.document}</span>
              </Link>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Gaps({ items }: { items: Gap[] }) {
  return (
    <section className="side-section">
      <h3>{t.thread.gapsTitle}</h3>
      <ul className="fact-list">
        {items.map((gap) => (
          <li key={gap.text} className="fact">
            <div className="grow">
              <div>{gap.text}</div>
              {gap.reason ? <div className="small muted">{sentence(gap.reason)}</div> : null}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
