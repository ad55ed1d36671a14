import { Check, ChevronDown, ChevronUp, FileText, TriangleAlert } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { documents } from "../../api/documents";
import type { Doc } from "../../api/knowledge-types";
import { keys } from "../../app/query";
import { useRole } from "../../app/useRole";
import { t } from "../../lib/strings";
import { usePageKeys } from "../../lib/usePageKeys";
import { Button, IconButton } from "../../ui/Button";
import { Time } from "../../ui/bits";
import { EmptyState, ErrorState, SkeletonRows } from "../../ui/states";
import { usePaged } from "../knowledge/usePaged";
import { useDocumentActions, useRemoved } from "./actions";
import { DocumentView } from "./DocumentPage";
import { DocumentsTabs, FactCounts } from "./DocumentsList";
import { isAnalysing } from "./facts";
import { useDocument } from "./useDocument";

const BUSY_MS = 3_000;

/** What waits for a decision, one after the other: j and k move, a approves, r rejects. */
export function ReviewPage() {
  const [params, setParams] = useSearchParams();
  const removed = useRemoved();
  const { query, items, total } = usePaged(
    [...keys.documents, "list", "queue"],
    (window, signal) => documents.list({ ...window, status: "pending_approval" }, signal),
    ({ state }) => (state.data?.pages.some((page) => page.items.some(isAnalysing)) ? BUSY_MS : false),
  );
  // What was decided here leaves the queue at once, and not only when the list has been read again.
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const queue = items.filter((doc) => !removed.has(doc.id) && !decided.has(doc.id));
  const asked = params.get("doc");
  const index = Math.max(
    0,
    queue.findIndex((doc) => doc.id === asked),
  );
  const doc = queue[index];
  const go = (to: Doc | undefined) => setParams(to ? { doc: to.id } : {}, { replace: true });
  const leave = (id: string) => {
    go(queue[index + 1] ?? queue[index - 1]);
    setDecided((before) => new Set(before).add(id));
  };
  const head = (
    <div className="pane-head">
      <h1 className="sr-only">{t.documents.queue}</h1>
      <DocumentsTabs />
    </div>
  );
  return (
    <div className="room review" data-detail="true">
      <title>{`${t.documents.review} – ${t.app.name}`}</title>
      <section className="list-pane" aria-label={t.documents.queue}>
        {head}
        <Queue queue={queue} current={doc?.id ?? null} />
        {query.hasNextPage ? (
          <div className="list-more">
            <Button size="s" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
              {t.common.loadMore} ({t.common.ofTotal(items.length, total)})
            </Button>
          </div>
        ) : null}
      </section>
      <section className="pane" aria-label={doc?.title ?? t.documents.review}>
        <div className="review-narrow">{head}</div>
        {query.isPending ? (
          <SkeletonRows rows={10} />
        ) : query.isError && items.length === 0 ? (
          <ErrorState what={t.documents.list} error={query.error} onRetry={() => void query.refetch()} />
        ) : doc === undefined ? (
          <EmptyState
            icon={<Check size={24} aria-hidden />}
            title={t.documents.queueEmpty}
            hint={t.documents.queueEmptyHint}
          >
            <Link className="button" to="/documents">
              {t.documents.all}
            </Link>
          </EmptyState>
        ) : (
          <Reviewed
            key={doc.id}
            doc={doc}
            index={index}
            count={Math.max(queue.length, total - decided.size)}
            onNext={() => go(queue[Math.min(queue.length - 1, index + 1)])}
            onPrevious={() => go(queue[Math.max(0, index - 1)])}
            onDecided={() => leave(doc.id)}
          />
        )}
      </section>
    </div>
  );
}

function Queue({ queue, current }: { queue: Doc[]; current: string | null }) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (current !== null)
      list.current?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: "nearest" });
  }, [current]);
  return (
    <ul className="list-scroll review-list" ref={list}>
      {queue.map((doc) => (
        <li key={doc.id}>
          <Link
            to={`?doc=${doc.id}`}
            replace
            className="list-item"
            aria-current={doc.id === current ? "page" : undefined}
          >
            <span className="list-item-title">
              {doc.analysis && doc.analysis.conflicts > 0 ? (
                <TriangleAlert size={14} className="danger-icon" aria-hidden />
              ) : (
                <FileText size={14} aria-hidden />
              )}
              <span className="truncate">{doc.title}</span>
              <Time at={doc.created_at} />
            </span>
            <span className="list-item-sub">
              <FactCounts doc={doc} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Reviewed({
  doc,
  index,
  count,
  onNext,
  onPrevious,
  onDecided,
}: {
  doc: Doc;
  index: number;
  count: number;
  onNext: () => void;
  onPrevious: () => void;
  onDecided: () => void;
}) {
  const query = useDocument(doc.id);
  const act = useDocumentActions();
  const { mayDecide } = useRole();
  const [dialog, setDialog] = useState<"reject" | "withdraw" | null>(null);
  const [busy, setBusy] = useState(false);
  const mayAct = mayDecide && query.data?.ingestion_status === "pending_approval" && !busy;
  const approve = async () => {
    setBusy(true);
    const done = await act.approve(doc.id);
    setBusy(false);
    if (done) onDecided();
  };
  usePageKeys({
    j: onNext,
    k: onPrevious,
    a: mayAct ? () => void approve() : undefined,
    r: mayAct ? () => setDialog("reject") : undefined,
  });
  return (
    <DocumentView
      id={doc.id}
      query={query}
      onRemoved={onDecided}
      onDecided={onDecided}
      dialog={dialog}
      onDialog={setDialog}
      lead={
        <span className="stepper">
          <IconButton
            size="s"
            label={t.documents.previous}
            keys="K"
            icon={<ChevronUp size={16} />}
            disabled={index === 0}
            onClick={onPrevious}
          />
          <span className="muted small no-wrap">{t.documents.position(index + 1, count)}</span>
          <IconButton
            size="s"
            label={t.documents.next}
            keys="J"
            icon={<ChevronDown size={16} />}
            disabled={index + 1 >= count}
            onClick={onNext}
          />
        </span>
      }
    />
  );
}
