import type { Doc } from "../../../api/knowledge-types";

export const MAX_BYTES = 64 * 1024 * 1024;
const AT_ONCE = 2;

export type UploadState = "waiting" | "sending" | "reading" | "done" | "failed" | "cancelled";

export interface Upload {
  id: number;
  file: File;
  state: UploadState;
  /** 0 to 1. */
  sent: number;
  error: unknown;
  doc: Doc | null;
}

export type SendFile = (
  file: File,
  options: { onProgress: (sent: number, total: number) => void; signal: AbortSignal },
) => Promise<Doc>;

/** Files on their way to the server: a few at a time, each with its own progress, end and second try. */
export class UploadQueue {
  private items: Upload[] = [];
  private running = new Map<number, AbortController>();
  private nextId = 1;
  private listeners = new Set<() => void>();

  constructor(
    private readonly send: SendFile,
    private readonly refuse: (file: File) => unknown = () => null,
    private readonly onDone: (doc: Doc) => void = () => undefined,
  ) {}

  list = (): Upload[] => this.items;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  add(files: Iterable<File>) {
    const added = [...files].map((file): Upload => {
      const error = this.refuse(file);
      const id = this.nextId;
      this.nextId += 1;
      return { id, file, state: error ? "failed" : "waiting", sent: 0, error, doc: null };
    });
    this.set([...this.items, ...added]);
    this.pump();
  }

  cancel(id: number) {
    this.running.get(id)?.abort();
    this.patch(id, (one) => (one.state === "done" ? {} : { state: "cancelled" }));
  }

  retry(id: number) {
    this.patch(id, (one) => (this.refuse(one.file) ? {} : { state: "waiting", sent: 0, error: null }));
    this.pump();
  }

  cancelAll() {
    for (const one of this.items)
      if (one.state === "waiting" || this.running.has(one.id)) this.cancel(one.id);
  }

  private pump() {
    for (const one of this.items) {
      if (this.running.size >= AT_ONCE) return;
      if (one.state === "waiting") void this.start(one);
    }
  }

  private async start({ id, file }: Upload) {
    const control = new AbortController();
    this.running.set(id, control);
    this.patch(id, () => ({ state: "sending" }));
    try {
      const doc = await this.send(file, {
        signal: control.signal,
        onProgress: (sent, total) => {
          if (control.signal.aborted) return;
          const share = total > 0 ? sent / total : 0;
          // All is sent: the server now reads the file.
          this.patch(id, () => ({ sent: share, state: share >= 1 ? "reading" : "sending" }));
        },
      });
      this.patch(id, () => ({ state: "done", sent: 1, doc }));
      this.onDone(doc);
    } catch (error) {
      this.patch(id, () => (control.signal.aborted ? { state: "cancelled" } : { state: "failed", error }));
    } finally {
      this.running.delete(id);
      this.pump();
    }
  }

  private patch(id: number, change: (one: Upload) => Partial<Upload>) {
    this.set(this.items.map((one) => (one.id === id ? { ...one, ...change(one) } : one)));
  }

  private set(next: Upload[]) {
    this.items = next;
    for (const listener of this.listeners) listener();
  }
}
