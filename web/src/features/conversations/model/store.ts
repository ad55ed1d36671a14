import { api } from "../../../api/client";
import { ApiError, asApiError } from "../../../api/error";
import { request } from "../../../api/http";
import { readEvents } from "../../../api/sse";
import type { Id } from "../../../api/types";
import { t } from "../../../lib/strings";
import {
  atTail,
  emptyThread,
  isBusy,
  PAGE,
  type ThreadAction,
  type ThreadState,
  threadReducer,
} from "./thread";
import type { TurnError } from "./turn";

/** Silence longer than this means a dead connection: the server sends a heartbeat every 15 s. */
const SILENCE_MS = 45_000;
const BACKOFF_MS = [200, 400, 800, 1600, 3000, 5000, 5000, 5000, 5000, 5000, 5000, 5000];

let changed: () => void = () => undefined;

/** Sets who is told when something that other screens show (title, order of the list) may have changed. */
export function onThreadChange(listener: () => void) {
  changed = listener;
}

/** One thread: its window of messages and the turn that is being written, with the requests behind them. */
export class ThreadStore {
  private state: ThreadState = emptyThread;
  private listeners = new Set<() => void>();
  private scheduled = false;
  private stream: AbortController | null = null;
  /** The end of the branch that was last shown through each message. */
  private tails = new Map<Id, Id>();

  constructor(readonly id: Id) {}

  getState = (): ThreadState => this.state;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  dispatch(action: ThreadAction) {
    const next = threadReducer(this.state, action);
    if (next === this.state) return;
    this.state = next;
    this.schedule();
  }

