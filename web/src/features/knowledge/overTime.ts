import type { Triple } from "../../api/types";

const DAY = 86_400_000;

export interface Bar {
  fact: Triple;
  /** Where it starts and ends, 0 to 1 of the axis. */
  from: number;
  to: number;
  /** Without a date on that side it reaches over the end of the axis. */
  openStart: boolean;
  openEnd: boolean;
}

export interface Timeline {
  bars: Bar[];
  ticks: { at: number; label: string }[];
  /** Where today stands, when it is on the axis. */
  today: number | null;
}

function day(text: string | null): number | null {
  if (text === null) return null;
  const at = Date.parse(text.slice(0, 10));
  return Number.isNaN(at) ? null : at;
}

export function hasDates(facts: Triple[]): boolean {
  return facts.some((fact) => day(fact.valid_from) !== null || day(fact.valid_to) !== null);
}

/** The facts of one relation along the years; null when none of them has a date. */
export function timelineOf(facts: Triple[], now: number): Timeline | null {
  const dated = facts
    .map((fact) => ({ fact, from: day(fact.valid_from), to: day(fact.valid_to) }))
    .filter(({ from, to }) => from !== null || to !== null);
  if (dated.length === 0) return null;
  const ends = dated.flatMap(({ from, to }) => [from, to]).filter((one) => one !== null) as number[];
  let low = Math.min(...ends);
  let high = Math.max(...ends);
  // An open end means that it still holds, so today belongs on the axis.
  if (dated.some(({ to }) => to === null)) high = Math.max(high, now);
  const room = Math.max((high - low) * 0.04, 20 * DAY);
  low -= room;
  high += room;
  const place = (at: number) => (at - low) / (high - low);
  const bars = dated
    .map(({ fact, from, to }) => ({
      fact,
      from: from === null ? 0 : place(from),
      to: to === null ? 1 : place(to),
      openStart: from === null,
      openEnd: to === null,
    }))
    .sort((a, b) => a.from - b.from || a.to - b.to);
  return { bars, ticks: ticks(low, high, place), today: now > low && now < high ? place(now) : null };
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

function ticks(low: number, high: number, place: (at: number) => number) {
  const first = new Date(low).getUTCFullYear() + 1;
  const last = new Date(high).getUTCFullYear();
  const years = last - first + 1;
  if (years < 2) {
    const out = [];
    const months = Math.max(1, Math.ceil((high - low) / (31 * DAY) / 5));
    const start = new Date(low);
    for (let i = 1; i < 60; i += months) {
      const at = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + i, 1);
      if (at >= high) break;
      const label = new Date(at).toLocaleDateString([], { month: "short", year: "numeric", timeZone: "UTC" });
      out.push({ at: place(at), label });
    }
    return out;
  }
  const step = STEPS.find((one) => years / one <= 7) ?? 1000;
  const out = [];
  for (let year = Math.ceil(first / step) * step; year <= last; year += step)
    out.push({ at: place(Date.UTC(year, 0, 1)), label: String(year) });
  return out;
}
