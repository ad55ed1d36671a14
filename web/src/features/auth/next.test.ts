import { describe, expect, it } from "vitest";
import { safeNext } from "./next";

describe("safeNext", () => {
  it("goes to paths of this site only", () => {
    expect(safeNext("/agents/1?panel=versions")).toBe("/agents/1?panel=versions");
    for (const bad of [
      null,
      "",
      "https://evil.example",
      "//evil.example",
      "/\\evil.example",
      "javascript:alert(1)",
      "/a\\b",
    ])
      expect(safeNext(bad)).toBe("/conversations");
  });
});
