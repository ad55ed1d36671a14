import { t } from "../../lib/strings";

/** A value as it is shown and typed: a text as it is, everything else as JSON. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return JSON.stringify(value);
  // A text that would read as something else keeps its quotes.
  return parseValue(value) === value ? value : JSON.stringify(value);
}

/** What was typed, as a value: JSON where it is JSON, otherwise the words; null for nothing. */
export function parseValue(text: string): unknown {
  const clean = text.trim();
  if (clean === "") return null;
  try {
    return JSON.parse(clean) as unknown;
  } catch {
    return clean;
  }
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** "in 3 days", in whole units. */
export function expiryText(at: string, now: number): string {
  const seconds = Math.max(0, (Date.parse(at) - now) / 1000);
  for (const [unit, size] of UNITS)
    if (seconds >= size)
      return new Intl.RelativeTimeFormat("en", { numeric: "always" }).format(
        Math.floor(seconds / size),
        unit,
      );
  return t.memory.soon;
}
