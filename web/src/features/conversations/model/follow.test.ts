import { describe, expect, it } from "vitest";
import { distanceToEnd, nextFollow } from "./follow";

const at = (top: number, height = 2000, client = 500) => ({ top, height, client });

describe("nextFollow", () => {
  it("follows as long as the view is at the end", () => {
    expect(nextFollow(true, at(1500), at(1500))).toBe(true);
    expect(nextFollow(false, at(1400), at(1480))).toBe(true);
  });

  it("stops when the reader moves up", () => {
    expect(nextFollow(true, at(1500), at(1300))).toBe(false);
  });

  it("goes on when the content grew below and nobody moved", () => {
    expect(nextFollow(true, at(1500), at(1500, 2400))).toBe(true);
  });

  it("does not start because of growth", () => {
    expect(nextFollow(false, at(900), at(900, 2400))).toBe(false);
  });

  it("does not take a smaller content or window for the reader's move", () => {
    expect(nextFollow(true, at(1500), at(1000, 1600))).toBe(true);
    expect(nextFollow(true, at(1500, 2000, 500), at(1400, 2000, 440))).toBe(true);
  });
});

describe("positions", () => {
  it("measures the way to the end and never below zero", () => {
    expect(distanceToEnd(at(1200))).toBe(300);
    expect(distanceToEnd(at(1600))).toBe(0);
  });
});
