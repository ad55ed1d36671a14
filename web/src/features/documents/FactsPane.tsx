import { useVirtualizer } from "@tanstack/react-virtual";
import { CircleCheck, CirclePlus, Equal, TriangleAlert } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { Link } from "react-router";
import type { Doc } from "../../api/knowledge-types";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Segments } from "../../ui/Segments";
import { Delayed, EmptyState, ErrorState, SkeletonRows, sentence } from "../../ui/states";
import { predicateText } from "../conversations/grounding";
import { objectText } from "../knowledge/FactRow";
import { type DocFact, isAnalysing, isBusy, isRecorded } from "./facts";
import type { Tone } from "./model/marks";

export type FactFilter = "all" | "new" | "known" | "conflict";
export const FILTERS: FactFilter[] = ["all", "new", "known", "conflict"];

const ICONS: Record<Tone, ReactNode> = {
  new: <CirclePlus size={14} role="img" aria-label={t.documents.filters.new} />,
  known: <Equal size={14} role="img" aria-label={t.documents.filters.known} />,
  conflict: <TriangleAlert size={14} role="img" aria-label={t.documents.filters.conflict} />,
  recorded: <CircleCheck size={14} role="img" aria-label={t.documents.statuses.completed} />,
};

/** What a document adds, or would add: each fact leads to its sentence and the other way round. */
export function FactsPane({
  doc,
  facts,
  total,
  loading,
  error,
  onRetry,
  filter,
  onFilter,
  current,
  linkTo,
}: {
  doc: Doc;
  facts: DocFact[];
  total: number;
  loading: boolean;
  error: unknown;
  onRetry: () => void;
  filter: FactFilter;
  onFilter: (filter: FactFilter) => void;
  /** Indexes in `facts` of the chosen ones. */
  current: ReadonlySet<number>;
  linkTo: (fact: DocFact) => string;
}) {
  const recorded = isRecorded(doc);
  const rows = facts
    .map((fact, index) => ({ fact, index }))
    .filter(({ fact }) => recorded || filter === "all" || fact.tone === filter);
  const counted = (one: FactFilter) =>
    one === "all"
      ? (doc.analysis?.triples ?? total)
      : one === "conflict"
        ? (doc.analysis?.conflicts ?? 0)
        : (doc.analysis?.[one] ?? 0);
  const title = recorded ? t.documents.recordedFrom : isBusy(doc) ? t.documents.adding : t.documents.wouldAdd;
  return (
    <aside className="doc-facts" aria-label={title}>
      <div className="doc-facts-head">
        <h2>
          {title} {recorded && total > 0 ? <span className="muted">{total.toLocaleString()}</span> : null}
        </h2>
        {!recorded && doc.analysis?.status === "done" && total > 0 ? (
          <Segments
            label={t.documents.filter}
            value={filter}
            options={FILTERS.map((value) => ({
              value,
              label: t.documents.filters[value],
              count: counted(value),
              tone: value === "conflict" && counted(value) > 0 ? ("danger" as const) : undefined,
            }))}
            onChange={onFilter}
          />
        ) : null}
      </div>
      {isAnalysing(doc) ? (
        <EmptyState icon={<span className="spinner" aria-hidden />} title={t.documents.analysing} />
      ) : doc.analysis?.status === "failed" && !recorded ? (
        <EmptyState
          icon={<TriangleAlert size={24} aria-hidden />}
          title={t.documents.analysisFailed}
          {...(doc.analysis.error ? { hint: sentence(doc.analysis.error.detail) } : {})}
        />
      ) : error && facts.length === 0 ? (
        <ErrorState what={t.documents.factsOf} error={error} onRetry={onRetry} />
      ) : loading && facts.length === 0 ? (
        <SkeletonRows rows={8} />
      ) : facts.length === 0 ? (
        <EmptyState title={t.documents.noFacts} hint={t.documents.noFactsHint} />
      ) : rows.length === 0 ? (
        <EmptyState title={t.documents.noneOfThese}>
          <Button size="s" onClick={() => onFilter("all")}>
            {t.documents.clearFilter}
          </Button>
        </EmptyState>
      ) : (
        <Rows
          rows={rows}
          current={current}
          linkTo={linkTo}
          withdrawn={doc.ingestion_status === "withdrawn"}
        />
      )}
      {loading && facts.length > 0 ? (
        <Delayed>
          <p className="doc-facts-foot muted small" role="status">
            <span className="spinner" aria-hidden /> {t.common.ofTotal(facts.length, total)}
          </p>
        </Delayed>
      ) : facts.length > 0 && facts.length < total ? (
        <p className="doc-facts-foot muted small">{t.documents.notShown(total - facts.length)}</p>
      ) : null}
    </aside>
  );
}

