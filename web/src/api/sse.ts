// Server-sent events over fetch: a push parser that keeps the last id, and nothing else. It is fed text in
// pieces of any size and gives back the events that are complete.

export interface SseEvent {
  id: string | null;
  event: string;
  data: string;
}

export class SseParser {
  private buffer = "";
  private started = false;
  private afterReturn = false;
  private event = "";
  private data: string[] = [];
  private id: string | null = null;
  /** The id of the newest complete event: what Last-Event-ID should say. */
  lastEventId: string | null = null;
  /** What a `retry:` field asked for, in milliseconds. */
  retryMs: number | null = null;

  push(text: string): SseEvent[] {
    if (text === "") return [];
    let chunk = text;
    if (!this.started) {
      this.started = true;
      if (chunk.startsWith("\uFEFF")) chunk = chunk.slice(1);
    }
    // A line may end in CR, LF or CRLF, and a cut may fall between the two: a LF that follows a CR of the
    // piece before ends nothing.
    if (this.afterReturn && chunk.startsWith("\n")) chunk = chunk.slice(1);
    if (text !== "") this.afterReturn = text.endsWith("\r");
    this.buffer += chunk;

    const events: SseEvent[] = [];
    let start = 0;
    for (let i = 0; i < this.buffer.length; i += 1) {
      const char = this.buffer[i];
      if (char !== "\n" && char !== "\r") continue;
      const done = this.line(this.buffer.slice(start, i));
      if (done !== null) events.push(done);
      if (char === "\r" && this.buffer[i + 1] === "\n") i += 1;
      start = i + 1;
    }
    this.buffer = this.buffer.slice(start);
    return events;
  }

  private line(line: string): SseEvent | null {
    if (line === "") return this.dispatch();
    if (line.startsWith(":")) return null;
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    let value = colon === -1 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") this.data.push(value);
    else if (field === "event") this.event = value;
    else if (field === "id" && !value.includes("\0")) this.id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
    return null;
  }

  private dispatch(): SseEvent | null {
    const { event, data } = this;
    this.event = "";
    this.data = [];
    this.lastEventId = this.id;
    if (data.length === 0) return null;
    return { id: this.id, event: event === "" ? "message" : event, data: data.join("\n") };
  }
}

/** Reads a response body to its end and hands over each event; bytes are decoded across cuts. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: SseEvent) => void,
  options: { signal?: AbortSignal; onBytes?: () => void } = {},
): Promise<void> {
  const { signal } = options;
  const parser = new SseParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => undefined);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal?.aborted) break;
      options.onBytes?.();
      for (const event of parser.push(decoder.decode(value, { stream: true }))) onEvent(event);
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    reader.releaseLock();
  }
}
