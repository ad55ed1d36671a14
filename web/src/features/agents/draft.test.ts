import { describe, expect, it } from "vitest";
import type { Agent } from "../../api/types";
import { draftOf, patchOf, problemsOf } from "./draft";
import { freeName } from "./NewAgentDialog";

const agent: Agent = {
  id: "a",
  name: "scarlet",
  version: 1,
  display_name: "Scarlet",
  avatar_url: null,
  description: null,
  system_prompt: "You are Scarlet.",
  control_type: "retain",
  output_visibility: "user_facing",
  max_calls_per_parent_agent: 3,
  model: null,
  temperature: 0.2,
  is_active: true,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
};

describe("patchOf", () => {
  it("is empty for an untouched agent", () => {
    expect(patchOf(agent, draftOf(agent))).toEqual({});
  });

  it("holds only what changed; emptied fields are cleared", () => {
    const draft = {
      ...draftOf(agent),
      display_name: " ",
      temperature: "",
      model: " gpt ",
      system_prompt: "New",
    };
    expect(patchOf(agent, draft)).toEqual({
      display_name: null,
      temperature: null,
      model: "gpt",
      system_prompt: "New",
    });
  });

  it("reads a decimal comma", () => {
    expect(patchOf(agent, { ...draftOf(agent), temperature: "0,7" })).toEqual({ temperature: 0.7 });
  });
});

describe("problemsOf", () => {
  it("names what cannot be saved", () => {
    const of = (part: object) => problemsOf({ ...draftOf(agent), ...part });
    expect(of({})).toEqual({ temperature: false, calls: false, name: false });
    expect(of({ temperature: "2.1" }).temperature).toBe(true);
    expect(of({ temperature: "warm" }).temperature).toBe(true);
    expect(of({ max_calls_per_parent_agent: "0" }).calls).toBe(true);
    expect(of({ max_calls_per_parent_agent: "1.5" }).calls).toBe(true);
    expect(of({ name: " " }).name).toBe(true);
  });
});

describe("freeName", () => {
  it("counts up from two", () => {
    expect(freeName("x", new Set())).toBe("x");
    expect(freeName("x", new Set(["x", "x-2"]))).toBe("x-3");
  });
});
