import { describe, expect, it, vi } from "vitest";
import type { Doc } from "../../../api/knowledge-types";
import { UploadQueue } from "./uploads";

const doc = { id: "d" } as Doc;
const file = (name: string) => new File(["x"], name);
const settle = () => new Promise((resolve) => setTimeout(resolve));

function controlled() {
  const open: { resolve: (doc: Doc) => void; reject: (error: unknown) => void }[] = [];
  const send = vi.fn(
    (_file: File, { signal }: { signal: AbortSignal }) =>
      new Promise<Doc>((resolve, reject) => {
        open.push({ resolve, reject });
        signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
      }),
  );
  return { open, send };
}

describe("UploadQueue", () => {
  it("sends two files at a time, and the next when one is done", async () => {
    const { open, send } = controlled();
    const queue = new UploadQueue(send);
    queue.add([file("a"), file("b"), file("c")]);
    expect(send).toHaveBeenCalledTimes(2);
    open[0]?.resolve(doc);
    await settle();
    expect(send).toHaveBeenCalledTimes(3);
    expect(queue.list().map((one) => one.state)).toEqual(["done", "sending", "sending"]);
  });

  it("keeps the others going when one fails, and sends that one again on request", async () => {
    const { open, send } = controlled();
    const queue = new UploadQueue(send);
    queue.add([file("a"), file("b")]);
    open[0]?.reject(new Error("no"));
    await settle();
    expect(queue.list().map((one) => one.state)).toEqual(["failed", "sending"]);
    queue.retry(1);
    open[2]?.resolve(doc);
    await settle();
    expect(queue.list()[0]?.state).toBe("done");
  });

  it("cancels one that runs and one that waits", async () => {
    const { send } = controlled();
    const queue = new UploadQueue(send);
    queue.add([file("a"), file("b"), file("c")]);
    queue.cancel(3);
    queue.cancel(1);
    await settle();
    expect(queue.list().map((one) => one.state)).toEqual(["cancelled", "sending", "cancelled"]);
    expect(send).toHaveBeenCalledTimes(2);
  });

  it("does not send what is refused", () => {
    const { send } = controlled();
    const queue = new UploadQueue(send, (one) => (one.name === "big" ? "too big" : null));
    queue.add([file("big"), file("a")]);
    expect(queue.list().map((one) => one.state)).toEqual(["failed", "sending"]);
    queue.retry(1);
    expect(queue.list()[0]?.state).toBe("failed");
  });
});
