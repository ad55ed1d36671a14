import { describe, expect, it } from "vitest";
import type { Triple } from "../../api/types";
import { hasDates, timelineOf } from "./overTime";

const fact = (valid_from: string | null, valid_to: string | null) => ({ valid_from, valid_to }) as Triple;
const now = Date.parse("2026-11-30");

describe("timelineOf", () => {
  it("is absent without dates", () => {
    expect(timelineOf([fact(null, null)], now)).toBeNull();
    expect(hasDates([fact(null, null)])).toBe(false);
    expect(hasDates([fact(null, "2020-01-01")])).toBe(true);
  });

  it("orders facts by their beginning and keeps them on the axis", () => {
    const line = timelineOf(
      [fact("2017-01-01", "2025-08-07"), fact("2000-11-01", "2016-12-31"), fact(null, null)],
      now,
    );
    expect(line?.bars.map((bar) => bar.fact.valid_from)).toEqual(["2000-11-01", "2017-01-01"]);
    for (const bar of line?.bars ?? []) {
      expect(bar.from).toBeGreaterThanOrEqual(0);
      expect(bar.to).toBeLessThanOrEqual(1);
      expect(bar.to).toBeGreaterThan(bar.from);
    }
    expect(line?.ticks.map((tick) => tick.label)).toEqual(["2000", "2005", "2010", "2015", "2020", "2025"]);
  });

  it("reaches to today where the end is open", () => {
    const line = timelineOf([fact("2020-01-01", null)], now);
    expect(line?.bars[0]).toMatchObject({ to: 1, openEnd: true, openStart: false });
    expect(line?.today).toBeGreaterThan(0.8);
  });

  it("shows months when everything happens within a year", () => {
    const line = timelineOf([fact("2024-03-01", "2024-06-30")], now);
    expect(line?.ticks.length).toBeGreaterThan(1);
    expect(line?.ticks.length).toBeLessThan(8);
    expect(line?.today).toBeNull();
  });
});
