import { useQuery } from "@tanstack/react-query";
import {
  ArrowLeft,
  Check,
  CircleAlert,
  Download,
  Ellipsis,
  ExternalLink,
  Pencil,
  RotateCw,
  Trash2,
  Undo2,
  X,
} from "lucide-react";
import { type ReactNode, useState } from "react";
import { Link, useNavigate } from "react-router";
import { api } from "../../api/client";
import type { Doc } from "../../api/knowledge-types";
import type { Id } from "../../api/types";
import { keys } from "../../app/query";
import { useRole } from "../../app/useRole";
import { t } from "../../lib/strings";
import { Button, IconButton } from "../../ui/Button";
import { Time } from "../../ui/bits";
import { InlineName } from "../../ui/InlineName";
import { Menu, MenuItem, MenuLine } from "../../ui/Menu";
import { Progress } from "../../ui/Progress";
import { Delayed, ErrorState, SkeletonRows, sentence } from "../../ui/states";
import { ReasonDialog, useAllowed, useDocumentActions } from "./actions";
import { DocumentBody } from "./DocumentBody";
import { isBusy } from "./facts";
import { pagesOf, proposer, STAGES, StatusBadge, sizeText, typeText } from "./status";
import { useDocument } from "./useDocument";

export function DocumentPage({ id }: { id: Id }) {
  const query = useDocument(id);
  const navigate = useNavigate();
  return (
    <div className="room" data-detail="true">
      <section className="pane" aria-label={query.data?.title ?? t.documents.title}>
        <title>{`${query.data?.title ?? t.documents.title} – ${t.app.name}`}</title>
        <DocumentView
          id={id}
          query={query}
          lead={
            <Link
              to="/documents"
              className="icon-button"
              aria-label={t.documents.back}
              title={t.documents.back}
            >
              <ArrowLeft size={16} aria-hidden />
            </Link>
          }
          onRemoved={() => navigate("/documents")}
        />
      </section>
    </div>
  );
}

/** Header, state and content of one document; the page and the review queue show it. */
export function DocumentView({
  id,
  query,
  lead,
  onRemoved,
  onDecided,
  dialog,
  onDialog,
}: {
  id: Id;
  query: ReturnType<typeof useDocument>;
  lead: ReactNode;
  onRemoved: () => void;
  /** Called when it was approved or rejected. */
  onDecided?: () => void;
  dialog?: "reject" | "withdraw" | null;
  onDialog?: (dialog: "reject" | "withdraw" | null) => void;
}) {
  const doc = query.data;
  if (doc === undefined)
    return (
      <>
        <div className="pane-head">
          {lead}
          <h1 className="sr-only">{t.documents.title}</h1>
        </div>
        {query.isError ? (
          <ErrorState what={t.documents.one} error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <SkeletonRows rows={10} />
        )}
      </>
    );
  return (
    <>
      <Head
        key={id}
        doc={doc}
        lead={lead}
        onRemoved={onRemoved}
        onDecided={onDecided}
        dialog={dialog}
        onDialog={onDialog}
      />
      <State doc={doc} />
      <DocumentBody doc={doc} />
    </>
  );
}

function Head({
  doc,
  lead,
  onRemoved,
  onDecided,
  dialog,
  onDialog,
}: {
  doc: Doc;
  lead: ReactNode;
  onRemoved: () => void;
  onDecided: (() => void) | undefined;
  dialog: "reject" | "withdraw" | null | undefined;
  onDialog: ((dialog: "reject" | "withdraw" | null) => void) | undefined;
}) {
  const act = useDocumentActions();
  const may = useAllowed(doc);
  const { me, mayDecide } = useRole();
  const agents = useQuery({ queryKey: keys.agents, queryFn: api.agents.list });
  const [naming, setNaming] = useState(false);
  const [own, setOwn] = useState<"reject" | "withdraw" | null>(null);
  const [acting, setActing] = useState(false);
  const asking = dialog === undefined ? own : dialog;
  const ask = onDialog ?? setOwn;
  const run = async (work: () => Promise<boolean>, decides: boolean) => {
    setActing(true);
    const done = await work();
    setActing(false);
    if (done && decides) onDecided?.();
  };
  return (
    <>
      <header className="pane-head doc-head">
        {lead}
        {may.rename ? (
          <InlineName
            value={doc.title}
            fallback={doc.filename ?? t.documents.title}
            label={t.documents.renameLabel}
            action={t.documents.rename}
            editing={naming}
            onEditing={setNaming}
            onSave={(title) => void act.rename(doc.id, title)}
          />
        ) : (
          <h1 className="grow truncate" title={doc.title}>
            {doc.title}
          </h1>
        )}
        <StatusBadge status={doc.ingestion_status} />
        {may.decide ? (
          <>
            <Button size="s" disabled={acting} onClick={() => ask("reject")}>
              <X size={14} aria-hidden /> {t.documents.reject}
            </Button>
            <Button
              size="s"
              kind="primary"
              disabled={acting}
              onClick={() => void run(() => act.approve(doc.id), true)}
            >
              <Check size={14} aria-hidden /> {t.documents.approve}
            </Button>
          </>
        ) : null}
        {may.retry ? (
          <Button
            size="s"
            kind="primary"
            disabled={acting}
            onClick={() => void run(() => act.retry(doc.id), false)}
          >
            <RotateCw size={14} aria-hidden /> {t.documents.retry}
          </Button>
        ) : null}
        <Menu trigger={<IconButton label={t.common.more} icon={<Ellipsis size={16} />} />}>
          <MenuItem icon={<Download size={16} />} onSelect={() => void act.download(doc)}>
            {t.documents.download}
          </MenuItem>
          {doc.source_url && /^https?:\/\//.test(doc.source_url) ? (
            <MenuItem
              icon={<ExternalLink size={16} />}
              onSelect={() => window.open(doc.source_url ?? "", "_blank", "noopener,noreferrer")}
            >
              {t.documents.openSource}
            </MenuItem>
          ) : null}
          {may.rename ? (
            <MenuItem icon={<Pencil size={16} />} onSelect={() => setTimeout(() => setNaming(true))}>
              {t.common.rename}
            </MenuItem>
          ) : null}
          {may.withdraw || may.remove ? <MenuLine /> : null}
          {may.withdraw ? (
            <MenuItem
              icon={<Undo2 size={16} />}
              tone="danger"
              onSelect={() => setTimeout(() => ask("withdraw"))}
            >
              {t.documents.withdraw}
            </MenuItem>
          ) : null}
          {may.remove ? (
            <MenuItem
              icon={<Trash2 size={16} />}
              tone="danger"
              onSelect={() => {
                act.remove(doc);
                onRemoved();
              }}
            >
              {t.documents.delete}
            </MenuItem>
          ) : null}
        </Menu>
      </header>
      <div className="doc-meta muted small">
        <span>{typeText(doc)}</span>
        <span>{sizeText(doc.size_bytes)}</span>
        {doc.char_count ? <span>{t.documents.pages(pagesOf(doc.char_count))}</span> : null}
        <span>
          {t.documents.columns.by} {proposer(doc, me, agents.data?.items ?? [])},{" "}
          <Time at={doc.created_at} style="exact" />
        </span>
        {doc.approved_at ? (
          <span>
            {t.documents.approvedAt} <Time at={doc.approved_at} style="exact" />
          </span>
        ) : null}
        {doc.attempts > 1 ? (
          <span>
            {t.documents.attempts}: {doc.attempts}
          </span>
        ) : null}
        {doc.ingestion_status === "pending_approval" && !mayDecide ? (
          <span>{t.documents.noRight}</span>
        ) : null}
      </div>
      <ReasonDialog
        kind={asking ?? "reject"}
        open={asking !== null}
        onClose={() => ask(null)}
        onSubmit={(reason) =>
          void run(
            () => (asking === "withdraw" ? act.withdraw(doc.id, reason) : act.reject(doc.id, reason)),
            asking === "reject",
          )
        }
      />
    </>
  );
}

