import { describe, expect, it } from "vitest";
import { readEvents, type SseEvent, SseParser } from "./sse";

const STREAM =
  'id: 1\nevent: user_saved\ndata: {"turn_id":"t"}\n\n' +
  ": heartbeat\n\n" +
  'id: 2\nevent: token\ndata: {"delta":"Zwölf 🐻 \\n"}\n\n' +
  "id: 3\r\nevent: token\r\ndata: a\r\ndata:b\r\n\r\n" +
  "id: 4\rdata\r\r" +
  "retry: 1500\n" +
  "id: 5\nevent: done\ndata: {}\n\n" +
  "id: 6\nevent: token\ndata: never finished";

const EXPECTED: SseEvent[] = [
  { id: "1", event: "user_saved", data: '{"turn_id":"t"}' },
  { id: "2", event: "token", data: '{"delta":"Zwölf 🐻 \\n"}' },
  { id: "3", event: "token", data: "a\nb" },
  { id: "4", event: "message", data: "" },
  { id: "5", event: "done", data: "{}" },
];

function bodyOf(chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

async function collect(chunks: Uint8Array[]): Promise<SseEvent[]> {
  const events: SseEvent[] = [];
  await readEvents(bodyOf(chunks), (event) => events.push(event));
  return events;
}

describe("SseParser", () => {
  it("reads the whole stream in one piece", () => {
    expect(new SseParser().push(STREAM)).toEqual(EXPECTED);
  });

  it("gives the same events for a cut at every byte", async () => {
    const bytes = new TextEncoder().encode(STREAM);
    for (let cut = 0; cut <= bytes.length; cut += 1)
      expect(await collect([bytes.slice(0, cut), bytes.slice(cut)]), `cut at ${cut}`).toEqual(EXPECTED);
  });

  it("gives the same events when every byte comes alone", async () => {
    const bytes = new TextEncoder().encode(STREAM);
    expect(await collect([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(EXPECTED);
  });

  it("keeps the last id for the reconnect, and not that of an unfinished event", () => {
    const parser = new SseParser();
    parser.push(STREAM);
    expect(parser.lastEventId).toBe("5");
    expect(parser.retryMs).toBe(1500);
  });

  it("ignores a byte order mark and unknown fields", () => {
    expect(new SseParser().push("\uFEFFfoo: bar\ndata: x\n\n")).toEqual([
      { id: null, event: "message", data: "x" },
    ]);
  });

  it("strips one space after the colon, no more", () => {
    expect(new SseParser().push("data:  x\n\n")[0]?.data).toBe(" x");
  });

  it("ignores an id with a NUL", () => {
    expect(new SseParser().push("id: a\0b\ndata: x\n\n")[0]?.id).toBeNull();
  });
});

describe("readEvents", () => {
  it("stops when it is told to", async () => {
    const abort = new AbortController();
    const seen: string[] = [];
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode("data: x\n\n"));
      },
    });
    await readEvents(
      stream,
      (event) => {
        seen.push(event.data);
        if (seen.length === 3) abort.abort();
      },
      { signal: abort.signal },
    );
    expect(seen).toEqual(["x", "x", "x"]);
  });

  it("tells about every piece that arrives, heartbeats too", async () => {
    let pieces = 0;
    const text = new TextEncoder();
    await readEvents(bodyOf([text.encode(": a\n\n"), text.encode(": b\n\n")]), () => undefined, {
      onBytes: () => {
        pieces += 1;
      },
    });
    expect(pieces).toBe(2);
  });
});
