/** Longer than the toast that offers the undo is on the screen. */
const GRACE_MS = 9_000;

interface Pending {
  timer: ReturnType<typeof setTimeout>;
  run: () => Promise<unknown>;
  failed: (error: unknown) => void;
}

/**
 * Removals that have been asked for and can still be undone: they are hidden at once and sent a little later, or
 * when the page is left.
 */
export class Later {
  private pending = new Map<string, Pending>();
  private hidden: ReadonlySet<string> = new Set();
  private listeners = new Set<() => void>();

  constructor(private readonly grace = GRACE_MS) {
    if (typeof window !== "undefined") window.addEventListener("pagehide", () => this.flush());
  }

  /** The ids that a list must leave out. The same set until something changes. */
  ids = (): ReadonlySet<string> => this.hidden;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  add(id: string, run: () => Promise<unknown>, failed: (error: unknown) => void) {
    if (this.pending.has(id)) return;
    const timer = setTimeout(() => this.send(id), this.grace);
    this.pending.set(id, { timer, run, failed });
    this.show(id, true);
  }

  undo(id: string) {
    const one = this.pending.get(id);
    if (!one) return;
    clearTimeout(one.timer);
    this.pending.delete(id);
    this.show(id, false);
  }

  flush() {
    for (const id of [...this.pending.keys()]) this.send(id);
  }

  private send(id: string) {
    const one = this.pending.get(id);
    if (!one) return;
    clearTimeout(one.timer);
    this.pending.delete(id);
    // It stays hidden when it is gone, and comes back when it could not be removed.
    one.run().catch((error: unknown) => {
      this.show(id, false);
      one.failed(error);
    });
  }

  private show(id: string, hide: boolean) {
    const next = new Set(this.hidden);
    if (hide) next.add(id);
    else next.delete(id);
    this.hidden = next;
    for (const listener of this.listeners) listener();
  }
}
