import type { Span } from "../../../api/knowledge-types";

export type Tone = "new" | "known" | "conflict" | "recorded";

/** A passage of the text that gave facts. */
export interface Mark {
  key: string;
  from: number;
  to: number;
  tone: Tone;
  /** Indexes of the facts that come from it. */
  items: number[];
}

/** A stretch of text that is shown one way. */
export interface Piece {
  from: number;
  to: number;
  mark: Mark | null;
  focus: boolean;
}

const WEIGHT: Record<Tone, number> = { conflict: 3, new: 2, recorded: 2, known: 1 };

export function spanKey(span: Span): string {
  return `${span[0]}-${span[1]}`;
}

/** Reads `12-80`; null for anything else. */
export function parseSpan(text: string | null): Span | null {
  const match = /^(\d{1,9})-(\d{1,9})$/.exec(text ?? "");
  if (!match) return null;
  const from = Number(match[1]);
  const to = Number(match[2]);
  return to > from ? [from, to] : null;
}

/**
 * Passages in the order of the text, none overlapping another: facts of one sentence share a mark, one that lies
 * in another joins it, and one that only overlaps is cut.
 */
export function marksOf(facts: { span: Span; tone: Tone }[]): Mark[] {
  const order = facts
    .map((fact, index) => ({ ...fact, index }))
    .filter(({ span }) => span[1] > span[0])
    .sort((a, b) => a.span[0] - b.span[0] || b.span[1] - a.span[1]);
  const marks: Mark[] = [];
  for (const { span, tone, index } of order) {
    const last = marks[marks.length - 1];
    if (last && span[1] <= last.to) {
      last.items.push(index);
      if (WEIGHT[tone] > WEIGHT[last.tone]) last.tone = tone;
      continue;
    }
    const from = last ? Math.max(span[0], last.to) : span[0];
    marks.push({ key: `${from}-${span[1]}`, from, to: span[1], tone, items: [index] });
  }
  return marks;
}

/** Index of the first mark that ends after `offset`. */
function firstAfter(marks: Mark[], offset: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle]?.to ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The mark at or around a place of the text. */
export function markAt(marks: Mark[], span: Span): Mark | null {
  const mark = marks[firstAfter(marks, span[0])];
  return mark && mark.from < span[1] ? mark : null;
}

/** Cuts a stretch of text where marks and the focused passage begin and end. */
export function pieces(range: { from: number; to: number }, marks: Mark[], focus: Span | null): Piece[] {
  const cuts = new Set([range.from, range.to]);
  const cut = (at: number) => {
    if (at > range.from && at < range.to) cuts.add(at);
  };
  const inside: Mark[] = [];
  for (let i = firstAfter(marks, range.from); i < marks.length; i += 1) {
    const mark = marks[i];
    if (!mark || mark.from >= range.to) break;
    inside.push(mark);
    cut(mark.from);
    cut(mark.to);
  }
  if (focus) for (const at of focus) cut(at);
  const points = [...cuts].sort((a, b) => a - b);
  const out: Piece[] = [];
  let next = 0;
  for (let i = 0; i + 1 < points.length; i += 1) {
    const from = points[i] as number;
    const to = points[i + 1] as number;
    while (next < inside.length && (inside[next] as Mark).to <= from) next += 1;
    const mark = inside[next];
    out.push({
      from,
      to,
      mark: mark && mark.from <= from ? mark : null,
      focus: focus !== null && focus[0] <= from && to <= focus[1],
    });
  }
  return out;
}
