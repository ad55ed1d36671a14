import {
  Check,
  ChevronLeft,
  ChevronRight,
  Copy,
  Info,
  Pencil,
  RefreshCw,
  ThumbsDown,
  ThumbsUp,
} from "lucide-react";
import { memo, useMemo, useState } from "react";
import type { Message, Verdict } from "../../api/types";
import { copyText } from "../../lib/clipboard";
import { t } from "../../lib/strings";
import { IconButton } from "../../ui/Button";
import { Avatar, Time } from "../../ui/bits";
import { Markdown } from "../../ui/markdown/Markdown";
import type { Mark } from "../../ui/markdown/marks";
import { AnswerCards } from "./AnswerCards";
import { EditBox } from "./EditBox";
import { citedIds, counts, groundingOf } from "./grounding";
import type { LiveTurn } from "./model/turn";
import { useMarksHidden, VerdictLegend } from "./VerdictLegend";
import { belnapOf, marksOf, verdictLine } from "./verdicts";

export interface MessageActions {
  edit: (message: Message, content: string) => void;
  startEdit: (id: string | null) => void;
  regenerate: (message: Message) => void;
  select: (id: string) => void;
  rate: (message: Message, rating: 1 | -1) => void;
  openPanel: (panel: string, values: Record<string, string>) => void;
}

interface RowProps {
  message: Message;
  busy: boolean;
  editing: boolean;
  marked: boolean;
  /** A colleague's thread: it can be read, not changed. */
  readOnly: boolean;
  actions: MessageActions;
  name: string;
}

export const UserRow = memo(function UserRow({
  message,
  busy,
  editing,
  marked,
  readOnly,
  actions,
  name,
}: RowProps) {
  return (
    <article
      className="msg user"
      data-row={message.position}
      data-marked={marked}
      id={`m-${message.id}`}
      aria-label={name}
    >
      {editing ? (
        <EditBox
          initial={message.content}
          onCancel={() => actions.startEdit(null)}
          onSave={(text) => actions.edit(message, text)}
        />
      ) : (
        <div className="bubble">{message.content}</div>
      )}
      <div className="msg-bar">
        <Branches message={message} busy={busy || readOnly} onSelect={actions.select} />
        <div className="msg-tools">
          <span className="msg-time">
            <Time at={message.created_at} />
          </span>
          <CopyButton text={message.content} />
          {readOnly ? null : (
            <IconButton
              size="s"
              label={t.thread.edit}
              icon={<Pencil size={14} />}
              disabled={busy}
              onClick={() => actions.startEdit(message.id)}
            />
          )}
        </div>
      </div>
    </article>
  );
});

export const AnswerRow = memo(function AnswerRow({
  message,
  busy,
  marked,
  readOnly,
  actions,
  name,
}: RowProps) {
  const cited = citedIds(message);
  const known = new Set(cited.keys());
  const belnap = belnapOf(message);
  const [only, setOnly] = useState<Verdict | null>(null);
  const hidden = useMarksHidden();
  const marks = useMemo(
    () => (belnap === null || hidden ? [] : marksOf(message.content, belnap.claims, only)),
    [belnap, hidden, message.content, only],
  );
  const open = (panel: string, values: Record<string, string> = {}) =>
    actions.openPanel(panel, { m: message.id, pos: String(message.position), ...values });
  const stopped = message.finish_reason === "cancelled";
  return (
    <article
      className="msg answer"
      data-row={message.position}
      data-marked={marked}
      id={`m-${message.id}`}
      aria-label={name}
    >
      <AnswerHead name={name} version={message.agent_version} at={message.created_at} />
      <div className="msg-body">
        <AnswerCards
          tools={message.metadata.tool_calls ?? []}
          artifacts={message.metadata.artifacts ?? []}
          onOpen={(artifact) => open("chart", { a: artifact.id })}
        />
        <StableMarkdown
          text={message.content}
          known={known}
          onCite={(n) => open("facts", { f: cited.get(n) ?? "" })}
          marks={marks}
          markLabel={(mark) => {
            const claim = belnap?.claims[Number(mark.id)];
            return claim === undefined ? "" : verdictLine(claim);
          }}
          onMark={(id) => open("claim", { c: id })}
        />
        {stopped ? <p className="msg-note">{t.thread.stopped}</p> : null}
        {message.finish_reason === "length" ? <p className="msg-note">{t.thread.cutLength}</p> : null}
      </div>
      <div className="msg-bar">
        <Branches message={message} busy={busy || readOnly} onSelect={actions.select} />
        <GroundingChips counts={counts(groundingOf(message))} onOpen={() => open("facts")} />
        {belnap === null ? null : <VerdictLegend belnap={belnap} only={only} onOnly={setOnly} />}
        <div className="msg-tools">
          <CopyButton text={message.content} />
          {readOnly ? null : (
            <>
              <IconButton
                size="s"
                label={t.thread.regenerate}
                icon={<RefreshCw size={14} />}
                disabled={busy}
                onClick={() => actions.regenerate(message)}
              />
              <IconButton
                size="s"
                label={t.thread.good}
                icon={<ThumbsUp size={14} />}
                aria-pressed={message.rating === 1}
                onClick={() => actions.rate(message, 1)}
              />
              <IconButton
                size="s"
                label={t.thread.bad}
                icon={<ThumbsDown size={14} />}
                aria-pressed={message.rating === -1}
                onClick={() => actions.rate(message, -1)}
              />
            </>
          )}
          <IconButton
            size="s"
            label={t.thread.details}
            icon={<Info size={14} />}
            onClick={() => open("details")}
          />
        </div>
      </div>
    </article>
  );
});

