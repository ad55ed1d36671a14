import { afterEach, describe, expect, it, vi } from "vitest";
import type { SseEvent } from "../../../api/sse";
import { ThreadStore } from "./store";
import { conversation, message, turnEvents, WORDS } from "./testing";

const WHOLE = WORDS.join("");

function sse(events: SseEvent[], cut = false): Response {
  const text = events.map((one) => `id: ${one.id}\nevent: ${one.event}\ndata: ${one.data}\n\n`).join("");
  let sent = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (!sent) {
        sent = true;
        controller.enqueue(new TextEncoder().encode(text));
      } else if (cut) controller.error(new TypeError("network error"));
      else controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

interface Call {
  method: string;
  path: string;
  last: string | null;
}

/** A server for one thread; `stream` answers the streaming requests. */
function serve(stream: (call: Call, n: number) => Response, running: string | null = null): Call[] {
  const calls: Call[] = [];
  let streams = 0;
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const path = url.replace("/api/conversations/c", "");
    const call = {
      method: init.method ?? "GET",
      path,
      last: new Headers(init.headers).get("last-event-id"),
    };
    calls.push(call);
    if (path.endsWith("/stream")) {
      streams += 1;
      return stream(call, streams);
    }
    if (path.startsWith("/messages")) return Response.json({ items: [], total: 0, limit: 50, offset: 0 });
    return Response.json(conversation({ running_turn_id: running }));
  });
  return calls;
}

function missed(call: Call, events: SseEvent[]): SseEvent[] {
  return events.filter((one) => Number(one.id) > Number(call.last ?? 0));
}

afterEach(() => vi.unstubAllGlobals());

describe("ThreadStore", () => {
  it("shows every word once when the connection is cut after any event", async () => {
    const events = turnEvents(WORDS);
    for (let cut = 1; cut < events.length; cut += 1) {
      const calls = serve((call, n) =>
        n === 1 ? sse(events.slice(0, cut), true) : sse(missed(call, events)),
      );
      const store = new ThreadStore("c");
      await store.send("question", "a");
      const state = store.getState();
      expect(
        state.messages.map((one) => one.content),
        `cut after ${cut}`,
      ).toEqual(["question", WHOLE]);
      expect(state.turn).toBeNull();
      const again = calls.filter((call) => call.path === "/turns/t/stream");
      expect(again.map((call) => call.last)).toEqual([String(cut)]);
    }
  }, 20_000);

  it("goes on after several cuts and an end without done", async () => {
    const events = turnEvents(WORDS);
    const calls = serve((call, n) => {
      const rest = n === 1 ? events : missed(call, events);
      return n < 4 ? sse(rest.slice(0, 3), n % 2 === 1) : sse(rest);
    });
    const store = new ThreadStore("c");
    await store.send("question", "a");
    expect(store.getState().messages.at(-1)?.content).toBe(WHOLE);
    expect(calls.filter((call) => call.path === "/turns/t/stream").map((call) => call.last)).toEqual([
      "3",
      "6",
      "9",
    ]);
  });

  it("joins a running turn on a page load, from its start", async () => {
    const events = turnEvents(WORDS);
    const calls = serve(() => sse(events), "t");
    const store = new ThreadStore("c");
    await store.open();
    expect(store.getState().messages.map((one) => one.content)).toEqual(["question", WHOLE]);
    expect(calls.find((call) => call.path === "/turns/t/stream")?.last).toBeNull();
  });

  it("gives the text back when the server refuses the message", async () => {
    serve(() => Response.json({ code: "CONVERSATION_BUSY", detail: "busy" }, { status: 409 }));
    const store = new ThreadStore("c");
    await store.send("question", "a");
    expect(store.getState().refused?.content).toBe("question");
    expect(store.getState().refused?.error.code).toBe("CONVERSATION_BUSY");
    expect(store.getState().pending).toBeNull();
  });

  it("gives the text back when the message never arrived", async () => {
    serve(() => {
      throw new TypeError("failed");
    });
    const store = new ThreadStore("c");
    await store.send("question", "a");
    expect(store.getState().refused?.content).toBe("question");
    expect(store.getState().turn).toBeNull();
  });

  it("finds the turn again when the connection was cut before it was named", async () => {
    const events = turnEvents(WORDS);
    serve((_, n) => {
      if (n === 1) throw new TypeError("failed");
      return sse(events);
    }, "t");
    const store = new ThreadStore("c");
    await store.send("question", "a");
    expect(store.getState().messages.map((one) => one.content)).toEqual(["question", WHOLE]);
  });

  it("takes back a rating that the server refuses", async () => {
    serve(() => sse([]));
    const store = new ThreadStore("c");
    store.dispatch({
      type: "loaded",
      conversation: conversation(),
      page: { items: [message({ position: 1 }), message({ position: 2 })], total: 2, limit: 50, offset: 0 },
    });
    vi.stubGlobal("fetch", async () => Response.json({ code: "X", detail: "no" }, { status: 500 }));
    await expect(store.rate("m2", 1)).rejects.toMatchObject({ status: 500 });
    expect(store.getState().messages[1]?.rating).toBeNull();
  });
});
