import { useQuery } from "@tanstack/react-query";
import { FileText, Plus } from "lucide-react";
import { useRef, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { api } from "../../api/client";
import { documents } from "../../api/documents";
import type { Doc, DocumentStatus } from "../../api/knowledge-types";
import type { Agent } from "../../api/types";
import { keys } from "../../app/query";
import { useRole } from "../../app/useRole";
import { t } from "../../lib/strings";
import { useSearchText } from "../../lib/useSearchText";
import { Button } from "../../ui/Button";
import { Badge, Tab, Time } from "../../ui/bits";
import { SearchField } from "../../ui/Field";
import { Progress } from "../../ui/Progress";
import { Select } from "../../ui/Select";
import { EmptyState, ErrorState, SkeletonRows } from "../../ui/states";
import { usePaged } from "../knowledge/usePaged";
import { useRemoved } from "./actions";
import { isAnalysing, isBusy } from "./facts";
import { ProposeDialog } from "./ProposeDialog";
import { proposer, StatusBadge, sizeText, typeText } from "./status";

const STATUSES = Object.keys(t.documents.statuses) as DocumentStatus[];
const ANY = "any";
const BUSY_MS = 3_000;

export function DocumentsTabs() {
  const pending = useQuery({
    queryKey: [...keys.documents, "list", "pending-count"],
    queryFn: ({ signal }) => documents.list({ status: "pending_approval", limit: 1 }, signal),
  });
  const n = pending.data?.total ?? 0;
  return (
    <nav className="tabs grow" aria-label={t.documents.views}>
      <Tab to="/documents">{t.documents.all}</Tab>
      <Tab to="/documents/review">
        {t.documents.review}
        {n > 0 ? <span className="tab-count">{n.toLocaleString()}</span> : null}
      </Tab>
    </nav>
  );
}

export function DocumentsList() {
  const [params, setParams] = useSearchParams();
  const { text, setText, q } = useSearchText();
  const removed = useRemoved();
  const [dropped, setDropped] = useState<File[]>([]);
  const named = params.get("status");
  const status = STATUSES.find((one) => one === named);
  const adding = params.get("add") === "1";
  const { query, items, total } = usePaged(
    [...keys.documents, "list", { q, status }],
    (window, signal) =>
      documents.list({ ...window, ...(q === "" ? {} : { q }), ...(status ? { status } : {}) }, signal),
    ({ state }) =>
      state.data?.pages.some((page) => page.items.some((doc) => isBusy(doc) || isAnalysing(doc)))
        ? BUSY_MS
        : false,
  );
  const agents = useQuery({ queryKey: keys.agents, queryFn: api.agents.list });
  const shown = items.filter((doc) => !removed.has(doc.id));
  const set = (name: string, value: string | null) =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      if (value === null) next.delete(name);
      else next.set(name, value);
      return next;
    });
  const drop = useDrop((files) => {
    setDropped(files);
    set("add", "1");
  });
  const close = () => {
    setDropped([]);
    set("add", null);
  };
  const filtered = q !== "" || status !== undefined;
  return (
    <div className="room" data-detail="true">
      <section
        className="pane drop-pane"
        aria-label={t.documents.title}
        data-over={drop.over && !adding}
        {...drop.handlers}
      >
        <title>{`${t.documents.title} – ${t.app.name}`}</title>
        <div className="pane-head">
          <h1 className="sr-only">{t.documents.title}</h1>
          <DocumentsTabs />
          <Button kind="primary" size="s" onClick={() => set("add", "1")}>
            <Plus size={16} aria-hidden /> {t.documents.propose}
          </Button>
        </div>
        <div className="toolbar">
          <div className="toolbar-search">
            <SearchField value={text} onChange={setText} label={t.documents.search} />
          </div>
          <div className="toolbar-select">
            <Select<string>
              aria-label={`${t.documents.status}: ${status ? t.documents.statuses[status] : t.documents.anyStatus}`}
              value={status ?? ANY}
              options={[
                { value: ANY, label: t.documents.anyStatus },
                ...STATUSES.map((value) => ({ value, label: t.documents.statuses[value] })),
              ]}
              onChange={(value) => set("status", value === ANY ? null : value)}
            />
          </div>
          <span className="grow" />
          {query.isSuccess && total > 0 ? (
            <span className="muted small">{t.common.ofTotal(shown.length, total)}</span>
          ) : null}
        </div>
        <div className="pane-body">
          {query.isPending ? (
            <SkeletonRows rows={10} />
          ) : query.isError && items.length === 0 ? (
            <ErrorState what={t.documents.list} error={query.error} onRetry={() => void query.refetch()} />
          ) : shown.length === 0 ? (
            filtered ? (
              <EmptyState title={t.documents.noMatch} hint={t.documents.noMatchHint}>
                <Button
                  onClick={() => {
                    setText("");
                    setParams({});
                  }}
                >
                  {t.documents.clearFilter}
                </Button>
              </EmptyState>
            ) : (
              <EmptyState
                icon={<FileText size={24} aria-hidden />}
                title={t.documents.empty}
                hint={t.documents.emptyHint}
              >
                <Button kind="primary" onClick={() => set("add", "1")}>
                  {t.documents.propose}
                </Button>
              </EmptyState>
            )
          ) : (
            <>
              <table className="grid-table doc-table">
                <thead>
                  <tr>
                    <th scope="col">{t.documents.columns.title}</th>
                    <th scope="col">{t.documents.columns.status}</th>
                    <th scope="col" className="hide-narrow">
                      {t.documents.columns.facts}
                    </th>
                    <th scope="col" className="hide-medium no-wrap">
                      {t.documents.columns.by}
                    </th>
                    <th scope="col" className="hide-narrow cell-end">
                      {t.documents.columns.at}
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {shown.map((doc) => (
                    <Row key={doc.id} doc={doc} agents={agents.data?.items ?? []} />
                  ))}
                </tbody>
              </table>
              {query.hasNextPage ? (
                <div className="list-more">
                  <Button
                    size="s"
                    disabled={query.isFetchingNextPage}
                    onClick={() => void query.fetchNextPage()}
                  >
                    {t.common.loadMore} ({t.common.ofTotal(items.length, total)})
                  </Button>
                </div>
              ) : null}
            </>
          )}
        </div>
        {drop.over && !adding ? (
          <div className="drop-veil" aria-hidden>
            {t.documents.dropHere}
          </div>
        ) : null}
      </section>
      <ProposeDialog open={adding} files={dropped} onClose={close} />
    </div>
  );
}