function Rows({
  rows,
  current,
  linkTo,
  withdrawn,
}: {
  rows: { fact: DocFact; index: number }[];
  current: ReadonlySet<number>;
  linkTo: (fact: DocFact) => string;
  withdrawn: boolean;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index]?.fact.conflicts.length ? 190 : 56),
    getItemKey: (index) => rows[index]?.index ?? index,
    overscan: 6,
  });
  const first = current.size > 0 ? rows.findIndex(({ index }) => current.has(index)) : -1;
  const chosen = [...current].join(",");
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new choice moves the list
  useEffect(() => {
    if (first >= 0) virtual.scrollToIndex(first, { align: "auto" });
  }, [chosen]);
  return (
    <div className="doc-facts-scroll" ref={scroller}>
      <ul style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          return (
            <li
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              aria-setsize={rows.length}
              aria-posinset={item.index + 1}
              className="doc-fact"
              data-tone={row.fact.tone}
              data-withdrawn={withdrawn}
              data-current={current.has(row.index)}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <FactItem fact={row.fact} current={current.has(row.index)} to={linkTo(row.fact)} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function FactItem({ fact, current, to }: { fact: DocFact; current: boolean; to: string }) {
  return (
    <>
      <Link
        to={to}
        replace
        preventScrollReset
        className="doc-fact-line"
        aria-current={current ? "true" : undefined}
        title={t.documents.showInText}
      >
        <span className="doc-fact-icon">{ICONS[fact.tone]}</span>
        <span className="grow">
          <Statement fact={fact} />
        </span>
      </Link>
      {fact.conflicts.map(({ triple, reason }) => (
        <div key={triple.id} className="doc-versus">
          <div className="versus-side" data-side="new">
            <span className="versus-label">{t.documents.here}</span>
            <Statement fact={fact} />
          </div>
          <div className="versus-side">
            <span className="versus-label">{t.documents.there}</span>
            <Link to={`/knowledge?panel=fact&fact=${triple.id}`} className="versus-link">
              <strong>{triple.subject.label}</strong>{" "}
              <span className="muted">
                {triple.polarity === "-" ? `${t.knowledge.notSo} ` : ""}
                {predicateText(triple.predicate)}
              </span>{" "}
              <strong>{objectText(triple.object)}</strong>
            </Link>
            {triple.source ? <span className="muted small truncate">{triple.source}</span> : null}
          </div>
          <p className="versus-reason muted small">{sentence(reason)}</p>
        </div>
      ))}
      {current && (fact.tripleId || fact.subjectId) ? (
        <div className="doc-fact-links small">
          {fact.tripleId ? (
            <Link className="link" to={`/knowledge?panel=fact&fact=${fact.tripleId}`}>
              {t.documents.openFact}
            </Link>
          ) : null}
          {fact.subjectId ? (
            <Link className="link" to={`/knowledge/entities/${fact.subjectId}`}>
              {fact.subject}
            </Link>
          ) : null}
          {fact.objectId ? (
            <Link className="link" to={`/knowledge/entities/${fact.objectId}`}>
              {fact.object}
            </Link>
          ) : null}
        </div>
      ) : null}
    </>
  );
}

function Statement({ fact }: { fact: DocFact }) {
  return (
    <>
      <strong>{fact.subject}</strong>{" "}
      <span className="muted">
        {fact.negative ? <span className="not-so">{t.knowledge.notSo} </span> : null}
        {predicateText(fact.predicate)}
      </span>{" "}
      <strong>{fact.object}</strong>
    </>
  );
}
