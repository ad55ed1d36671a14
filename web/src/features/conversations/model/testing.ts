import type { SseEvent } from "../../../api/sse";
import type { Conversation, Message } from "../../../api/types";

// Builders for the tests of this folder.

export function message(part: Partial<Message> & { position: number }): Message {
  return {
    id: `m${part.position}`,
    conversation_id: "c",
    parent_id: part.position === 1 ? null : `m${part.position - 1}`,
    branch_id: "b",
    role: part.position % 2 === 1 ? "user" : "assistant",
    content: `text ${part.position}`,
    agent_id: null,
    agent_version: null,
    model: null,
    token_count: null,
    prompt_tokens: null,
    completion_tokens: null,
    latency_ms: null,
    finish_reason: null,
    rating: null,
    flow_execution_id: null,
    metadata: {},
    created_at: "2026-01-01T00:00:00Z",
    siblings: [],
    ...part,
  };
}

export function conversation(part: Partial<Conversation> = {}): Conversation {
  return {
    id: "c",
    user_id: "u",
    title: null,
    is_archived: false,
    is_shared: false,
    active_branch_id: "b",
    message_count: 0,
    running_turn_id: null,
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-01T00:00:00Z",
    ...part,
  };
}

export function event(seq: number, name: string, data: unknown): SseEvent {
  return { id: String(seq), event: name, data: JSON.stringify(data) };
}

/** A whole turn as the server tells it: the words one by one, then the stored answer. */
export function turnEvents(words: string[], userPosition = 1): SseEvent[] {
  const user = message({ position: userPosition, content: "question" });
  const answer = message({ position: userPosition + 1, content: words.join(""), finish_reason: "stop" });
  let seq = 0;
  const next = (name: string, data: unknown) => {
    seq += 1;
    return event(seq, name, data);
  };
  return [
    next("user_saved", {
      turn_id: "t",
      user_message: user,
      conversation: conversation({ running_turn_id: "t", message_count: userPosition }),
    }),
    next("thinking", { status: "Thinking…" }),
    next("grounding", {
      competence: "competent",
      triples: [{ id: "f", subject: "Apple", predicate: "p", object: "o" }],
    }),
    ...words.map((delta) => next("token", { delta })),
    next("assistant_message", {
      user_message: user,
      assistant_message: answer,
      conversation: conversation({ title: "question", message_count: userPosition + 1 }),
    }),
    next("done", { turn_id: "t", status: "completed" }),
  ];
}

export const WORDS = ["Apple", " was", " founded", " in", " 1976", " – “zwölf” ", "🐻", "."];
