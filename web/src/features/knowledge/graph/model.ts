import type { Graph, GraphEdge, GraphNode } from "../../../api/knowledge-types";
import type { Id } from "../../../api/types";

/** A graph as it is shown: grows when names are expanded, and knows its neighbours. */
export interface Shown {
  nodes: GraphNode[];
  edges: GraphEdge[];
  /** Place of each node in `nodes`. */
  index: ReadonlyMap<Id, number>;
  /** For each node the places of its edges in `edges`. */
  incident: number[][];
}

export const nothing: Shown = { nodes: [], edges: [], index: new Map(), incident: [] };

function build(nodes: GraphNode[], edges: GraphEdge[]): Shown {
  const index = new Map(nodes.map((node, place) => [node.id, place]));
  const incident: number[][] = nodes.map(() => []);
  const kept = edges.filter((edge) => index.has(edge.subject) && index.has(edge.object));
  kept.forEach((edge, place) => {
    const a = index.get(edge.subject) as number;
    const b = index.get(edge.object) as number;
    incident[a]?.push(place);
    if (b !== a) incident[b]?.push(place);
  });
  return { nodes, edges: kept, index, incident };
}

/** Adds what an expansion brought; what is there keeps its place. */
export function grow(shown: Shown, more: Graph): Shown {
  const nodes = [...shown.nodes];
  for (const node of more.nodes) if (!shown.index.has(node.id)) nodes.push(node);
  const known = new Set(shown.edges.map((edge) => edge.id));
  const edges = [...shown.edges, ...more.edges.filter((edge) => !known.has(edge.id))];
  return build(nodes, edges);
}

/** Leaves out the edges of other predicates, and the names that then hang on nothing. */
export function only(shown: Shown, predicate: string, keep: ReadonlySet<Id>): Shown {
  if (predicate === "") return shown;
  const edges = shown.edges.filter((edge) => edge.predicate === predicate);
  const linked = new Set(edges.flatMap((edge) => [edge.subject, edge.object]));
  return build(
    shown.nodes.filter((node) => linked.has(node.id) || keep.has(node.id)),
    edges,
  );
}

export function predicatesOf(shown: Shown): { name: string; label: string; count: number }[] {
  const found = new Map<string, { name: string; label: string; count: number }>();
  for (const edge of shown.edges) {
    const one = found.get(edge.predicate);
    if (one) one.count += 1;
    else found.set(edge.predicate, { name: edge.predicate, label: edge.label, count: 1 });
  }
  return [...found.values()].sort((a, b) => b.count - a.count || a.name.localeCompare(b.name));
}

/** Relations that the server knows of and that are not on the screen. */
export function hiddenAround(shown: Shown, place: number): number {
  const node = shown.nodes[place];
  return node ? Math.max(0, node.degree - (shown.incident[place]?.length ?? 0)) : 0;
}

export function neighbours(shown: Shown, place: number): number[] {
  const out = new Set<number>();
  for (const at of shown.incident[place] ?? []) {
    const edge = shown.edges[at];
    if (!edge) continue;
    const a = shown.index.get(edge.subject) as number;
    const b = shown.index.get(edge.object) as number;
    out.add(a === place ? b : a);
  }
  out.delete(place);
  return [...out];
}

/** The neighbour that lies most in a direction, near ones first; null when none lies there. */
export function towards(
  from: { x: number; y: number },
  candidates: { place: number; x: number; y: number }[],
  direction: { x: number; y: number },
): number | null {
  let best: number | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const one of candidates) {
    const dx = one.x - from.x;
    const dy = one.y - from.y;
    const along = dx * direction.x + dy * direction.y;
    if (along <= 0) continue;
    const across = Math.abs(dx * direction.y - dy * direction.x);
    const cost = along + 2.5 * across;
    if (cost < least) {
      least = cost;
      best = one.place;
    }
  }
  return best;
}

/** How strongly an edge is shaded: -1 (bridge) to 1 (inside a group). */
export interface Shade {
  of: (curvature: number | null) => number;
  low: number;
  high: number;
}

function quantile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** Zero stays in the middle; each side reaches full strength at its 95th percentile, so one outlier dims nothing. */
export function shadeOf(edges: GraphEdge[]): Shade {
  const values = edges
    .map((edge) => edge.curvature)
    .filter((one) => one !== null && Number.isFinite(one)) as number[];
  const below = values
    .filter((one) => one < 0)
    .map((one) => -one)
    .sort((a, b) => a - b);
  const above = values.filter((one) => one > 0).sort((a, b) => a - b);
  const low = quantile(below, 0.95);
  const high = quantile(above, 0.95);
  return {
    low: -low,
    high,
    of: (curvature) => {
      if (curvature === null || !Number.isFinite(curvature) || curvature === 0) return 0;
      if (curvature < 0) return low === 0 ? 0 : -Math.min(1, -curvature / low);
      return high === 0 ? 0 : Math.min(1, curvature / high);
    },
  };
}

export const BUCKETS = 9;

/** Shade as one of a few steps, so that edges of one colour are drawn together. */
export function bucketOf(shade: number): number {
  return Math.round(((shade + 1) / 2) * (BUCKETS - 1));
}
