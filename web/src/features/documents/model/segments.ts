import type { CodePoints } from "../../../lib/codepoints";

// A long text is shown as segments, of which only the visible ones exist, and is fetched in windows of several
// segments. Segment i nominally begins at code point i * SEGMENT; so that no line is torn, it really begins at
// the first line break (or space) after that. Where it begins depends on the text from its nominal start on
// only, so a window that reaches OVERLAP beyond its last segment can cut all of its segments by itself.

export const SEGMENT = 4_000;
export const WINDOW = 8 * SEGMENT;
const OVERLAP = 2_000;

export interface Range {
  from: number;
  to: number;
}

export function segmentCount(total: number): number {
  return Math.max(1, Math.ceil(total / SEGMENT));
}

export function segmentAt(offset: number, total: number): number {
  return Math.min(segmentCount(total) - 1, Math.max(0, Math.floor(offset / SEGMENT)));
}

export function windowOf(segment: number): number {
  return Math.floor((segment * SEGMENT) / WINDOW);
}

export function windowRange(window: number, total: number): Range {
  return { from: window * WINDOW, to: Math.min(total, (window + 1) * WINDOW + OVERLAP) };
}

/** Where a segment begins, in code points of the whole text. */
function begin(segment: number, text: CodePoints, origin: number, total: number): number {
  const nominal = segment * SEGMENT;
  if (segment === 0) return 0;
  if (nominal >= total) return total;
  const end = Math.min(text.length, nominal - origin + OVERLAP);
  let space = -1;
  for (let i = nominal - origin; i < end; i += 1) {
    const char = text.at(i);
    if (char === "\n") return origin + i + 1;
    if (space === -1 && char === " ") space = origin + i + 1;
  }
  return space === -1 ? nominal : space;
}

/** What a segment shows, cut from the window that holds it (`origin` is the window's first code point). */
export function segmentRange(segment: number, text: CodePoints, origin: number, total: number): Range {
  const from = begin(segment, text, origin, total);
  const last = segment === segmentCount(total) - 1;
  const to = last ? total : begin(segment + 1, text, origin, total);
  return { from, to: Math.max(from, to) };
}

/** Height of a segment before it has been seen: good enough for the scrollbar. */
export function guessHeight(width: number, line: number): number {
  const perLine = Math.max(20, width / 7.3);
  // Paragraphs end in half-empty lines and stand apart from each other.
  return Math.round((SEGMENT / perLine) * 1.25 * line);
}
