import { describe, expect, it } from "vitest";
import { budget, clip, codePoints, MESSAGE_LIMIT, roughTokens } from "./budget";

describe("codePoints", () => {
  it("counts as the server does", () => {
    expect(codePoints("abc")).toBe(3);
    expect(codePoints("ä🐻")).toBe(2);
    expect(codePoints("👩‍🚀")).toBe(3);
    expect(codePoints("\ud800x")).toBe(2);
    expect(codePoints("x\ud83d")).toBe(2);
    expect(codePoints("")).toBe(0);
  });
});

describe("budget", () => {
  it("is quiet, near, over", () => {
    expect(budget("hello")).toEqual({ left: MESSAGE_LIMIT - 5, state: "quiet" });
    expect(budget("x".repeat(99_000))).toEqual({ left: 1000, state: "near" });
    expect(budget("x".repeat(100_000))).toEqual({ left: 0, state: "near" });
    expect(budget("x".repeat(100_001))).toEqual({ left: -1, state: "over" });
  });

  it("does not take two units for two characters", () => {
    expect(budget("🐻".repeat(100_000)).state).toBe("near");
    expect(budget("🐻".repeat(100_001)).left).toBe(-1);
  });
});

describe("clip", () => {
  it("cuts at a word and says so", () => {
    expect(clip("When was Apple founded, and by whom?", 24)).toBe("When was Apple founded…");
    expect(clip("short", 24)).toBe("short");
    expect(clip("a\n b", 24)).toBe("a b");
    expect(clip("🐻".repeat(30), 10)).toBe(`${"🐻".repeat(9)}…`);
  });
});

describe("roughTokens", () => {
  it("takes four characters for a token", () => {
    expect(roughTokens("")).toBe(0);
    expect(roughTokens("12345")).toBe(2);
  });
});
