import { describe, expect, it } from "vitest";
import type { GraphEdge, GraphNode } from "../../../api/knowledge-types";
import {
  bucketOf,
  grow,
  hiddenAround,
  neighbours,
  nothing,
  only,
  predicatesOf,
  shadeOf,
  towards,
} from "./model";

const node = (id: string, degree = 1): GraphNode => ({ id, label: id, kind: null, degree, hop: 0 });
const edge = (subject: string, object: string, more: Partial<GraphEdge> = {}): GraphEdge => ({
  id: `${subject}${object}`,
  subject,
  object,
  predicate: "owns",
  label: "owns",
  polarity: "+",
  kind: "fact",
  confidence: 1,
  curvature: 0,
  ...more,
});
const start = grow(nothing, {
  nodes: [node("a", 3), node("b"), node("c")],
  edges: [edge("a", "b"), edge("c", "a")],
  truncated: false,
});

describe("grow", () => {
  it("keeps the places of what is there, and adds each name and edge once", () => {
    const more = grow(start, {
      nodes: [node("b"), node("d")],
      edges: [edge("a", "b"), edge("b", "d")],
      truncated: false,
    });
    expect(more.nodes.map((one) => one.id)).toEqual(["a", "b", "c", "d"]);
    expect(more.edges.map((one) => one.id)).toEqual(["ab", "ca", "bd"]);
    expect(neighbours(more, 1)).toEqual([0, 3]);
  });

  it("leaves out edges that lead to a name that is not shown", () => {
    expect(grow(nothing, { nodes: [node("a")], edges: [edge("a", "x")], truncated: true }).edges).toEqual([]);
  });

  it("counts a loop once", () => {
    const loop = grow(nothing, { nodes: [node("a", 1)], edges: [edge("a", "a")], truncated: false });
    expect(hiddenAround(loop, 0)).toBe(0);
    expect(neighbours(loop, 0)).toEqual([]);
  });
});

describe("what is not on the screen", () => {
  it("is the degree less the edges shown", () => {
    expect(hiddenAround(start, 0)).toBe(1);
    expect(hiddenAround(start, 1)).toBe(0);
  });
});

describe("only", () => {
  const mixed = grow(start, {
    nodes: [node("d")],
    edges: [edge("a", "d", { predicate: "supplies", label: "supplies" })],
    truncated: false,
  });
  it("keeps the names that still hang together, and those asked for", () => {
    const some = only(mixed, "supplies", new Set(["c"]));
    expect(some.nodes.map((one) => one.id)).toEqual(["a", "c", "d"]);
    expect(some.edges).toHaveLength(1);
    expect(only(mixed, "", new Set())).toBe(mixed);
  });
  it("lists predicates by how often they occur", () => {
    expect(predicatesOf(mixed).map((one) => [one.name, one.count])).toEqual([
      ["owns", 2],
      ["supplies", 1],
    ]);
  });
});

describe("towards", () => {
  const around = [
    { place: 1, x: 10, y: 0 },
    { place: 2, x: 0, y: -8 },
    { place: 3, x: 30, y: 1 },
  ];
  it("takes the nearest in that direction", () => {
    expect(towards({ x: 0, y: 0 }, around, { x: 1, y: 0 })).toBe(1);
    expect(towards({ x: 0, y: 0 }, around, { x: 0, y: -1 })).toBe(2);
    expect(towards({ x: 0, y: 0 }, around, { x: -1, y: 0 })).toBeNull();
  });
});

describe("shade", () => {
  it("keeps zero in the middle and each sign on its side", () => {
    const shade = shadeOf([-40, -20, -2, 0, 1, 2].map((curvature, i) => edge("a", `${i}`, { curvature })));
    expect(shade.of(0)).toBe(0);
    expect(shade.of(null)).toBe(0);
    expect(shade.of(-40)).toBe(-1);
    expect(shade.of(-20)).toBe(-0.5);
    expect(shade.of(2)).toBe(1);
    expect(bucketOf(-1)).toBe(0);
    expect(bucketOf(0)).toBe(4);
    expect(bucketOf(1)).toBe(8);
  });
  it("is even when nothing is known", () => {
    expect(shadeOf([]).of(-3)).toBe(0);
    expect(shadeOf([edge("a", "b", { curvature: Number.NaN })]).of(1)).toBe(0);
  });
});
