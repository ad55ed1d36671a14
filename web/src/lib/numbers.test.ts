import { describe, expect, it } from "vitest";
import { groupDigits } from "./numbers";

describe("groupDigits", () => {
  it("groups long numbers and leaves the rest", () => {
    expect(groupDigits("290403000000 DKK")).toBe("290,403,000,000 DKK");
    expect(groupDigits("-64319.5")).toBe("-64,319.5");
    for (const text of ["1976", "00123456", "2024-01-05", "12345abc", "Apple", "15.4 percent", ""])
      expect(groupDigits(text)).toBe(text);
  });
});
