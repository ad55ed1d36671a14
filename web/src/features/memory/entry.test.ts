import { describe, expect, it } from "vitest";
import { expiryText, parseValue, valueText } from "./entry";

describe("a value", () => {
  it("survives being shown and typed again", () => {
    for (const value of [
      "DKK",
      "12",
      "true",
      "null",
      '{"a":1}',
      12,
      true,
      null,
      { a: [1, "x"] },
      "two words",
      '"quoted"',
    ])
      expect(parseValue(valueText(value))).toEqual(value);
  });
  it("is absent when nothing is typed", () => {
    expect(parseValue("  ")).toBeNull();
    expect(valueText(undefined)).toBe("");
  });
});

describe("expiryText", () => {
  const now = Date.parse("2026-11-30T12:00:00Z");
  it("counts in whole units", () => {
    expect(expiryText("2026-12-03T12:00:01Z", now)).toBe("in 3 days");
    expect(expiryText("2026-11-30T13:59:00Z", now)).toBe("in 1 hour");
    expect(expiryText("2026-11-30T12:05:00Z", now)).toBe("in 5 minutes");
    expect(expiryText("2026-11-30T12:00:20Z", now)).toBe("in less than a minute");
  });
});