  // Many tokens arrive between two frames; the screen is told once per frame.
  private schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    const flush = () => {
      if (!this.scheduled) return;
      this.scheduled = false;
      for (const listener of this.listeners) listener();
    };
    if (typeof requestAnimationFrame === "function") requestAnimationFrame(flush);
    setTimeout(flush, 60);
  }

  /** Loads the newest page and joins a turn that is still being written. */
  async open(): Promise<void> {
    if (isBusy(this.state)) return;
    this.dispatch({ type: "load-start" });
    try {
      const [conversation, page] = await Promise.all([
        api.conversations.get(this.id),
        api.conversations.messages(this.id, { limit: PAGE, order: "desc" }),
      ]);
      if (isBusy(this.state)) return;
      this.dispatch({ type: "loaded", conversation, page });
      if (conversation.running_turn_id) await this.attach(conversation.running_turn_id);
    } catch (error) {
      this.dispatch({ type: "load-failed", error: asApiError(error) });
    }
  }

  async loadOlder(): Promise<void> {
    const first = this.state.messages[0]?.position ?? 1;
    if (first <= 1 || this.state.edge.older === "loading") return;
    const limit = Math.min(PAGE, first - 1);
    await this.loadEdge("older", { order: "asc", offset: first - 1 - limit, limit });
  }

  async loadNewer(): Promise<void> {
    const last = this.state.messages.at(-1)?.position ?? 0;
    if (last >= this.state.total || this.state.edge.newer === "loading") return;
    await this.loadEdge("newer", { order: "asc", offset: last, limit: PAGE });
  }

  private async loadEdge(
    side: "older" | "newer",
    params: { order: "asc"; offset: number; limit: number },
  ): Promise<void> {
    this.dispatch({ type: "edge", side, state: "loading" });
    try {
      this.dispatch({ type: side, page: await api.conversations.messages(this.id, params) });
    } catch {
      this.dispatch({ type: "edge", side, state: "error" });
    }
  }

  /** Brings the newest page into the window, whatever was shown before. */
  async toLatest(): Promise<void> {
    if (atTail(this.state) || isBusy(this.state)) return;
    const conversation = this.state.conversation;
    if (conversation === null) return;
    const page = await api.conversations.messages(this.id, { limit: PAGE, order: "desc" });
    this.dispatch({ type: "loaded", conversation, page });
  }

  /** Shows the window around a message. Along a branch ids grow with position, so halving finds it. */
  async showMessage(messageId: Id): Promise<boolean> {
    if (this.state.messages.some((m) => m.id === messageId)) return true;
    const conversation = this.state.conversation;
    if (conversation === null || isBusy(this.state)) return false;
    let low = 0;
    let high = this.state.total;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const offset = Math.max(0, Math.min(middle - PAGE / 2, this.state.total - PAGE));
      const page = await api.conversations.messages(this.id, { order: "asc", offset, limit: PAGE });
      const first = page.items[0];
      const last = page.items.at(-1);
      if (!first || !last) return false;
      if (page.items.some((m) => m.id === messageId)) {
        this.dispatch({ type: "loaded", conversation, page });
        return true;
      }
      if (messageId < first.id) high = Math.min(middle, first.position - 1);
      else if (messageId > last.id) low = Math.max(middle + 1, last.position);
      else return false;
    }
    return false;
  }

  async send(content: string, agentId: Id): Promise<void> {
    if (isBusy(this.state)) return;
    await this.toLatest().catch(() => undefined);
    await this.run(
      "messages/stream",
      { agent_id: agentId, content },
      {
        agentId,
        content,
        from: this.state.total + 1,
      },
    );
  }

  async edit(messageId: Id, content: string, agentId: Id | null): Promise<void> {
    const message = this.state.messages.find((m) => m.id === messageId);
    if (!message || isBusy(this.state)) return;
    const body = agentId === null ? { content } : { content, agent_id: agentId };
    await this.run(`messages/${messageId}/edit/stream`, body, { agentId, content, from: message.position });
  }

  /** Writes another answer in place of an answer, or the answer that a user message never got. */
  async regenerate(messageId: Id, agentId: Id | null): Promise<void> {
    const message = this.state.messages.find((m) => m.id === messageId);
    if (!message || isBusy(this.state)) return;
    const from = message.role === "assistant" ? message.position : message.position + 1;
    const body = agentId === null ? {} : { agent_id: agentId };
    await this.run(`messages/${messageId}/regenerate/stream`, body, { agentId, content: null, from });
  }

  async select(messageId: Id): Promise<void> {
    if (isBusy(this.state)) return;
    this.rememberTail();
    // An edited question may have several answers: come back to the one that was shown last.
    const target = this.tails.get(messageId) ?? messageId;
    const conversation = await api.conversations.select(this.id, target);
    const page = await api.conversations.messages(this.id, { limit: PAGE, order: "desc" });
    this.dispatch({ type: "turn-clear" });
    this.dispatch({ type: "loaded", conversation, page });
    await this.showMessage(messageId);
  }

  async rate(messageId: Id, rating: 1 | -1 | null): Promise<void> {
    const before = this.state.messages.find((m) => m.id === messageId);
    if (!before) return;
    this.dispatch({ type: "message", message: { ...before, rating } });
    try {
      this.dispatch({ type: "message", message: await api.conversations.rate(this.id, messageId, rating) });
    } catch (error) {
      this.dispatch({ type: "message", message: before });
      throw error;
    }
  }

  /** Asks the server to stop the turn; what was said so far arrives as the stored message. */
  async stop(): Promise<void> {
    const turn = this.state.turn;
    if (turn === null || turn.phase === "ended" || turn.stopping) return;
    this.dispatch({ type: "turn-stopping" });
    if (turn.turnId !== null) await api.conversations.cancel(this.id, turn.turnId).catch(() => undefined);
  }

  dismissRefusal() {
    if (this.state.refused !== null) this.dispatch({ type: "turn-clear" });
  }

  /** Lets go of the connection; the turn goes on at the server. */
  close() {
    this.stream?.abort();
    this.stream = null;
  }

  private rememberTail() {
    const tail = this.state.messages.at(-1);
    if (tail && atTail(this.state)) for (const { id } of this.state.messages) this.tails.set(id, tail.id);
  }

  private async run(
    path: string,
    body: unknown,
    start: { agentId: Id | null; content: string | null; from: number },
  ): Promise<void> {
    this.rememberTail();
    this.dispatch({ type: "turn-start", ...start });
    const abort = this.begin();
    try {
      const response = await request(`/conversations/${this.id}/${path}`, {
        method: "POST",
        body,
        headers: { accept: "text/event-stream" },
        signal: abort.signal,
      });
      await this.consume(response, abort);
    } catch (error) {
      if (abort.signal.aborted) return;
      if (error instanceof ApiError && error.status !== 0) {
        await this.refuse(error, start.content);
        return;
      }
    }
    await this.settle(abort, start.content);
  }

  private async attach(turnId: Id): Promise<void> {
    this.dispatch({ type: "turn-attach", turnId, agentId: null });
    await this.settle(this.begin(), null);
  }

  private begin(): AbortController {
    this.stream?.abort();
    this.stream = new AbortController();
    return this.stream;
  }

  private async consume(response: Response, abort: AbortController): Promise<void> {
    if (response.body === null) return;
    const quiet = new AbortController();
    const link = () => quiet.abort();
    abort.signal.addEventListener("abort", link, { once: true });
    let timer = setTimeout(link, SILENCE_MS);
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(link, SILENCE_MS);
    };
    try {
      await readEvents(
        response.body,
        (event) => {
          if (!abort.signal.aborted) this.onEvent(event);
        },
        { signal: quiet.signal, onBytes: alive },
      );
    } finally {
      clearTimeout(timer);
      abort.signal.removeEventListener("abort", link);
    }
  }

  private onEvent(event: { id: string | null; event: string; data: string }) {
    const stopWanted = this.state.turn?.stopping === true && this.state.turn.turnId === null;
    this.dispatch({ type: "event", event });
    const turnId = this.state.turn?.turnId;
    if (stopWanted && turnId) void api.conversations.cancel(this.id, turnId).catch(() => undefined);
    if (event.event === "user_saved" || event.event === "assistant_message" || event.event === "done")
      changed();
  }

  // After a connection ended: follow the turn until it says it is done.
  private async settle(abort: AbortController, content: string | null): Promise<void> {
    let failures = 0;
    while (!abort.signal.aborted && isBusy(this.state)) {
      const turnId = this.state.turn?.turnId ?? null;
      const seen = this.state.turn?.lastSeq ?? 0;
      try {
        if (turnId === null) {
          if (await this.findTurn(content)) continue;
          return;
        }
        await this.follow(turnId, abort);
      } catch (error) {
        if (abort.signal.aborted) return;
        if (error instanceof ApiError && error.status >= 400 && error.status < 500) {
          await this.reload();
          return;
        }
      }
      if (!isBusy(this.state) || abort.signal.aborted) return;
      failures = (this.state.turn?.lastSeq ?? 0) > seen ? 0 : failures + 1;
      if (failures > BACKOFF_MS.length) {
        this.dispatch({ type: "turn-lost", error: lost() });
        return;
      }
      this.dispatch({ type: "turn-cut" });
      await pause(BACKOFF_MS[Math.max(0, failures - 1)] ?? 5000, abort.signal);
    }
  }

  private async follow(turnId: Id, abort: AbortController): Promise<void> {
    const last = this.state.turn?.lastEventId ?? null;
    const response = await request(`/conversations/${this.id}/turns/${turnId}/stream`, {
      headers: { accept: "text/event-stream", ...(last === null ? {} : { "last-event-id": last }) },
      signal: abort.signal,
    });
    await this.consume(response, abort);
  }

  // The connection was cut before the server named the turn: ask the conversation whether one runs.
  private async findTurn(content: string | null): Promise<boolean> {
    const conversation = await api.conversations.get(this.id);
    if (conversation.running_turn_id) {
      this.dispatch({ type: "turn-attach", turnId: conversation.running_turn_id, agentId: null });
      return true;
    }
    const page = await api.conversations.messages(this.id, { limit: PAGE, order: "desc" });
    const arrived =
      content === null || page.items.slice(0, 2).some((m) => m.role === "user" && m.content === content);
    if (arrived) this.dispatch({ type: "turn-clear" });
    else this.dispatch({ type: "turn-refused", error: lost(), content });
    this.dispatch({ type: "loaded", conversation, page });
    return false;
  }

  private async refuse(error: ApiError, content: string | null): Promise<void> {
    this.dispatch({ type: "turn-refused", error: toTurnError(error), content });
    await this.reloadQuietly();
  }

  private async reload(): Promise<void> {
    this.dispatch({ type: "turn-clear" });
    await this.reloadQuietly();
  }

  private async reloadQuietly(): Promise<void> {
    try {
      const [conversation, page] = await Promise.all([
        api.conversations.get(this.id),
        api.conversations.messages(this.id, { limit: PAGE, order: "desc" }),
      ]);
      this.dispatch({ type: "loaded", conversation, page });
    } catch {
      // What is on the screen stays; the next action will say what is wrong.
    }
  }
}

function toTurnError(error: ApiError): TurnError {
  return {
    code: error.code,
    detail: error.code === "CONVERSATION_BUSY" ? t.thread.busy : error.detail,
    hint: error.hint,
    retryable: true,
    requestId: error.requestId,
  };
}

function lost(): TurnError {
  return { code: "NETWORK", detail: t.errors.network, hint: t.errors.networkHint, retryable: true };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}

const KEEP = 8;
const stores = new Map<Id, ThreadStore>();

/** The store of a thread. A few are kept, so that going back shows what was there at once. */
export function threadStore(id: Id): ThreadStore {
  const known = stores.get(id);
  const store = known ?? new ThreadStore(id);
  stores.delete(id);
  stores.set(id, store);
  for (const [key, old] of stores) {
    if (stores.size <= KEEP) break;
    if (key === id) continue;
    old.close();
    stores.delete(key);
  }
  return store;
}

/** Forgets every thread: at sign-out and when the team changes. */
export function clearThreads() {
  for (const store of stores.values()) store.close();
  stores.clear();
}
