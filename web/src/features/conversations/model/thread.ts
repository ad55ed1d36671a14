import type { ApiError } from "../../../api/error";
import type { SseEvent } from "../../../api/sse";
import type { Conversation, Id, Message, Page } from "../../../api/types";
import { applyEvent, type LiveTurn, newTurn, type TurnError } from "./turn";

export const PAGE = 50;
/** At most this many messages stay in the page at once; the window slides as the reader scrolls. */
export const MAX_WINDOW = 250;

/** A message the server has not confirmed yet. */
export interface Pending {
  content: string;
  position: number;
}

export interface ThreadState {
  conversation: Conversation | null;
  /** A gapless run of the active branch, by position. */
  messages: Message[];
  total: number;
  load: "idle" | "loading" | "ready" | "error";
  error: ApiError | null;
  edge: { older: "idle" | "loading" | "error"; newer: "idle" | "loading" | "error" };
  turn: LiveTurn | null;
  pending: Pending | null;
  /** Why the last send was refused; the text goes back to the composer. */
  refused: { error: TurnError; content: string | null } | null;
}

export type ThreadAction =
  | { type: "load-start" }
  | { type: "load-failed"; error: ApiError }
  | { type: "loaded"; conversation: Conversation; page: Page<Message> }
  | { type: "edge"; side: "older" | "newer"; state: "loading" | "error" | "idle" }
  | { type: "older"; page: Page<Message> }
  | { type: "newer"; page: Page<Message> }
  | { type: "conversation"; conversation: Conversation }
  | { type: "message"; message: Message }
  | { type: "turn-start"; agentId: Id | null; content: string | null; from: number }
  | { type: "turn-attach"; turnId: Id; agentId: Id | null }
  | { type: "turn-cut" }
  | { type: "turn-stopping" }
  | { type: "turn-refused"; error: TurnError; content: string | null }
  | { type: "turn-lost"; error: TurnError }
  | { type: "turn-clear" }
  | { type: "event"; event: SseEvent };

export const emptyThread: ThreadState = {
  conversation: null,
  messages: [],
  total: 0,
  load: "idle",
  error: null,
  edge: { older: "idle", newer: "idle" },
  turn: null,
  pending: null,
  refused: null,
};

export function threadReducer(state: ThreadState, action: ThreadAction): ThreadState {
  switch (action.type) {
    case "load-start":
      return { ...state, load: state.load === "ready" ? "ready" : "loading", error: null };
    case "load-failed":
      return { ...state, load: state.load === "ready" ? "ready" : "error", error: action.error };
    case "loaded":
      return {
        ...state,
        conversation: action.conversation,
        messages: byPosition(action.page.items),
        total: action.page.total,
        load: "ready",
        error: null,
        edge: { older: "idle", newer: "idle" },
      };
    case "edge":
      return { ...state, edge: { ...state.edge, [action.side]: action.state } };
    case "older": {
      const first = state.messages[0]?.position ?? Number.POSITIVE_INFINITY;
      const older = action.page.items.filter((m) => m.position < first);
      const messages = byPosition([...older, ...state.messages]).slice(0, MAX_WINDOW);
      return { ...state, messages, total: action.page.total, edge: { ...state.edge, older: "idle" } };
    }
    case "newer": {
      const last = state.messages.at(-1)?.position ?? 0;
      const newer = action.page.items.filter((m) => m.position > last);
      const messages = byPosition([...state.messages, ...newer]).slice(-MAX_WINDOW);
      return { ...state, messages, total: action.page.total, edge: { ...state.edge, newer: "idle" } };
    }
    case "conversation":
      return { ...state, conversation: action.conversation };
    case "message":
      return {
        ...state,
        messages: state.messages.map((m) => (m.id === action.message.id ? action.message : m)),
      };
    case "turn-start":
      return {
        ...state,
        messages: state.messages.filter((m) => m.position < action.from),
        total: action.from - 1,
        pending: action.content === null ? null : { content: action.content, position: action.from },
        turn: newTurn({ agentId: action.agentId }),
        refused: null,
      };
    case "turn-attach":
      return {
        ...state,
        turn: newTurn({ agentId: action.agentId, turnId: action.turnId, phase: "running" }),
        pending: null,
        refused: null,
      };
    case "turn-cut":
      return withTurn(state, (turn) => ({ ...turn, phase: "reconnecting" }));
    case "turn-stopping":
      return withTurn(state, (turn) => ({ ...turn, stopping: true }));
    case "turn-refused":
      return {
        ...state,
        turn: null,
        pending: null,
        refused: { error: action.error, content: action.content },
      };
    case "turn-lost":
      return withTurn(state, (turn) => ({ ...turn, phase: "ended", status: "failed", error: action.error }));
    case "turn-clear":
      return { ...state, turn: null, pending: null, refused: null };
    case "event":
      return onEvent(state, action.event);
  }
}

/** Whether the newest message of the branch is in the window. */
export function atTail(state: ThreadState): boolean {
  return (state.messages.at(-1)?.position ?? 0) >= state.total;
}

export function isBusy(state: ThreadState): boolean {
  return state.turn !== null && state.turn.phase !== "ended";
}

function withTurn(state: ThreadState, change: (turn: LiveTurn) => LiveTurn): ThreadState {
  return state.turn === null ? state : { ...state, turn: change(state.turn) };
}

function onEvent(state: ThreadState, event: SseEvent): ThreadState {
  if (state.turn === null) return state;
  const outcome = applyEvent(state.turn, event);
  if (outcome.turn === state.turn) return state;
  let next: ThreadState = { ...state, turn: outcome.turn };
  if (outcome.conversation) next = { ...next, conversation: outcome.conversation };
  if (outcome.userMessage) next = { ...place(next, outcome.userMessage), pending: null };
  if (outcome.assistantMessage) {
    next = place(next, outcome.assistantMessage);
    // The stored message shows the text from here on.
    if (next.turn) next = { ...next, turn: { ...next.turn, text: "" } };
  }
  if (outcome.turn.phase === "ended") {
    if (next.conversation) next = { ...next, conversation: { ...next.conversation, running_turn_id: null } };
    if (outcome.turn.error === null) next = { ...next, turn: null };
  }
  return next;
}

// A confirmed message takes its position; whatever stood there or after it belongs to another branch.
function place(state: ThreadState, message: Message): ThreadState {
  const before = state.messages.filter((m) => m.position < message.position);
  const messages = [...before, message].slice(-MAX_WINDOW);
  return { ...state, messages, total: message.position };
}

function byPosition(messages: Message[]): Message[] {
  return [...messages].sort((a, b) => a.position - b.position);
}
