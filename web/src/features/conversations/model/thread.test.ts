import { describe, expect, it } from "vitest";
import type { Page } from "../../../api/types";
import { conversation, event, message, turnEvents, WORDS } from "./testing";
import {
  atTail,
  emptyThread,
  isBusy,
  MAX_WINDOW,
  type ThreadAction,
  type ThreadState,
  threadReducer,
} from "./thread";

function page(from: number, to: number, total: number): Page<ReturnType<typeof message>> {
  const items = Array.from({ length: to - from + 1 }, (_, index) => message({ position: from + index }));
  return { items, total, limit: 50, offset: 0 };
}

function run(state: ThreadState, ...actions: ThreadAction[]): ThreadState {
  return actions.reduce(threadReducer, state);
}

function loaded(from: number, to: number, total: number): ThreadState {
  return run(emptyThread, { type: "loaded", conversation: conversation(), page: page(from, to, total) });
}

const contents = (state: ThreadState) => state.messages.map((one) => `${one.position}:${one.content}`);

describe("a turn in a thread", () => {
  it("shows the message at once, then the stored one, then the answer", () => {
    const events = turnEvents(WORDS);
    let state = run(loaded(1, 0, 0), { type: "turn-start", agentId: "a", content: "question", from: 1 });
    expect(state.pending).toEqual({ content: "question", position: 1 });
    expect(isBusy(state)).toBe(true);
    state = run(state, { type: "event", event: events[0] as never });
    expect(state.pending).toBeNull();
    expect(contents(state)).toEqual(["1:question"]);
    state = run(state, ...events.slice(1, -2).map((one) => ({ type: "event", event: one }) as const));
    expect(state.turn?.text).toBe(WORDS.join(""));
    state = run(state, ...events.slice(-2).map((one) => ({ type: "event", event: one }) as const));
    expect(contents(state)).toEqual(["1:question", `2:${WORDS.join("")}`]);
    expect(state.turn).toBeNull();
    expect(state.conversation?.title).toBe("question");
    expect(state.total).toBe(2);
  });

  it("ends the same when the turn is replayed from the start after a reload", () => {
    const actions = turnEvents(WORDS, 3).map((one) => ({ type: "event", event: one }) as const);
    const state = run(
      loaded(1, 3, 3),
      { type: "turn-attach", turnId: "t", agentId: null },
      ...actions,
      ...actions,
    );
    expect(contents(state)).toEqual(["1:text 1", "2:text 2", "3:question", `4:${WORDS.join("")}`]);
  });

  it("puts an edited message in the place of the old one and drops what followed", () => {
    const state = run(
      loaded(1, 4, 4),
      { type: "turn-start", agentId: "a", content: "edited", from: 1 },
      {
        type: "event",
        event: event(1, "user_saved", {
          turn_id: "t",
          user_message: message({ position: 1, id: "m1b", content: "edited", siblings: ["m1", "m1b"] }),
        }),
      },
    );
    expect(state.messages.map((one) => one.id)).toEqual(["m1b"]);
    expect(state.messages[0]?.siblings).toEqual(["m1", "m1b"]);
  });

  it("keeps the message and the error of a failed turn", () => {
    const state = run(
      loaded(1, 0, 0),
      { type: "turn-start", agentId: "a", content: "question", from: 1 },
      {
        type: "event",
        event: event(1, "user_saved", { turn_id: "t", user_message: message({ position: 1 }) }),
      },
      {
        type: "event",
        event: event(2, "error", { code: "LLM_TIMEOUT", detail: "too slow", retryable: true }),
      },
      { type: "event", event: event(3, "done", { turn_id: "t", status: "failed" }) },
    );
    expect(contents(state)).toEqual(["1:text 1"]);
    expect(state.turn?.error?.code).toBe("LLM_TIMEOUT");
    expect(isBusy(state)).toBe(false);
  });

  it("gives the text back when the send is refused", () => {
    const error = { code: "CONVERSATION_BUSY", detail: "busy", hint: null, retryable: true };
    const state = run(
      loaded(1, 2, 2),
      { type: "turn-start", agentId: "a", content: "question", from: 3 },
      { type: "turn-refused", error, content: "question" },
    );
    expect(state.refused?.content).toBe("question");
    expect(state.turn).toBeNull();
  });
});

describe("the window of a long thread", () => {
  it("grows upwards to its limit, then slides and lets go of the newest", () => {
    let state = loaded(9951, 10_000, 10_000);
    for (let first = 9901; first >= 9601; first -= 50)
      state = run(state, { type: "older", page: page(first, first + 49, 10_000) });
    expect(state.messages).toHaveLength(MAX_WINDOW);
    expect(state.messages[0]?.position).toBe(9601);
    expect(state.messages.at(-1)?.position).toBe(9850);
    expect(atTail(state)).toBe(false);
    state = run(state, { type: "newer", page: page(9851, 9900, 10_000) });
    expect(state.messages[0]?.position).toBe(9651);
    expect(state.messages.at(-1)?.position).toBe(9900);
  });

  it("never holds a message twice, and never has a gap", () => {
    const state = run(
      loaded(51, 100, 100),
      { type: "older", page: page(1, 50, 100) },
      { type: "older", page: page(1, 50, 100) },
      { type: "newer", page: page(90, 100, 100) },
    );
    expect(state.messages.map((one) => one.position)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
  });
});
