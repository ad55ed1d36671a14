import { useQueries } from "@tanstack/react-query";
import { Link } from "react-router";
import { documents } from "../../../api/documents";
import type { AnswerPassage, ClaimVerdict, Message, TripleSource } from "../../../api/types";
import { keys } from "../../../app/query";
import { t } from "../../../lib/strings";
import { Badge } from "../../../ui/bits";
import { EmptyState, sentence } from "../../../ui/states";
import { type FactLine, factLine, groundingOf, predicateText } from "../grounding";
import { belnapOf } from "../verdicts";
import { FactText } from "./FactsPanel";

/** One claim of an answer: how it was read, the verdict and why, the facts for and against with their passages. */
export function ClaimPanel({ message, index }: { message: Message; index: number }) {
  const claim = belnapOf(message)?.claims[index];
  if (claim === undefined) return <EmptyState title={t.verdicts.gone} />;
  const known = new Map((groundingOf(message)?.triples ?? []).map((triple) => [triple.id, factLine(triple)]));
  const passages = (numbers: number[] | undefined) =>
    (message.metadata.passages ?? []).filter((p) => numbers?.includes(p.n));
  const weights = new Map<string, number>();
  for (const edge of message.metadata.verification?.attributions ?? [])
    if (overlaps(edge.claim, claim.text)) weights.set(edge.triple_id, edge.weight);
  return (
    <>
      <p className="notice claim-verdict" data-kind={claim.verdict}>
        <span>
          <strong>{t.verdicts.title[claim.verdict]}</strong>{" "}
          {claim.reason ? sentence(claim.reason) : t.verdicts.meaning[claim.verdict]}
        </span>
      </p>
      <section className="side-section">
        <h3>{t.verdicts.asRead}</h3>
        <blockquote className="claim-text">{claim.text}</blockquote>
        <p className="claim-triple">
          <strong>{claim.subject}</strong>{" "}
          <span className="muted">
            {claim.polarity === "-" ? `${t.knowledge.notSo} ` : ""}
            {predicateText(claim.predicate)}
          </span>{" "}
          <strong>{claim.object ?? ""}</strong>
        </p>
        <div className="row small muted">
          {claim.modality !== "asserted" ? <Badge>{t.verdicts.modality[claim.modality]}</Badge> : null}
          <span>{t.verdicts.sureness(claim.margin)}</span>
        </div>
      </section>
      <Facts title={t.verdicts.against} ids={claim.against ?? []} known={known} weights={weights} />
      <Passages title={t.verdicts.againstInDocuments} items={passages(claim.passages_against)} />
      <Facts title={t.verdicts.supporting} ids={claim.triple_ids ?? []} known={known} weights={weights} />
      <Passages title={t.verdicts.supportingInDocuments} items={passages(claim.passages)} />
      {isOpen(claim) && (claim.against ?? []).length > 0 ? (
        <p className="field-hint">
          <Link className="link" to="/knowledge/contradictions">
            {t.verdicts.whichIsRight}
          </Link>
        </p>
      ) : null}
    </>
  );
}

function isOpen(claim: ClaimVerdict): boolean {
  return claim.verdict === "contradicted" || claim.verdict === "contested";
}

function overlaps(a: string, b: string): boolean {
  return a.includes(b) || b.includes(a);
}

function Facts({
  title,
  ids,
  known,
  weights,
}: {
  title: string;
  ids: string[];
  known: Map<string, FactLine>;
  weights: Map<string, number>;
}) {
  const sources = useQueries({
    queries: ids.map((id) => ({
      queryKey: [...keys.triples, id, "sources"],
      queryFn: () => documents.sources(id),
    })),
  });
  if (ids.length === 0) return null;
  return (
    <section className="side-section">
      <h3>{title}</h3>
      <ul className="fact-list">
        {ids.map((id, i) => {
          const fact = known.get(id);
          const weight = weights.get(id);
          return (
            <li key={id} className="fact">
              <div className="grow">
                {fact === undefined ? (
                  <Link className="link" to={`/knowledge?panel=fact&fact=${encodeURIComponent(id)}`}>
                    {t.verdicts.fact}
                  </Link>
                ) : (
                  <FactText fact={fact} />
                )}
                <div className="row small muted fact-meta">
                  {weight === undefined ? null : <span>{t.verdicts.weight(weight)}</span>}
                  {fact?.source ? <span className="truncate">{fact.source}</span> : null}
                </div>
                {(sources[i]?.data?.items ?? []).map((source) => (
                  <Passage key={`${source.document_id}-${source.span[0]}`} source={source} />
                ))}
              </div>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Passages({ title, items }: { title: string; items: AnswerPassage[] }) {
  if (items.length === 0) return null;
  return (
    <section className="side-section">
      <h3>{title}</h3>
      <ul className="fact-list">
        {items.map((item) => (
          <li key={item.chunk_id} className="fact">
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

export function Passage({ source }: { source: TripleSource }) {
  return (
    <Link
      className="passage"
      to={`/documents/${source.document_id}?span=${source.span[0]}-${source.span[1]}`}
    >
      <span className="passage-text">{source.sentence}</span>
      <span className="small muted truncate">{source.title ?? t.verdicts.document}</span>
    </Link>
  );
}
