import { describe, expect, it } from "vitest";
import type { ClaimVerdict, Verdict } from "../../api/types";
import { marksOf, utf16 } from "./verdicts";

function claim(verdict: Verdict, start: number, end: number): ClaimVerdict {
  return {
    text: "",
    span: [start, end],
    subject: "s",
    predicate: "p",
    object: "o",
    polarity: "+",
    modality: "asserted",
    verdict,
    triple_ids: [],
    confidence: 1,
  };
}

describe("marksOf", () => {
  it("counts code points, whatever they take in UTF-16", () => {
    expect(utf16("a😀b", [0, 1, 2, 3, 9])).toEqual([0, 1, 3, 4, 4]);
    expect(marksOf("😀 Apple grew.", [claim("grounded", 2, 12)], null)).toEqual([
      { start: 3, end: 13, id: "0", kind: "grounded" },
    ]);
  });

  it("shows the gravest claim of those on the same words", () => {
    const claims = [claim("ungrounded", 0, 10), claim("grounded", 0, 10), claim("contradicted", 0, 10)];
    expect(marksOf("0123456789", claims, null)).toEqual([
      { start: 0, end: 10, id: "2", kind: "contradicted" },
    ]);
  });

  it("lets a shorter claim stand in a longer one", () => {
    const claims = [claim("ungrounded", 0, 10), claim("grounded", 3, 5)];
    expect(marksOf("0123456789", claims, null).map((m) => [m.start, m.end, m.id])).toEqual([
      [0, 3, "0"],
      [3, 5, "1"],
      [5, 10, "0"],
    ]);
  });

  it("never hides a contradiction under a shorter harmless claim", () => {
    const claims = [claim("contradicted", 0, 10), claim("grounded", 3, 5)];
    expect(marksOf("0123456789", claims, null)).toEqual([
      { start: 0, end: 10, id: "0", kind: "contradicted" },
    ]);
  });

  it("shows one verdict alone when asked", () => {
    const claims = [claim("contradicted", 0, 4), claim("grounded", 5, 9)];
    expect(marksOf("0123456789", claims, "grounded").map((m) => m.id)).toEqual(["1"]);
  });
});