// The set of known numbers is new at each render; the text's blocks are parsed again only when it differs.
const StableMarkdown = memo(
  function StableMarkdown({
    text,
    known,
    onCite,
    marks,
    markLabel,
    onMark,
  }: {
    text: string;
    known: ReadonlySet<number>;
    onCite: (n: number) => void;
    marks: readonly Mark[];
    markLabel: (mark: Mark) => string;
    onMark: (id: string) => void;
  }) {
    return (
      <Markdown
        text={text}
        citations={known}
        onCite={onCite}
        marks={marks}
        markLabel={markLabel}
        onMark={onMark}
      />
    );
  },
  (before, now) =>
    before.text === now.text &&
    before.marks === now.marks &&
    before.known.size === now.known.size &&
    [...now.known].every((n) => before.known.has(n)),
);

export function AnswerHead({
  name,
  version,
  at,
}: {
  name: string;
  version: number | null;
  at: string | null;
}) {
  return (
    <header className="msg-head">
      <Avatar name={name} size={24} />
      <strong>{name}</strong>
      {version !== null && version > 1 ? (
        <span className="muted small">{t.agents.version(version)}</span>
      ) : null}
      {at === null ? null : (
        <span className="msg-time">
          <Time at={at} />
        </span>
      )}
    </header>
  );
}

export function GroundingChips({
  counts: { facts, gaps, conflicts },
  onOpen,
}: {
  counts: { facts: number; gaps: number; conflicts: number };
  onOpen?: () => void;
}) {
  if (facts + gaps + conflicts === 0) return null;
  const parts = [
    facts > 0 ? <span key="f">{t.thread.facts(facts)}</span> : null,
    conflicts > 0 ? (
      <span key="c" className="chip-warn">
        {t.thread.contradictions(conflicts)}
      </span>
    ) : null,
    gaps > 0 ? <span key="g">{t.thread.gaps(gaps)}</span> : null,
  ];
  return (
    <button type="button" className="chip" onClick={onOpen} disabled={onOpen === undefined}>
      {parts}
    </button>
  );
}

function Branches({
  message,
  busy,
  onSelect,
}: {
  message: Message;
  busy: boolean;
  onSelect: (id: string) => void;
}) {
  const { siblings } = message;
  if (!siblings || siblings.length < 2) return null;
  const at = siblings.indexOf(message.id);
  const go = (step: number) => {
    const id = siblings[at + step];
    if (id !== undefined) onSelect(id);
  };
  return (
    <fieldset className="branches" aria-label={t.thread.versions}>
      <IconButton
        size="s"
        label={t.thread.prevVersion}
        icon={<ChevronLeft size={14} />}
        disabled={busy || at <= 0}
        onClick={() => go(-1)}
      />
      <span>{t.thread.version(at + 1, siblings.length)}</span>
      <IconButton
        size="s"
        label={t.thread.nextVersion}
        icon={<ChevronRight size={14} />}
        disabled={busy || at >= siblings.length - 1}
        onClick={() => go(1)}
      />
    </fieldset>
  );
}

function CopyButton({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <IconButton
      size="s"
      label={copied ? t.common.copied : t.thread.copyMessage}
      icon={copied ? <Check size={14} /> : <Copy size={14} />}
      onClick={() => {
        void copyText(text).then((done) => {
          if (!done) return;
          setCopied(true);
          setTimeout(() => setCopied(false), 1600);
        });
      }}
    />
  );
}

export function LiveRow({ turn, name, position }: { turn: LiveTurn; name: string; position: number }) {
  const facts = counts(turn.grounding);
  const known = new Set(Array.from({ length: facts.facts }, (_, index) => index + 1));
  const status =
    turn.phase === "reconnecting"
      ? t.thread.reconnecting
      : turn.text !== ""
        ? null
        : turn.grounding === null
          ? t.thread.readingFacts
          : t.thread.thinking;
  return (
    <article className="msg answer live" data-row={position} aria-label={name} aria-busy>
      <AnswerHead name={name} version={null} at={null} />
      <div className="msg-body">
        <AnswerCards tools={turn.tools} artifacts={[]} />
        {turn.text === "" ? null : <LiveMarkdown text={turn.text} known={known} />}
        {status === null ? null : (
          <p className="msg-status">
            <span className="spinner" aria-hidden /> {status}
          </p>
        )}
      </div>
      <div className="msg-bar">
        <GroundingChips counts={facts} />
      </div>
    </article>
  );
}

const LiveMarkdown = memo(
  function LiveMarkdown({ text, known }: { text: string; known: ReadonlySet<number> }) {
    return <Markdown text={text} streaming citations={known} />;
  },
  (before, now) => before.text === now.text && before.known.size === now.known.size,
);
