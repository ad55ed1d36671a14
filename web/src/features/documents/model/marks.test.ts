import { describe, expect, it } from "vitest";
import { markAt, marksOf, parseSpan, pieces } from "./marks";

describe("parseSpan", () => {
  it("reads a pair of offsets and nothing else", () => {
    expect(parseSpan("12-80")).toEqual([12, 80]);
    for (const bad of [null, "", "12", "80-12", "5-5", "-1-4", "1-x", "1-2-3"])
      expect(parseSpan(bad)).toBeNull();
  });
});

describe("marksOf", () => {
  it("gives one mark to the facts of one sentence, in the order of the text", () => {
    const marks = marksOf([
      { span: [50, 70], tone: "new" },
      { span: [0, 20], tone: "known" },
      { span: [50, 70], tone: "conflict" },
    ]);
    expect(marks).toEqual([
      { key: "0-20", from: 0, to: 20, tone: "known", items: [1] },
      { key: "50-70", from: 50, to: 70, tone: "conflict", items: [0, 2] },
    ]);
  });

  it("never overlaps: what lies inside joins, what overlaps is cut", () => {
    const marks = marksOf([
      { span: [0, 20], tone: "known" },
      { span: [5, 10], tone: "new" },
      { span: [15, 30], tone: "new" },
    ]);
    expect(marks.map((one) => [one.from, one.to, one.items])).toEqual([
      [0, 20, [0, 1]],
      [20, 30, [2]],
    ]);
    expect(marks[0]?.tone).toBe("new");
  });

  it("leaves out empty passages", () => {
    expect(marksOf([{ span: [4, 4], tone: "new" }])).toEqual([]);
  });
});

describe("pieces", () => {
  const marks = marksOf([
    { span: [10, 20], tone: "new" },
    { span: [30, 40], tone: "known" },
  ]);
  const shown = (range: { from: number; to: number }, focus: [number, number] | null = null) =>
    pieces(range, marks, focus).map(
      (one) => `${one.from}-${one.to}${one.mark ? ` ${one.mark.tone}` : ""}${one.focus ? " focus" : ""}`,
    );

  it("covers the range without gaps", () => {
    expect(shown({ from: 0, to: 50 })).toEqual(["0-10", "10-20 new", "20-30", "30-40 known", "40-50"]);
  });

  it("cuts marks that reach over the range", () => {
    expect(shown({ from: 15, to: 35 })).toEqual(["15-20 new", "20-30", "30-35 known"]);
  });

  it("shows a focused passage that fits no mark", () => {
    expect(shown({ from: 0, to: 25 }, [15, 22])).toEqual([
      "0-10",
      "10-15 new",
      "15-20 new focus",
      "20-22 focus",
      "22-25",
    ]);
  });

  it("agrees with a check of every code point", () => {
    const many = marksOf(
      Array.from({ length: 60 }, (_, i) => ({
        span: [i * 7, i * 7 + 3 + (i % 9)] as [number, number],
        tone: "new" as const,
      })),
    );
    const out = pieces({ from: 13, to: 400 }, many, [100, 130]);
    for (let at = 13; at < 400; at += 1) {
      const piece = out.find((one) => one.from <= at && at < one.to);
      const mark = many.find((one) => one.from <= at && at < one.to) ?? null;
      expect(piece?.mark, `mark at ${at}`).toBe(mark);
      expect(piece?.focus, `focus at ${at}`).toBe(at >= 100 && at < 130);
    }
  });
});

describe("markAt", () => {
  const marks = marksOf([{ span: [10, 20], tone: "new" }]);
  it("finds the mark that a passage touches", () => {
    expect(markAt(marks, [12, 14])?.key).toBe("10-20");
    expect(markAt(marks, [0, 12])?.key).toBe("10-20");
    expect(markAt(marks, [20, 30])).toBeNull();
    expect(markAt(marks, [0, 10])).toBeNull();
  });
});
