// How much text is still allowed, and how much a model will read.

/** The server's limit for one message, counted in Unicode code points. */
export const MESSAGE_LIMIT = 100_000;
const WARN_BELOW = 2_000;

export function codePoints(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    const pair = unit >= 0xd800 && unit <= 0xdbff && i + 1 < text.length;
    const low = pair ? text.charCodeAt(i + 1) : 0;
    if (pair && low >= 0xdc00 && low <= 0xdfff) i += 1;
    count += 1;
  }
  return count;
}

/** A rough token count for English text: four characters each. Shown as "about". */
export function roughTokens(text: string): number {
  return Math.ceil(codePoints(text) / 4);
}

export interface Budget {
  left: number;
  /** quiet: plenty left; near: worth telling; over: cannot be sent. */
  state: "quiet" | "near" | "over";
}

export function budget(text: string, limit = MESSAGE_LIMIT): Budget {
  // A code point is at most two units, so a short text needs no counting.
  const left = limit - (text.length <= limit - WARN_BELOW ? text.length : codePoints(text));
  return { left, state: left < 0 ? "over" : left < WARN_BELOW ? "near" : "quiet" };
}

/** Cuts at a word where one is near, and says so with an ellipsis. */
export function clip(text: string, limit: number): string {
  const flat = text.replace(/\s+/g, " ").trim();
  const points = [...flat];
  if (points.length <= limit) return flat;
  const cut = points.slice(0, Math.max(0, limit - 1)).join("");
  const space = points[limit - 1] === " " ? cut.length : cut.lastIndexOf(" ");
  const kept = space > cut.length * 0.6 ? cut.slice(0, space) : cut;
  return `${kept.replace(/[\s,;:.]+$/, "")}…`;
}