/** What the document's state asks to be told: progress, a failure, a reason, what was recorded. */
function State({ doc }: { doc: Doc }) {
  const { ingestion_status: status, ingestion_result: result } = doc;
  if (isBusy(doc)) return <Reading doc={doc} />;
  if (status === "failed") {
    const code = result?.error?.code ?? "";
    return (
      <div className="notice doc-notice" data-tone="danger" role="alert">
        <CircleAlert size={16} aria-hidden />
        <div className="grow">
          <strong>{t.documents.failedTitle}</strong>
          <div>
            {result?.error ? sentence(result.error.detail) : null} {t.documents.failures[code] ?? null}
          </div>
          {code === "" ? null : <div className="mono muted small">{code}</div>}
        </div>
      </div>
    );
  }
  if (status === "rejected")
    return (
      <div className="notice doc-notice">
        <div className="grow">
          <strong>{t.documents.rejectedTitle}</strong>{" "}
          {doc.rejected_at ? (
            <span className="muted small">
              <Time at={doc.rejected_at} style="exact" />
            </span>
          ) : null}
          {doc.rejection_reason ? <div>{doc.rejection_reason}</div> : null}
        </div>
      </div>
    );
  if (status === "withdrawn")
    return (
      <div className="notice doc-notice">
        <div className="grow">
          <strong>{t.documents.withdrawnTitle}</strong>{" "}
          {doc.withdrawn_at ? (
            <span className="muted small">
              <Time at={doc.withdrawn_at} style="exact" />
            </span>
          ) : null}
          {doc.withdrawal_reason ? <div>{doc.withdrawal_reason}</div> : null}
          <div className="muted">{t.documents.withdrawnHint}</div>
        </div>
      </div>
    );
  if (status === "completed" && result) {
    const warnings = result.warnings ?? [];
    return (
      <div className="doc-meta doc-result small">
        <span>
          {t.documents.resultText(
            result.triples_added ?? 0,
            result.triples_supported ?? 0,
            result.chunks ?? 0,
          )}
        </span>
        {result.merges_queued ? (
          <Link className="link" to="/knowledge/merges">
            {t.documents.mergesQueued(result.merges_queued)}
          </Link>
        ) : null}
        {warnings.length > 0 ? (
          <details className="doc-warnings">
            <summary>{t.documents.warnings(warnings.length)}</summary>
            <ul>
              {warnings.map((one) => (
                <li key={one}>{sentence(one)}</li>
              ))}
            </ul>
          </details>
        ) : null}
      </div>
    );
  }
  return null;
}

function Reading({ doc }: { doc: Doc }) {
  const { progress } = doc;
  const step = progress ? STAGES.indexOf(progress.stage) + 1 : 0;
  const name = progress ? (t.documents.stages[progress.stage] ?? progress.stage) : t.documents.queued;
  return (
    <div className="doc-progress" role="status">
      <div className="row small">
        <strong>{name}</strong>
        {progress ? (
          <>
            <span className="muted">{t.documents.stageOf(step, STAGES.length)}</span>
            <span className="grow" />
            {progress.total > 0 ? (
              <span className="muted" aria-hidden>
                {t.documents.count(progress.done, progress.total)}
              </span>
            ) : null}
          </>
        ) : null}
      </div>
      <Delayed>
        <Progress
          label={t.documents.progress}
          value={progress && progress.total > 0 ? progress.done / progress.total : null}
        />
      </Delayed>
    </div>
  );
}
