import type { Belnap, ClaimVerdict, Message, Verdict } from "../../api/types";
import { t } from "../../lib/strings";
import type { Mark } from "../../ui/markdown/marks";
import { sentence } from "../../ui/states";

export const VERDICTS: readonly Verdict[] = ["grounded", "contradicted", "contested", "ungrounded"];

/** Where several claims lie on the same words, the gravest is shown; among the harmless ones, what is proven. */
const RANK: Record<Verdict, number> = { contradicted: 3, contested: 2, grounded: 1, ungrounded: 0 };

export function belnapOf(message: Message): Belnap | null {
  const found = message.metadata.belnap;
  return found && Array.isArray(found.claims) ? found : null;
}

/** UTF-16 offsets of code-point offsets, which must ascend. */
export function utf16(text: string, points: readonly number[]): number[] {
  const out: number[] = [];
  let unit = 0;
  let point = 0;
  for (const wanted of points) {
    while (point < wanted && unit < text.length) {
      unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
      point += 1;
    }
    out.push(unit);
  }
  return out;
}

/**
 * The stretches of the text that are marked: at each place the shortest claim there, and of equally long ones
 * the gravest. `only` leaves the other verdicts unmarked.
 */
export function marksOf(text: string, claims: readonly ClaimVerdict[], only: Verdict | null): Mark[] {
  const shown = claims
    .map((claim, index) => ({ claim, index }))
    .filter(({ claim }) => claim.span[1] > claim.span[0] && (only === null || claim.verdict === only));
  const borders = [...new Set(shown.flatMap(({ claim }) => claim.span))].sort((a, b) => a - b);
  const units = utf16(text, borders);
  const marks: Mark[] = [];
  for (let i = 0; i + 1 < borders.length; i += 1) {
    const from = borders[i] ?? 0;
    const to = borders[i + 1] ?? 0;
    let best: (typeof shown)[number] | null = null;
    for (const one of shown) {
      if (one.claim.span[0] > from || one.claim.span[1] < to) continue;
      if (best === null || before(one.claim, best.claim)) best = one;
    }
    if (best === null) continue;
    const id = String(best.index);
    const last = marks.at(-1);
    const start = units[i] ?? 0;
    const end = units[i + 1] ?? 0;
    if (last !== undefined && last.id === id && last.end === start) last.end = end;
    else marks.push({ start, end, id, kind: best.claim.verdict });
  }
  return marks;
}

function before(a: ClaimVerdict, b: ClaimVerdict): boolean {
  const grave = (claim: ClaimVerdict) => RANK[claim.verdict] >= 2;
  if (grave(a) !== grave(b)) return grave(a);
  const length = (claim: ClaimVerdict) => claim.span[1] - claim.span[0];
  if (length(a) !== length(b)) return length(a) < length(b);
  return RANK[a.verdict] > RANK[b.verdict];
}

/** One line for a pointer that rests on a claim. */
export function verdictLine(claim: ClaimVerdict): string {
  const why = claim.reason ? sentence(claim.reason) : t.verdicts.meaning[claim.verdict];
  return `${t.verdicts.title[claim.verdict]} ${why}`;
}

const HIDDEN = "qadra.verdicts.hidden";

export function marksHidden(): boolean {
  try {
    return localStorage.getItem(HIDDEN) === "1";
  } catch {
    return false;
  }
}

export function hideMarks(hidden: boolean): void {
  try {
    if (hidden) localStorage.setItem(HIDDEN, "1");
    else localStorage.removeItem(HIDDEN);
  } catch {
    // Without storage the choice lasts until the page is left.
  }
  for (const listener of listeners) listener();
}

const listeners = new Set<() => void>();

export function onMarksChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
