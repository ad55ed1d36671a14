import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type Simulation,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from "d3-force";

// Arranges a graph away from the page's own thread. What has a place already keeps it, so that an expansion
// moves nothing that somebody has looked at.

export interface Arrange {
  run: number;
  /** x and y of each node; NaN where it has no place yet. */
  places: Float32Array;
  /** The node beside which a new one starts, or -1. */
  beside: Int32Array;
  radii: Float32Array;
  /** Pairs of nodes. */
  links: Int32Array;
}

export interface Arranged {
  run: number;
  places: Float32Array;
  done: boolean;
}

/** Small graphs are ready within this time and appear at rest; large ones are shown while they settle. */
const QUIET_MS = 500;
const SHOW_EVERY_MS = 120;
const SHOW_EVERY_LARGE_MS = 700;
const SLICE_MS = 40;
const LARGE = 800;

interface Node extends SimulationNodeDatum {
  radius: number;
}

let current: { run: number; stop: boolean } = { run: 0, stop: false };

self.onmessage = (event: MessageEvent<Arrange>) => {
  current.stop = true;
  const task = { run: event.data.run, stop: false };
  current = task;
  const { nodes, simulation } = prepare(event.data);
  const started = performance.now();
  let shown = started;
  const every = nodes.length > LARGE ? SHOW_EVERY_LARGE_MS : SHOW_EVERY_MS;
  const step = () => {
    if (task.stop) return;
    const slice = performance.now();
    while (simulation.alpha() > simulation.alphaMin() && performance.now() - slice < SLICE_MS)
      simulation.tick();
    const now = performance.now();
    const done = simulation.alpha() <= simulation.alphaMin();
    if (done || (now - started > QUIET_MS && now - shown > every)) {
      shown = now;
      send(task.run, nodes, done);
    }
    if (!done) setTimeout(step);
  };
  step();
};

function prepare({ places, beside, radii, links }: Arrange): {
  nodes: Node[];
  simulation: Simulation<Node, undefined>;
} {
  let fixed = 0;
  const nodes: Node[] = Array.from({ length: radii.length }, (_, i) => {
    const x = places[2 * i] ?? Number.NaN;
    const y = places[2 * i + 1] ?? Number.NaN;
    const radius = radii[i] ?? 5;
    if (Number.isNaN(x)) return { index: i, radius };
    fixed += 1;
    return { index: i, radius, x, y, fx: x, fy: y };
  });
  nodes.forEach((node, i) => {
    const by = nodes[beside[i] ?? -1];
    if (node.x !== undefined || by?.x === undefined || by.y === undefined) return;
    // A sunflower around the name that was expanded: even, and the same each time.
    const angle = i * 2.39996;
    const distance = 30 + 4 * Math.sqrt(i % 400);
    node.x = by.x + distance * Math.cos(angle);
    node.y = by.y + distance * Math.sin(angle);
  });
  const pairs: SimulationLinkDatum<Node>[] = [];
  for (let i = 0; i + 1 < links.length; i += 2)
    pairs.push({ source: links[i] as number, target: links[i + 1] as number });
  const large = nodes.length > LARGE;
  const simulation = forceSimulation(nodes)
    .force("link", forceLink(pairs).distance(large ? 50 : 80))
    .force(
      "charge",
      forceManyBody()
        .strength(large ? -60 : -220)
        .theta(large ? 1.1 : 0.9)
        .distanceMax(large ? 700 : 1200),
    )
    .force("x", forceX(0).strength(0.05))
    .force("y", forceY(0).strength(0.06))
    .force(
      "collide",
      forceCollide<Node>((node) => node.radius + (large ? 2 : 8)),
    )
    .alphaDecay(large ? 0.035 : 0.0228)
    .stop();
  if (fixed > 0) simulation.alpha(0.6);
  return { nodes, simulation };
}

function send(run: number, nodes: Node[], done: boolean) {
  const places = new Float32Array(nodes.length * 2);
  nodes.forEach((node, i) => {
    places[2 * i] = node.x ?? 0;
    places[2 * i + 1] = node.y ?? 0;
  });
  const message: Arranged = { run, places, done };
  self.postMessage(message, { transfer: [places.buffer] });
}
