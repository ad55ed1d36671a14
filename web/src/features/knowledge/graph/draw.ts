import type { Colours } from "./colours";
import { bucketOf, type Shade, type Shown } from "./model";
import { radiusOf } from "./useLayout";

export interface View {
  /** Screen = world * k + (x, y). */
  k: number;
  x: number;
  y: number;
}

export interface Scene {
  shown: Shown;
  places: Float32Array;
  shade: Shade;
  centers: ReadonlySet<string>;
  conflicts: ReadonlySet<string>;
  selected: number | null;
  hovered: number | null;
  /** Whether an expansion of the name at this place may bring something. */
  more: (place: number) => boolean;
}

/** With more lines than this in sight, a frame has no time for what decorates each of them. */
export const MANY_EDGES = 1200;
const LABELS = 160;
const LABELS_DENSE = 60;
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const widths = new Map<string, number>();

/** Measuring is slow, and the same few thousand words are drawn again and again. */
function textWidth(ctx: CanvasRenderingContext2D, text: string): number {
  const key = `${ctx.font} ${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 20_000) widths.clear();
    width = ctx.measureText(text).width;
    widths.set(key, width);
  }
  return width;
}

function short(label: string): string {
  return label.length > 34 ? `${label.slice(0, 32)}…` : label;
}

/** How large a node is on the screen: grows with zoom, but slower than the distances. */
export function sizeAt(degree: number, k: number): number {
  return radiusOf(degree) * Math.min(1.6, Math.max(0.45, Math.sqrt(k)));
}

type Place = (i: number) => number;

interface Frame {
  ctx: CanvasRenderingContext2D;
  scene: Scene;
  k: number;
  sx: Place;
  sy: Place;
  size: { width: number; height: number };
  colours: Colours;
}

function frameOf(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  view: View,
  size: { width: number; height: number },
  colours: Colours,
): Frame {
  const { places } = scene;
  return {
    ctx,
    scene,
    k: view.k,
    sx: (i) => (places[2 * i] ?? 0) * view.k + view.x,
    sy: (i) => (places[2 * i + 1] ?? 0) * view.k + view.y,
    size,
    colours,
  };
}

function inSight({ size }: Frame, x: number, y: number, room: number): boolean {
  return x > -room && y > -room && x < size.width + room && y < size.height + room;
}

/**
 * Draws everything but what the pointer and the choice add, which `drawFocus` puts on a layer above. Lines of one
 * look are one path, and thin ones where there are many: both are what makes thousands of them cheap.
 */
export function drawBase(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  view: View,
  size: { width: number; height: number },
  colours: Colours,
) {
  const frame = frameOf(ctx, scene, view, size, colours);
  const { sx, sy, k } = frame;
  const { shown } = scene;
  ctx.clearRect(0, 0, size.width, size.height);

  const plain = new Map<number, Path2D>();
  const dashed = new Map<number, Path2D>();
  const conflicts: number[] = [];
  const visible: number[] = [];
  for (let at = 0; at < shown.edges.length; at += 1) {
    const edge = shown.edges[at];
    if (!edge) continue;
    const a = shown.index.get(edge.subject) as number;
    const b = shown.index.get(edge.object) as number;
    const ax = sx(a);
    const ay = sy(a);
    const bx = sx(b);
    const by = sy(b);
    if (
      Math.max(ax, bx) < 0 ||
      Math.min(ax, bx) > size.width ||
      Math.max(ay, by) < 0 ||
      Math.min(ay, by) > size.height
    )
      continue;
    visible.push(at);
    if (scene.conflicts.has(edge.id)) {
      conflicts.push(at);
      continue;
    }
    const bucket = bucketOf(scene.shade.of(edge.curvature));
    const group = edge.polarity === "-" ? dashed : plain;
    let path = group.get(bucket);
    if (!path) {
      path = new Path2D();
      group.set(bucket, path);
    }
    path.moveTo(ax, ay);
    path.lineTo(bx, by);
  }
  const dense = visible.length > MANY_EDGES;
  ctx.lineWidth = dense ? 0.8 : 1.4;
  ctx.globalAlpha = dense ? 0.65 : 0.9;
  for (const [bucket, path] of plain) {
    ctx.strokeStyle = colours.steps[bucket] ?? colours.muted;
    ctx.stroke(path);
  }
  ctx.setLineDash([5, 4]);
  for (const [bucket, path] of dashed) {
    ctx.strokeStyle = colours.steps[bucket] ?? colours.muted;
    ctx.stroke(path);
  }
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
  if (!dense && k > 0.45) for (const at of visible) arrow(frame, at);
  for (const at of conflicts) clash(frame, at);

  const seen: number[] = [];
  const dots = new Path2D();
  for (let i = 0; i < shown.nodes.length; i += 1) {
    const node = shown.nodes[i];
    if (!node) continue;
    const x = sx(i);
    const y = sy(i);
    const r = sizeAt(node.degree, k);
    if (!inSight(frame, x, y, r)) continue;
    seen.push(i);
    if (scene.centers.has(node.id)) continue;
    dots.moveTo(x + r, y);
    dots.arc(x, y, r, 0, 2 * Math.PI);
  }
  ctx.fillStyle = colours.node;
  ctx.fill(dots);
  if (!dense) {
    ctx.lineWidth = 1.5;
    ctx.strokeStyle = colours.page;
    ctx.stroke(dots);
  }
  for (const i of seen) {
    const node = shown.nodes[i];
    if (!node) continue;
    if (scene.centers.has(node.id)) dot(frame, i, colours.accent);
    if (!dense && k > 0.6 && scene.more(i)) more(frame, i);
  }
  const degree = (i: number) => shown.nodes[i]?.degree ?? 0;
  const weight = (i: number) => (scene.centers.has(shown.nodes[i]?.id ?? "") ? 1e7 : degree(i));
  labels(frame, seen, weight, dense ? LABELS_DENSE : LABELS, []);
}

/** What belongs to the name under the pointer, or else to the chosen one: its lines, neighbours and words. */
export function drawFocus(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  view: View,
  size: { width: number; height: number },
  colours: Colours,
) {
  const frame = frameOf(ctx, scene, view, size, colours);
  const { sx, sy } = frame;
  const { shown, selected, hovered } = scene;
  ctx.clearRect(0, 0, size.width, size.height);
  const focus = hovered ?? selected;
  if (focus !== null) {
    const near = shown.incident[focus] ?? [];
    const around = new Set([focus]);
    ctx.lineWidth = 2;
    for (const at of near) {
      const edge = shown.edges[at];
      if (!edge) continue;
      const a = shown.index.get(edge.subject) as number;
      const b = shown.index.get(edge.object) as number;
      around.add(a);
      around.add(b);
      if (scene.conflicts.has(edge.id)) {
        clash(frame, at);
        continue;
      }
      ctx.strokeStyle = colours.steps[bucketOf(scene.shade.of(edge.curvature))] ?? colours.muted;
      ctx.lineWidth = 2;
      ctx.setLineDash(edge.polarity === "-" ? [5, 4] : []);
      ctx.beginPath();
      ctx.moveTo(sx(a), sy(a));
      ctx.lineTo(sx(b), sy(b));
      ctx.stroke();
      ctx.setLineDash([]);
      arrow(frame, at);
    }
    const seen = [...around].filter((i) => inSight(frame, sx(i), sy(i), 20));
    for (const i of seen) {
      dot(frame, i, scene.centers.has(shown.nodes[i]?.id ?? "") ? colours.accent : colours.node);
      if (scene.more(i)) more(frame, i);
    }
    const degree = (i: number) => shown.nodes[i]?.degree ?? 0;
    const taken = labels(frame, seen, (i) => (i === focus ? 1e9 : degree(i)), LABELS, [focus]);
    edgeLabels(frame, near, focus, taken);
  }
  for (const i of new Set([selected, hovered])) {
    if (i === null) continue;
    ctx.beginPath();
    ctx.arc(sx(i), sy(i), sizeAt(shown.nodes[i]?.degree ?? 1, frame.k) + 3, 0, 2 * Math.PI);
    ctx.lineWidth = 2;
    ctx.strokeStyle = colours.accent;
    ctx.stroke();
  }
}

function dot({ ctx, scene, k, sx, sy, colours }: Frame, i: number, colour: string) {
  ctx.beginPath();
  ctx.arc(sx(i), sy(i), sizeAt(scene.shown.nodes[i]?.degree ?? 1, k), 0, 2 * Math.PI);
  ctx.fillStyle = colour;
  ctx.fill();
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = colours.page;
  ctx.stroke();
}

/** A small plus: there is more around this name. */
function more({ ctx, scene, k, sx, sy, colours }: Frame, i: number) {
  const r = sizeAt(scene.shown.nodes[i]?.degree ?? 1, k);
  const x = sx(i) + r * 0.8;
  const y = sy(i) - r * 0.8;
  ctx.beginPath();
  ctx.arc(x, y, 5, 0, 2 * Math.PI);
  ctx.fillStyle = colours.page;
  ctx.fill();
  ctx.lineWidth = 1.4;
  ctx.strokeStyle = colours.accent;
  ctx.beginPath();
  ctx.moveTo(x - 3, y);
  ctx.lineTo(x + 3, y);
  ctx.moveTo(x, y - 3);
  ctx.lineTo(x, y + 3);
  ctx.stroke();
}

interface Box {
  x: number;
  y: number;
  w: number;
}

function fits(box: Box, taken: Box[]): boolean {
  return !taken.some(
    (other) => box.x < other.x + other.w + 6 && other.x < box.x + box.w + 6 && Math.abs(box.y - other.y) < 15,
  );
}

function ends({ scene }: Frame, at: number): [number, number] | null {
  const edge = scene.shown.edges[at];
  if (!edge) return null;
  return [scene.shown.index.get(edge.subject) as number, scene.shown.index.get(edge.object) as number];
}

function arrow(frame: Frame, at: number) {
  const { ctx, scene, k, sx, sy, colours } = frame;
  const edge = scene.shown.edges[at];
  const pair = ends(frame, at);
  if (!edge || !pair) return;
  const [a, b] = pair;
  const dx = sx(b) - sx(a);
  const dy = sy(b) - sy(a);
  const length = Math.hypot(dx, dy);
  const r = sizeAt(scene.shown.nodes[b]?.degree ?? 1, k) + 2;
  if (length < r + 14) return;
  const ux = dx / length;
  const uy = dy / length;
  const x = sx(b) - ux * r;
  const y = sy(b) - uy * r;
  ctx.fillStyle = scene.conflicts.has(edge.id)
    ? colours.danger
    : (colours.steps[bucketOf(scene.shade.of(edge.curvature))] ?? colours.muted);
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(x - ux * 7 - uy * 3.5, y - uy * 7 + ux * 3.5);
  ctx.lineTo(x - ux * 7 + uy * 3.5, y - uy * 7 - ux * 3.5);
  ctx.fill();
}

/** A statement that another one contradicts: a double line with a cross. */
function clash(frame: Frame, at: number) {
  const { ctx, sx, sy, colours } = frame;
  const pair = ends(frame, at);
  if (!pair) return;
  const [ax, ay, bx, by] = [sx(pair[0]), sy(pair[0]), sx(pair[1]), sy(pair[1])];
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const nx = (-(by - ay) / length) * 2;
  const ny = ((bx - ax) / length) * 2;
  ctx.strokeStyle = colours.danger;
  ctx.lineWidth = 1.2;
  ctx.beginPath();
  ctx.moveTo(ax + nx, ay + ny);
  ctx.lineTo(bx + nx, by + ny);
  ctx.moveTo(ax - nx, ay - ny);
  ctx.lineTo(bx - nx, by - ny);
  ctx.stroke();
  arrow(frame, at);
  const x = (ax + bx) / 2;
  const y = (ay + by) / 2;
  ctx.fillStyle = colours.page;
  ctx.beginPath();
  ctx.arc(x, y, 7, 0, 2 * Math.PI);
  ctx.fill();
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(x - 4, y - 4);
  ctx.lineTo(x + 4, y + 4);
  ctx.moveTo(x + 4, y - 4);
  ctx.lineTo(x - 4, y + 4);
  ctx.stroke();
}

function words({ ctx, colours }: Frame, text: string, box: Box, colour: string) {
  ctx.lineWidth = 3;
  ctx.strokeStyle = colours.page;
  ctx.strokeText(text, box.x, box.y);
  ctx.fillStyle = colour;
  ctx.fillText(text, box.x, box.y);
}

/** Labels where they fit, the weighty ones first; they never lie over each other. */
function labels(
  frame: Frame,
  seen: number[],
  weight: (i: number) => number,
  most: number,
  loud: number[],
): Box[] {
  const { ctx, scene, k, sx, sy, colours } = frame;
  ctx.font = FONT;
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  const taken: Box[] = [];
  for (const i of [...seen].sort((a, b) => weight(b) - weight(a))) {
    if (taken.length >= most) break;
    const node = scene.shown.nodes[i];
    if (!node) continue;
    const text = short(node.label);
    const w = textWidth(ctx, text);
    const box = { x: sx(i) - w / 2, y: sy(i) + sizeAt(node.degree, k) + 10, w };
    if (!fits(box, taken)) continue;
    taken.push(box);
    words(frame, text, box, loud.includes(i) ? colours.accent : colours.text);
  }
  return taken;
}

/** Words on the lines of one name, towards the other end, where they are further apart. */
function edgeLabels(frame: Frame, near: number[], focus: number, taken: Box[]) {
  const { ctx, scene, sx, sy, colours } = frame;
  ctx.font = FONT.replace("12px", "11px");
  let drawn = 0;
  for (const at of near) {
    if (drawn >= 40) return;
    const edge = scene.shown.edges[at];
    const pair = ends(frame, at);
    if (!edge || !pair || scene.conflicts.has(edge.id)) continue;
    const far = pair[0] === focus ? pair[1] : pair[0];
    const dx = sx(far) - sx(focus);
    const dy = sy(far) - sy(focus);
    if (Math.hypot(dx, dy) < 90) continue;
    const text = edge.label || edge.predicate.replace(/_/g, " ");
    const w = textWidth(ctx, text);
    const box = { x: sx(focus) + dx * 0.62 - w / 2, y: sy(focus) + dy * 0.62, w };
    if (!fits(box, taken)) continue;
    taken.push(box);
    drawn += 1;
    words(frame, text, box, colours.muted);
  }
}
