import { useQuery } from "@tanstack/react-query";
import { FileText, TriangleAlert } from "lucide-react";
import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";
import { documents } from "../../api/documents";
import type { Doc, Span } from "../../api/knowledge-types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Segments } from "../../ui/Segments";
import { EmptyState } from "../../ui/states";
import { DocumentText } from "./DocumentText";
import { type FactFilter, FactsPane, FILTERS } from "./FactsPane";
import { type DocFact, isRecorded, useDocFacts } from "./facts";
import { markAt, marksOf, parseSpan, spanKey } from "./model/marks";

type Part = "text" | "facts";

/** Text on the left, facts on the right, each leading to the other through `?span=` and `?triple=`. */
export function DocumentBody({ doc }: { doc: Doc }) {
  const [params, setParams] = useSearchParams();
  const { query, total } = useDocFacts(doc);
  const pages = query.data?.pages;
  const facts = useMemo(() => pages?.flatMap((page) => page.items) ?? [], [pages]);
  const marks = useMemo(() => marksOf(facts), [facts]);

  const triple = params.get("triple");
  const byTriple = triple === null ? -1 : facts.findIndex((fact) => fact.tripleId === triple);
  // A fact that has not arrived yet, or comes from a sentence of another document too, is asked for directly.
  const source = useQuery({
    queryKey: keys.sources(triple ?? ""),
    queryFn: ({ signal }) => documents.sources(triple ?? "", signal),
    enabled: triple !== null && byTriple === -1,
  });
  const spanText = params.get("span");
  const focus = useMemo((): Span | null => {
    const asked = parseSpan(spanText);
    if (asked) return asked;
    if (triple === null) return null;
    const found = facts[byTriple]?.span;
    return found ?? source.data?.items.find((one) => one.document_id === doc.id)?.span ?? null;
  }, [spanText, triple, byTriple, facts, source.data, doc.id]);
  const mark = focus === null ? null : markAt(marks, focus);
  const current = useMemo(
    () => new Set(spanText === null && byTriple !== -1 ? [byTriple] : (mark?.items ?? [])),
    [spanText, byTriple, mark],
  );

  const named = params.get("facts");
  const filter: FactFilter = FILTERS.find((one) => one === named) ?? "all";
  const part: Part = params.get("part") === "facts" ? "facts" : "text";
  const set = (name: string, value: string | null) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === null) next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  const rest = useMemo(() => {
    const next = new URLSearchParams(params);
    for (const name of ["span", "triple", "part"]) next.delete(name);
    return next.toString();
  }, [params]);
  const address = useCallback((what: string) => `?${rest === "" ? "" : `${rest}&`}${what}`, [rest]);
  // On a phone a sentence leads to the list of facts, and a fact to the text.
  const markLink = useCallback((key: string) => address(`span=${key}&part=facts`), [address]);
  const factLink = (fact: DocFact) =>
    address(fact.tripleId === null ? `span=${spanKey(fact.span)}` : `triple=${fact.tripleId}`);

  const conflicts = isRecorded(doc) ? 0 : (doc.analysis?.conflicts ?? 0);
  return (
    <div className="doc-body" data-part={part}>
      <div className="doc-parts">
        <Segments
          label={t.documents.parts}
          value={part}
          options={[
            { value: "text", label: t.documents.showText },
            { value: "facts", label: t.documents.showFacts },
          ]}
          onChange={(one) => set("part", one === "facts" ? "facts" : null)}
        />
      </div>
      <div className="doc-left">
        {conflicts > 0 && doc.ingestion_status === "pending_approval" ? (
          <div className="notice doc-banner" data-tone="danger">
            <TriangleAlert size={16} aria-hidden />
            <span className="grow">{t.documents.contradicts(conflicts)}</span>
            <Button
              size="s"
              onClick={() =>
                setParams(
                  (before) => {
                    const next = new URLSearchParams(before);
                    next.set("facts", "conflict");
                    next.set("part", "facts");
                    return next;
                  },
                  { replace: true },
                )
              }
            >
              {t.documents.showConflicts}
            </Button>
          </div>
        ) : null}
        {doc.char_count === null || doc.char_count === 0 ? (
          <EmptyState
            icon={<FileText size={24} aria-hidden />}
            title={t.documents.noText}
            hint={t.documents.noTextHint}
          />
        ) : (
          <DocumentText
            key={doc.id}
            id={doc.id}
            total={doc.char_count}
            marks={marks}
            focus={focus}
            current={mark?.key ?? null}
            linkTo={markLink}
          />
        )}
      </div>
      <FactsPane
        doc={doc}
        facts={facts}
        total={total}
        loading={query.isPending ? query.fetchStatus !== "idle" : query.hasNextPage}
        error={query.error}
        onRetry={() => void query.refetch()}
        filter={filter}
        onFilter={(next) => set("facts", next === "all" ? null : next)}
        current={current}
        linkTo={factLink}
      />
    </div>
  );
}
