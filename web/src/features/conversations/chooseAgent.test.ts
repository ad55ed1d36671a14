import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Agent } from "../../api/types";
import { chooseAgent, rememberAgent } from "./chooseAgent";
import { message } from "./model/testing";

function agent(id: string, part: Partial<Agent> = {}): Agent {
  return { id, name: id, is_active: true, output_visibility: "user_facing", ...part } as Agent;
}

const all = [
  agent("inner", { output_visibility: "internal" }),
  agent("a"),
  agent("b"),
  agent("off", { is_active: false }),
];
const active = all.filter((one) => one.is_active);
const byId = new Map(all.map((one) => [one.id, one]));
const said = (id: string) => [message({ position: 1 }), message({ position: 2, agent_id: id })];

beforeEach(() => {
  const store = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => store.get(key) ?? null,
    setItem: (key: string, value: string) => store.set(key, value),
  });
});

afterEach(() => vi.unstubAllGlobals());

describe("chooseAgent", () => {
  const choose = (picked: string | null, speaker?: string) =>
    chooseAgent(active, byId, picked, speaker ? said(speaker) : [])?.id ?? null;

  it("takes the choice, then the last speaker, then the last used, then the first for people", () => {
    expect(choose(null)).toBe("a");
    rememberAgent("b");
    expect(choose(null)).toBe("b");
    expect(choose(null, "a")).toBe("a");
    expect(choose("b", "a")).toBe("b");
  });

  it("passes over agents that are gone or inactive", () => {
    expect(choose("off", "gone")).toBe("a");
    expect(chooseAgent([], new Map(), null, [])).toBeNull();
  });
});
