import { describe, expect, it } from "vitest";
import { CodePoints } from "../../../lib/codepoints";
import { SEGMENT, segmentAt, segmentCount, segmentRange, windowOf, windowRange } from "./segments";

/** Puts a text together from its segments, each cut from the window that a reader would have fetched. */
function read(text: string) {
  const points = Array.from(text);
  const total = points.length;
  const out: string[] = [];
  for (let i = 0; i < segmentCount(total); i += 1) {
    const range = windowRange(windowOf(i), total);
    const window = new CodePoints(points.slice(range.from, range.to).join(""));
    const { from, to } = segmentRange(i, window, range.from, total);
    out.push(window.slice(from - range.from, to - range.from));
  }
  return out;
}

describe("segments", () => {
  const sentence = "Demand grew in most markets 🌍, while prices stayed where they were. ";
  it("together are the text, whatever its length", () => {
    for (const length of [0, 1, SEGMENT - 1, SEGMENT, SEGMENT + 1, 50_000, 130_001]) {
      const text = sentence
        .repeat(Math.ceil(length / 60))
        .slice(0, length)
        .replace(/[\ud800-\udbff]$/, "");
      expect(read(text).join("")).toBe(text);
    }
  });

  it("are the text when it has no place to break", () => {
    const text = "x".repeat(70_000);
    expect(read(text).join("")).toBe(text);
  });

  it("begin after a line break where there is one", () => {
    const text = `${sentence.repeat(5)}\n\n`.repeat(600);
    const parts = read(text);
    expect(parts.join("")).toBe(text);
    for (const part of parts.slice(0, -1)) expect(part.endsWith("\n")).toBe(true);
  });

  it("are found by a place in the text", () => {
    expect(segmentAt(0, 10_000)).toBe(0);
    expect(segmentAt(9_999, 10_000)).toBe(2);
    expect(segmentAt(1e9, 10_000)).toBe(2);
  });
});

describe("CodePoints", () => {
  it("counts as the server does", () => {
    const text = new CodePoints("a🌍b");
    expect(text.length).toBe(3);
    expect(text.slice(1, 3)).toBe("🌍b");
    expect(text.at(1)).toBe("🌍");
    expect(new CodePoints("abc").slice(1, 2)).toBe("b");
  });
});