function Row({ doc, agents }: { doc: Doc; agents: Agent[] }) {
  const { me } = useRole();
  return (
    <tr>
      <td>
        <Link to={`/documents/${doc.id}`} className="cell-link doc-title">
          {doc.title}
        </Link>
        <div className="muted small doc-sub">
          {typeText(doc)}
          {" · "}
          {sizeText(doc.size_bytes)}
          <span className="only-narrow-inline">
            {" · "}
            <Time at={doc.created_at} />
          </span>
        </div>
      </td>
      <td className="doc-status">
        <StatusBadge status={doc.ingestion_status} />
        {isBusy(doc) && doc.progress ? (
          <Progress
            label={`${t.documents.progress}: ${doc.title}`}
            value={doc.progress.total > 0 ? doc.progress.done / doc.progress.total : null}
          />
        ) : null}
      </td>
      <td className="hide-narrow">
        <FactCounts doc={doc} />
      </td>
      <td className="muted hide-medium no-wrap">{proposer(doc, me, agents)}</td>
      <td className="muted hide-narrow cell-end">
        <Time at={doc.created_at} />
      </td>
    </tr>
  );
}

/** In a word what the document brings: facts it gave, or would give, and what it contradicts. */
export function FactCounts({ doc }: { doc: Doc }) {
  const { analysis, ingestion_result: result, ingestion_status: status } = doc;
  if (status === "completed" && result)
    return (
      <span className="muted">
        {t.documents.facts((result.triples_added ?? 0) + (result.triples_supported ?? 0))}
      </span>
    );
  if (analysis === null || analysis.status === "failed") return null;
  if (analysis.status !== "done")
    return status === "pending_approval" ? (
      <span className="row">
        <span className="spinner" role="img" aria-label={t.documents.analysing} />
      </span>
    ) : null;
  return (
    <span className="row doc-counts">
      <span className="muted">{t.documents.newFacts(analysis.new)}</span>
      {analysis.conflicts > 0 ? (
        <Badge tone="danger">{t.documents.conflicts(analysis.conflicts)}</Badge>
      ) : null}
    </span>
  );
}

function useDrop(onFiles: (files: File[]) => void) {
  const [over, setOver] = useState(false);
  // Enter and leave come for every child; the pane is left when they are even.
  const depth = useRef(0);
  const carriesFiles = (event: React.DragEvent) => event.dataTransfer.types.includes("Files");
  return {
    over,
    handlers: {
      onDragEnter: (event: React.DragEvent) => {
        if (!carriesFiles(event)) return;
        depth.current += 1;
        setOver(true);
      },
      onDragLeave: (event: React.DragEvent) => {
        if (!carriesFiles(event)) return;
        depth.current -= 1;
        if (depth.current <= 0) setOver(false);
      },
      onDragOver: (event: React.DragEvent) => {
        if (carriesFiles(event)) event.preventDefault();
      },
      onDrop: (event: React.DragEvent) => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        depth.current = 0;
        setOver(false);
        onFiles([...event.dataTransfer.files]);
      },
    },
  };
}
