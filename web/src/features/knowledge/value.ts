/** A typed value: a plain number or yes/no word travels as such, everything else as text. */
export function objectValue(text: string): string | number | boolean {
  const clean = text.trim();
  if (clean === "true" || clean === "false") return clean === "true";
  // Leading zeros and long digit runs are identifiers, and would change as numbers.
  if (/^-?(0|[1-9]\d{0,14})(\.\d{1,12})?$/.test(clean)) return Number(clean);
  return clean;
}

/** Percent as typed to 0–1; null when it is not a percentage. */
export function confidenceOf(text: string): number | null {
  const clean = text.trim().replace(/%$/, "").replace(",", ".");
  if (!/^\d{1,3}(\.\d+)?$/.test(clean)) return null;
  const value = Number(clean);
  return value > 100 ? null : Math.round(value * 100) / 10_000;
}
