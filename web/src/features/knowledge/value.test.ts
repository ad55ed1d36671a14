import { describe, expect, it } from "vitest";
import { confidenceOf, objectValue } from "./value";

describe("objectValue", () => {
  it("sends plain numbers and truth values as such", () => {
    expect(objectValue(" 1976 ")).toBe(1976);
    expect(objectValue("-0.5")).toBe(-0.5);
    expect(objectValue("true")).toBe(true);
  });

  it("keeps what a number would change", () => {
    for (const text of ["007", "1e5", "12345678901234567890", "1,000", "+1", "1976-04-01", "5 bn"])
      expect(objectValue(text)).toBe(text);
  });
});

describe("confidenceOf", () => {
  it("reads percent", () => {
    expect(confidenceOf("90")).toBe(0.9);
    expect(confidenceOf("33,3 %".replace(" ", ""))).toBe(0.333);
    expect(confidenceOf("101")).toBeNull();
    expect(confidenceOf("sure")).toBeNull();
  });
});
