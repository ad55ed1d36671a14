import { BUCKETS } from "./model";

// A diverging scale from orange over grey to blue: told apart with every common kind of colour blindness, and
// each step holds 3:1 against the page.
const ENDS = {
  light: { low: [178, 88, 6], middle: [143, 147, 158], high: [24, 84, 164] },
  dark: { low: [244, 165, 82], middle: [112, 118, 132], high: [125, 178, 245] },
} as const;

export interface Colours {
  steps: string[];
  text: string;
  muted: string;
  page: string;
  node: string;
  accent: string;
  danger: string;
}

function mix(a: readonly number[], b: readonly number[], share: number): string {
  const part = a.map((value, i) => Math.round(value + ((b[i] ?? 0) - value) * share));
  return `rgb(${part.join(" ")})`;
}

export function scale(dark: boolean): string[] {
  const { low, middle, high } = dark ? ENDS.dark : ENDS.light;
  const half = (BUCKETS - 1) / 2;
  return Array.from({ length: BUCKETS }, (_, i) =>
    i <= half ? mix(low, middle, i / half) : mix(middle, high, (i - half) / half),
  );
}

/** The colours of the page, read from its tokens. */
export function coloursOf(element: Element, dark: boolean): Colours {
  const style = getComputedStyle(element);
  const token = (name: string) => style.getPropertyValue(name).trim();
  return {
    steps: scale(dark),
    text: token("--text"),
    muted: token("--text-2"),
    page: token("--bg"),
    node: token("--text-3"),
    accent: token("--accent-text"),
    danger: token("--danger"),
  };
}
