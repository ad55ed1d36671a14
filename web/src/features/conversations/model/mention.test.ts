import { describe, expect, it } from "vitest";
import { matchAgents, mentionAt } from "./mention";

describe("mentionAt", () => {
  it("finds an @ that starts a word", () => {
    expect(mentionAt("hey @sca", 8)).toEqual({ start: 4, end: 8, query: "sca" });
    expect(mentionAt("@", 1)).toEqual({ start: 0, end: 1, query: "" });
    expect(mentionAt("a\n@é", 4)).toEqual({ start: 2, end: 4, query: "é" });
  });

  it("leaves addresses and finished words alone", () => {
    expect(mentionAt("mail me a@b", 11)).toBeNull();
    expect(mentionAt("@scarlet hello", 14)).toBeNull();
  });

  it("looks only before the caret", () => {
    expect(mentionAt("@sc rest", 3)?.query).toBe("sc");
  });
});

describe("matchAgents", () => {
  const agents = [
    { name: "memo-writer", display_name: "Memo Writer" },
    { name: "research-analyst", display_name: "Research Analyst" },
    { name: "writer", display_name: null },
  ];
  it("puts names that start with the query first", () => {
    expect(matchAgents(agents, "wri").map((one) => one.name)).toEqual(["writer", "memo-writer"]);
    expect(matchAgents(agents, "analyst").map((one) => one.name)).toEqual(["research-analyst"]);
    expect(matchAgents(agents, "zzz")).toEqual([]);
    expect(matchAgents(agents, "")).toHaveLength(3);
  });
});
