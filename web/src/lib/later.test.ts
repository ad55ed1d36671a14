import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Later } from "./later";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe("Later", () => {
  it("hides at once and sends after the grace time", async () => {
    const later = new Later(1000);
    const run = vi.fn(async () => undefined);
    later.add("a", run, () => undefined);
    expect([...later.ids()]).toEqual(["a"]);
    await vi.advanceTimersByTimeAsync(999);
    expect(run).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(run).toHaveBeenCalledOnce();
    expect([...later.ids()]).toEqual(["a"]);
  });

  it("sends nothing that was undone", async () => {
    const later = new Later(1000);
    const run = vi.fn(async () => undefined);
    later.add("a", run, () => undefined);
    later.undo("a");
    await vi.advanceTimersByTimeAsync(5000);
    expect(run).not.toHaveBeenCalled();
    expect(later.ids().size).toBe(0);
  });

  it("sends once when the page is left before the time", async () => {
    const later = new Later(1000);
    const run = vi.fn(async () => undefined);
    later.add("a", run, () => undefined);
    later.flush();
    await vi.advanceTimersByTimeAsync(5000);
    expect(run).toHaveBeenCalledOnce();
  });

  it("shows again what could not be removed", async () => {
    const later = new Later(1000);
    const failed = vi.fn();
    later.add("a", () => Promise.reject(new Error("no")), failed);
    await vi.advanceTimersByTimeAsync(1000);
    expect(failed).toHaveBeenCalledOnce();
    expect(later.ids().size).toBe(0);
  });
});
