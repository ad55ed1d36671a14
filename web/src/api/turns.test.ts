import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { takeTurns } from "./turns";

let store: Map<string, string>;

beforeEach(() => {
  store = new Map();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => store.get(key) ?? null,
    setItem: (key: string, value: string) => store.set(key, value),
    removeItem: (key: string) => store.delete(key),
  });
});

afterEach(() => vi.unstubAllGlobals());

describe("takeTurns", () => {
  it("never lets two work at once, and lets everyone work", async () => {
    let inside = 0;
    let most = 0;
    const job = () =>
      takeTurns(async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setTimeout(resolve, 10));
        inside -= 1;
        return "done";
      });
    expect(await Promise.all([job(), job(), job(), job()])).toEqual(["done", "done", "done", "done"]);
    expect(most).toBe(1);
    expect(store.size).toBe(0);
  });

  it("passes by a lock whose tab is gone", async () => {
    store.set("qadra.session.lock", `gone ${Date.now() - 60_000}`);
    expect(await takeTurns(async () => 7)).toBe(7);
  });

  it("lets go when the work fails", async () => {
    await expect(takeTurns(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(store.size).toBe(0);
  });
});
