import { ArrowDown, ArrowLeft, Users } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { asApiError } from "../../api/error";
import type { Agent, Message } from "../../api/types";
import { useSession } from "../../app/useSession";
import { t } from "../../lib/strings";
import { usePanel } from "../../lib/usePanel";
import { Button, IconButton } from "../../ui/Button";
import { InlineName } from "../../ui/InlineName";
import { Bone, Delayed, EmptyState, ErrorState, sentence } from "../../ui/states";
import { toast, toastError } from "../../ui/Toast";
import { useConversationActions } from "./actions";
import { Composer, type ComposerHandle } from "./Composer";
import { ConversationMenu } from "./ConversationMenu";
import { chooseAgent, rememberAgent } from "./chooseAgent";
import { LiveRegion } from "./LiveRegion";
import { AnswerRow, LiveRow, type MessageActions, UserRow } from "./MessageRow";
import { atTail, isBusy } from "./model/thread";
import { ThreadPanel } from "./panels/ThreadPanel";
import { TurnProblem } from "./TurnProblem";
import { agentName, useAgents } from "./useAgents";
import { useFollow } from "./useFollow";
import { useThread } from "./useThread";

const PANEL_KEYS = ["m", "pos", "a", "f", "c"] as const;

export function ThreadPane({ id }: { id: string }) {
  const { store, state } = useThread(id);
  const { user } = useSession();
  const navigate = useNavigate();
  const panel = usePanel(PANEL_KEYS);
  const [params] = useSearchParams();
  const agents = useAgents();
  const act = useConversationActions();
  const composer = useRef<ComposerHandle>(null);
  const [editing, setEditing] = useState<string | null>(null);
  const [renaming, setRenaming] = useState(false);
  const [picked, setPicked] = useState<string | null>(null);
  const [marked, setMarked] = useState<string | null>(null);

  const { messages, turn, conversation, pending } = state;
  const busy = isBusy(state);
  const first = messages[0]?.position ?? 0;
  const follow = useFollow(`${first}:${messages.length}:${state.load}`);
  const agent = useMemo(
    () => chooseAgent(agents.active, agents.byId, picked, messages),
    [agents.active, agents.byId, picked, messages],
  );
  const nameOf = useCallback(
    (message: Pick<Message, "agent_id" | "metadata">) => {
      const known = message.agent_id === null ? undefined : agents.byId.get(message.agent_id);
      const kept = message.metadata?.agent;
      return known
        ? agentName(known)
        : kept
          ? agentName({ display_name: null, ...kept })
          : t.thread.assistant;
    },
    [agents.byId],
  );

  const at = params.get("at");
  const ready = state.load === "ready";
  const { release, stick } = follow;
  useEffect(() => {
    if (!ready || at === null) return;
    let live = true;
    void store.showMessage(at).then((found) => {
      if (!live || !found) return;
      release();
      setMarked(at);
      requestAnimationFrame(() => document.getElementById(`m-${at}`)?.scrollIntoView({ block: "center" }));
    });
    return () => {
      live = false;
    };
  }, [ready, at, store, release]);

  const refused = state.refused;
  useEffect(() => {
    if (refused?.content) composer.current?.restore(refused.content);
  }, [refused]);

  const regenerate = useCallback(
    (message: Message) => {
      stick();
      void store.regenerate(
        message.id,
        message.role === "assistant" ? message.agent_id : (agent?.id ?? null),
      );
    },
    [store, stick, agent],
  );
  const { open } = panel;
  const actions = useMemo<MessageActions>(
    () => ({
      startEdit: setEditing,
      edit: (message, content) => {
        setEditing(null);
        stick();
        void store.edit(message.id, content, agent?.id ?? null);
      },
      regenerate,
      select: (messageId) => {
        store.select(messageId).catch((error) => toastError(t.thread.versions.toLowerCase(), error));
      },
      rate: (message, rating) => {
        store
          .rate(message.id, message.rating === rating ? null : rating)
          .catch((error) => toastError(t.thread.good.toLowerCase(), error));
      },
      openPanel: open,
    }),
    [store, stick, regenerate, agent, open],
  );

  const send = (text: string, to: Agent) => {
    rememberAgent(to.id);
    setPicked(to.id);
    stick();
    void store.send(text, to.id);
  };

  const lastUser = messages.findLast((message) => message.role === "user");
  const tail = messages.at(-1);
  const unanswered = tail?.role === "user" && !busy && atTail(state) ? tail : null;
  const mine = conversation === null || user === null || conversation.user_id === user.id;
  const livePosition = (pending ? pending.position : (tail?.position ?? 0)) + 1;
  const showLive =
    turn !== null &&
    turn.phase !== "ended" &&
    tail?.position !== livePosition &&
    !answered(turn.text, tail, pending);

  return (
    <>
      <section
        className="pane thread"
        aria-label={conversation?.title ?? t.conversations.untitled}
        onKeyDown={(event) => {
          if (event.key === "Escape" && busy && !event.defaultPrevented) {
            event.preventDefault();
            void store.stop();
          }
        }}
      >
        <title>{`${conversation?.title ?? t.conversations.untitled} – ${t.app.name}`}</title>
        <div className="pane-head">
          <IconButton
            className="only-narrow"
            label={t.common.back}
            icon={<ArrowLeft size={18} />}
            onClick={() => navigate(`/conversations${keepSearch(params)}`)}
          />
          {conversation === null ? (
            <span className="grow" />
          ) : (
            <InlineName
              value={conversation.title ?? ""}
              fallback={t.conversations.untitled}
              label={t.conversations.renameLabel}
              action={t.conversations.rename}
              editing={renaming}
              onEditing={setRenaming}
              onSave={(title) => void act.rename(conversation, title)}
            />
          )}
          {conversation?.is_shared ? (
            <span className="badge" title={t.conversations.sharedHint}>
              <Users size={12} aria-hidden /> <span className="not-narrow">{t.conversations.shared}</span>
            </span>
          ) : null}
          {conversation === null ? null : (
            <ConversationMenu target={conversation} onRename={() => setRenaming(true)} />
          )}
        </div>

        <div
          className="thread-scroll"
          ref={follow.scroller}
          onScroll={() => {
            follow.onScroll();
            const box = follow.scroller.current;
            if (box === null || state.load !== "ready") return;
            if (box.scrollTop < 600) void store.loadOlder();
            if (!busy && box.scrollHeight - box.scrollTop - box.clientHeight < 600) void store.loadNewer();
          }}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the thread must scroll by keyboard
          tabIndex={0}
          role="log"
          aria-label={t.thread.label}
          aria-live="off"
        >
          <div className="thread-column" ref={follow.content}>
            {state.load === "loading" || state.load === "idle" ? <ThreadSkeleton /> : null}
            {state.load === "error" && messages.length === 0 ? (
              <ErrorState what={t.thread.loading} error={state.error} onRetry={() => void store.open()} />
            ) : null}
            {state.load === "ready" && messages.length > 0 ? (
              <div className="thread-edge">
                {first > 1 ? (
                  state.edge.older === "error" ? (
                    <Button size="s" onClick={() => void store.loadOlder()}>
                      {t.common.retry}
                    </Button>
                  ) : (
                    t.thread.loadOlder
                  )
                ) : (
                  t.thread.start
                )}
              </div>
            ) : null}
            {state.load === "ready" && messages.length === 0 && turn === null && pending === null ? (
              <EmptyState title={t.thread.empty} hint={t.thread.emptyHint} />
            ) : null}
            {messages.map((message) => {
              const common = {
                message,
                busy,
                actions,
                editing: editing === message.id,
                marked: marked === message.id,
                readOnly: !mine,
              };
              return message.role === "assistant" ? (
                <AnswerRow key={message.position} {...common} name={nameOf(message)} />
              ) : (
                <UserRow key={message.position} {...common} name={t.thread.you} />
              );
            })}
            {pending === null ? null : (
              <article className="msg user" data-row={pending.position} aria-label={t.thread.you}>
                <div className="bubble" data-pending="true">
                  {pending.content}
                </div>
                <div className="msg-bar" />
              </article>
            )}
            {showLive && turn ? (
              <LiveRow
                key={livePosition}
                turn={turn}
                position={livePosition}
                name={liveName(turn.agentId ?? agent?.id ?? null, agents.byId)}
              />
            ) : null}
            {unanswered ? (
              <TurnProblem
                error={turn?.error ?? null}
                title={turn?.error ? t.thread.failed : t.thread.unanswered}
                onRetry={() => regenerate(unanswered)}
              />
            ) : turn?.error ? (
              <TurnProblem error={turn.error} title={t.thread.failed} onRetry={() => void store.open()} />
            ) : null}
            {refused ? (
              <TurnProblem
                error={refused.error}
                title={t.thread.sendFailed}
                onDismiss={() => store.dismissRefusal()}
              />
            ) : null}
          </div>
        </div>

        <div className="composer-dock">
          {follow.away || !atTail(state) ? (
            <button
              type="button"
              className="jump"
              onClick={() => {
                void store
                  .toLatest()
                  .then(stick, (error) =>
                    toast({ text: sentence(asApiError(error).detail), tone: "danger" }),
                  );
              }}
            >
              <ArrowDown size={14} aria-hidden /> {t.thread.latest}
            </button>
          ) : null}
          <LiveRegion text={turn?.text ?? ""} busy={busy} />
          {mine ? (
            <Composer
              key={id}
              handle={composer}
              thread={id}
              agents={agents.active}
              agentsLoading={!agents.query.isSuccess}
              agent={agent}
              onAgent={(one) => setPicked(one.id)}
              busy={busy}
              stopping={turn?.stopping === true}
              onSend={send}
              onStop={() => void store.stop()}
              onEditLast={() => {
                if (lastUser) setEditing(lastUser.id);
              }}
            />
          ) : (
            <p className="composer-none muted">{t.thread.readOnly}</p>
          )}
        </div>
      </section>
      {panel.kind === null ? null : (
        <ThreadPanel conversationId={id} state={state} panel={panel} nameOf={nameOf} />
      )}
    </>
  );
}

// While the stored answer is already in the list, the live one must not be shown beside it.
function answered(text: string, tail: Message | undefined, pending: unknown): boolean {
  return pending === null && tail?.role === "assistant" && text === "";
}

function liveName(agentId: string | null, byId: Map<string, Agent>): string {
  const agent = agentId === null ? undefined : byId.get(agentId);
  return agent ? agentName(agent) : t.thread.assistant;
}

function keepSearch(params: URLSearchParams): string {
  const keep = new URLSearchParams();
  for (const name of ["q", "view"]) {
    const value = params.get(name);
    if (value !== null) keep.set(name, value);
  }
  const text = keep.toString();
  return text === "" ? "" : `?${text}`;
}

function ThreadSkeleton() {
  return (
    <Delayed>
      <div role="status" aria-label={t.app.loading} className="thread-skeleton">
        <div className="bone-user">
          <Bone width={220} height={36} />
        </div>
        <Bone width="92%" />
        <Bone width="86%" />
        <Bone width="60%" />
        <div className="bone-user">
          <Bone width={300} height={36} />
        </div>
        <Bone width="88%" />
        <Bone width="70%" />
      </div>
    </Delayed>
  );
}
