import { describe, expect, it } from "vitest";
import { event, turnEvents, WORDS } from "./testing";
import { applyEvent, type LiveTurn, newTurn } from "./turn";

function play(events: ReturnType<typeof turnEvents>, from: LiveTurn = newTurn({ agentId: "a" })): LiveTurn {
  return events.reduce((turn, one) => applyEvent(turn, one).turn, from);
}

describe("applyEvent", () => {
  it("collects the text, the facts and the turn's id", () => {
    const turn = play(turnEvents(WORDS).slice(0, 3 + WORDS.length));
    expect(turn.turnId).toBe("t");
    expect(turn.text).toBe("Apple was founded in 1976 – “zwölf” 🐻.");
    expect(turn.grounding?.competence).toBe("competent");
    expect(turn.phase).toBe("running");
    expect(turn.lastEventId).toBe("11");
  });

  it("neither loses nor doubles text, wherever the cut is and however much is replayed", () => {
    const events = turnEvents(WORDS).slice(0, -2);
    const whole = WORDS.join("");
    for (let cut = 0; cut <= events.length; cut += 1) {
      const before = play(events.slice(0, cut));
      for (let back = 0; back <= cut; back += 1) {
        const after = play(events.slice(back), { ...before, phase: "reconnecting" });
        expect(after.text, `cut ${cut}, replay from ${back}`).toBe(whole);
      }
    }
  });

  it("returns the same object for an event it has seen", () => {
    const events = turnEvents(WORDS);
    const turn = play(events);
    expect(applyEvent(turn, events[4] as never).turn).toBe(turn);
  });

  it("keeps a failed turn's error until the end and says failed", () => {
    const turn = play([
      event(1, "user_saved", { turn_id: "t" }),
      event(2, "error", { code: "LLM_UNAVAILABLE", detail: "no answer", hint: "try again", retryable: true }),
      event(3, "done", { turn_id: "t", status: "failed" }),
    ]);
    expect(turn.status).toBe("failed");
    expect(turn.phase).toBe("ended");
    expect(turn.error).toEqual({
      code: "LLM_UNAVAILABLE",
      detail: "no answer",
      hint: "try again",
      retryable: true,
      requestId: null,
    });
  });

  it("joins the two events of one tool call", () => {
    const turn = play([
      event(1, "tool_call", { name: "generate_chart", arguments: { a: 1 }, status: "started" }),
      event(2, "tool_call", { name: "generate_chart", status: "completed", summary: "Revenue" }),
      event(3, "tool_call", { name: "generate_chart", arguments: {}, status: "started" }),
    ]);
    expect(turn.tools.map((tool) => [tool.status, tool.summary ?? null])).toEqual([
      ["completed", "Revenue"],
      ["started", null],
    ]);
    expect(turn.tools[0]?.arguments).toEqual({ a: 1 });
  });

  it("passes over data that is not JSON and events it does not know", () => {
    const turn = play([
      { id: "1", event: "token", data: "{broken" },
      event(2, "verification", { passed: true }),
    ]);
    expect(turn.text).toBe("");
    expect(turn.lastSeq).toBe(2);
  });
});
