import { describe, expect, it } from "vitest";
import type { NodeEvent } from "../../api/knowledge-types";
import { standing } from "./merging";

const event = (id: string, kind: NodeEvent["kind"], other: string, undone_at: string | null = null) =>
  ({ id, kind, other: { id: other, label: other }, undone_at }) as NodeEvent;

describe("standing", () => {
  it("is the newest event of that kind with that name which was not undone", () => {
    const events = [
      event("5", "merge", "x", "2026-11-30T00:00:00Z"),
      event("4", "split", "x"),
      event("3", "merge", "x"),
      event("2", "merge", "y"),
      event("1", "merge", "x"),
    ];
    expect(standing(events, "merge", "x")?.id).toBe("3");
    expect(standing(events, "split", "x")?.id).toBe("4");
    expect(standing(events, "split", "y")).toBeNull();
  });
});
