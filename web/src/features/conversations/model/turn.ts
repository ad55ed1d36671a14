import type { SseEvent } from "../../../api/sse";
import type { Conversation, Grounding, Id, Message, ToolCall } from "../../../api/types";

export interface TurnError {
  code: string;
  detail: string;
  hint: string | null;
  retryable: boolean;
  requestId?: string | null;
}

/** One turn while it is being written: everything its events have said so far. */
export interface LiveTurn {
  turnId: Id | null;
  agentId: Id | null;
  /** sending: not yet accepted; running: events arrive; reconnecting: the connection was cut. */
  phase: "sending" | "running" | "reconnecting" | "ended";
  stopping: boolean;
  status: "completed" | "cancelled" | "failed" | null;
  lastSeq: number;
  lastEventId: string | null;
  text: string;
  thinking: string | null;
  grounding: Grounding | null;
  tools: ToolCall[];
  error: TurnError | null;
}

/** What an event brings for the thread around the turn. */
export interface TurnOutcome {
  turn: LiveTurn;
  userMessage?: Message;
  assistantMessage?: Message;
  conversation?: Conversation;
}

export function newTurn(init: {
  agentId: Id | null;
  turnId?: Id | null;
  phase?: LiveTurn["phase"];
}): LiveTurn {
  return {
    turnId: init.turnId ?? null,
    agentId: init.agentId,
    phase: init.phase ?? "sending",
    stopping: false,
    status: null,
    lastSeq: 0,
    lastEventId: null,
    text: "",
    thinking: null,
    grounding: null,
    tools: [],
    error: null,
  };
}

/**
 * Takes one event. An event whose seq was seen already changes nothing, so a replay that overlaps what
 * arrived before the cut neither loses nor doubles text.
 */
export function applyEvent(turn: LiveTurn, event: SseEvent): TurnOutcome {
  const seq = event.id === null ? null : Number(event.id);
  if (seq !== null && Number.isFinite(seq) && seq <= turn.lastSeq) return { turn };
  const data = parse(event.data);
  if (data === null) return { turn };
  const next: LiveTurn = {
    ...turn,
    phase: turn.phase === "ended" ? "ended" : "running",
    lastSeq: seq !== null && Number.isFinite(seq) ? seq : turn.lastSeq,
    lastEventId: event.id ?? turn.lastEventId,
  };
  switch (event.event) {
    case "user_saved":
      return {
        turn: { ...next, turnId: text(data.turn_id) ?? next.turnId },
        ...messages(data),
      };
    case "thinking":
      return { turn: { ...next, thinking: text(data.status) ?? text(data.message) ?? "" } };
    case "grounding":
      return { turn: { ...next, grounding: data as Grounding } };
    case "token":
      return { turn: { ...next, text: next.text + (text(data.delta) ?? "") } };
    case "tool_call":
      return { turn: { ...next, tools: mergeTool(next.tools, data as unknown as ToolCall) } };
    case "assistant_message":
      return { turn: next, ...messages(data) };
    case "error":
      return { turn: { ...next, error: turnError(data) } };
    case "done":
      return { turn: { ...next, phase: "ended", status: status(data.status, next.error) } };
    default:
      return { turn: next };
  }
}

function parse(data: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(data);
    return value !== null && typeof value === "object" ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function messages(data: Record<string, unknown>): Omit<TurnOutcome, "turn"> {
  const out: Omit<TurnOutcome, "turn"> = {};
  if (isMessage(data.user_message)) out.userMessage = data.user_message;
  if (isMessage(data.assistant_message)) out.assistantMessage = data.assistant_message;
  if (data.conversation !== null && typeof data.conversation === "object")
    out.conversation = data.conversation as Conversation;
  return out;
}

function isMessage(value: unknown): value is Message {
  return value !== null && typeof value === "object" && typeof (value as Message).id === "string";
}

function status(value: unknown, error: TurnError | null): LiveTurn["status"] {
  if (value === "completed" || value === "cancelled" || value === "failed") return value;
  return error === null ? "completed" : "failed";
}

function turnError(data: Record<string, unknown>): TurnError {
  return {
    code: text(data.code) ?? "UNKNOWN",
    detail: text(data.detail) ?? "",
    hint: text(data.hint),
    retryable: data.retryable !== false,
    requestId: text(data.request_id),
  };
}

// A tool's later event replaces the one that said it had started.
function mergeTool(tools: ToolCall[], call: ToolCall): ToolCall[] {
  if (call.status === "started" || call.status === undefined) return [...tools, call];
  const open = tools.findLastIndex((tool) => tool.name === call.name && tool.status === "started");
  if (open === -1) return [...tools, call];
  return tools.map((tool, index) => (index === open ? { ...tool, ...call } : tool));
}
