import { Maximize, Minus, Plus } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Id } from "../../../api/types";
import { useTheme } from "../../../app/theme";
import { t } from "../../../lib/strings";
import { IconButton } from "../../../ui/Button";
import { type Colours, coloursOf } from "./colours";
import { drawBase, drawFocus, MANY_EDGES, type Scene, sizeAt, type View } from "./draw";
import { hiddenAround, neighbours, type Shown, shadeOf, towards } from "./model";
import { useLayout } from "./useLayout";

const MIN_K = 0.02;
const MAX_K = 6;
const CLICK_PX = 5;
/** A large picture is moved as it is, and drawn anew when the hand rests. */
const REST_MS = 90;

const DIRECTIONS: Record<string, { x: number; y: number }> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

/** The graph as a picture: pan, zoom, drag, choose and expand, with the mouse, a finger or the keyboard. */
export function GraphCanvas({
  shown,
  centers,
  conflicts,
  selected,
  onSelect,
  onExpand,
  settled,
}: {
  shown: Shown;
  centers: ReadonlySet<Id>;
  conflicts: ReadonlySet<Id>;
  selected: Id | null;
  onSelect: (id: Id | null) => void;
  onExpand?: ((id: Id) => void) | undefined;
  /** Names that were expanded already. */
  settled: ReadonlySet<Id>;
}) {
  const box = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  /** The view that the base was drawn for. */
  const drawn = useRef<View>({ k: 1, x: 0, y: 0 });
  const rest = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const view = useRef<View>({ k: 1, x: 0, y: 0 });
  const size = useRef({ width: 0, height: 0 });
  const colours = useRef<Colours | null>(null);
  const frame = useRef(0);
  const stale = useRef(true);
  const moved = useRef(false);
  const fitted = useRef(false);
  const hovered = useRef<number | null>(null);
  const { dark } = useTheme();
  const { layout, move } = useLayout(shown);
  const shade = useMemo(() => shadeOf(shown.edges), [shown]);
  const [over, setOver] = useState(false);

  const scene = useRef<Scene | null>(null);
  // A layout may still belong to what was shown before; then that is drawn.
  const ready = layout?.shown ?? null;
  scene.current =
    layout === null || ready === null
      ? null
      : {
          shown: ready,
          places: layout.places,
          shade,
          centers,
          conflicts,
          selected: selected === null ? null : (ready.index.get(selected) ?? null),
          hovered: hovered.current !== null && hovered.current < ready.nodes.length ? hovered.current : null,
          more: (place) =>
            onExpand !== undefined &&
            hiddenAround(ready, place) > 0 &&
            !settled.has(ready.nodes[place]?.id ?? ""),
        };

  const paint = useCallback((what: "all" | "focus" | "moved" = "all") => {
    cancelAnimationFrame(frame.current);
    if (what === "all") stale.current = true;
    if (what === "moved") moved.current = true;
    frame.current = requestAnimationFrame(() => {
      const [below, above] = [base.current, canvas.current];
      const [ground, layer] = [below?.getContext("2d"), above?.getContext("2d")];
      const current = scene.current;
      if (!below || !above || !ground || !layer || !current) return;
      colours.current ??= coloursOf(above, document.documentElement.dataset.theme === "dark");
      const ratio = window.devicePixelRatio || 1;
      const redraw = () => {
        clearTimeout(rest.current);
        stale.current = false;
        drawn.current = view.current;
        below.style.transform = "";
        ground.setTransform(ratio, 0, 0, ratio, 0, 0);
        if (scene.current && colours.current)
          drawBase(ground, scene.current, view.current, size.current, colours.current);
      };
      const large = current.shown.edges.length > MANY_EDGES;
      if (stale.current || (moved.current && !large)) redraw();
      else if (moved.current) {
        const scale = view.current.k / drawn.current.k;
        const x = view.current.x - drawn.current.x * scale;
        const y = view.current.y - drawn.current.y * scale;
        below.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
        clearTimeout(rest.current);
        rest.current = setTimeout(redraw, REST_MS);
      }
      moved.current = false;
      const focused = { ...current, hovered: hovered.current };
      below.dataset.dim = String(focused.hovered !== null || focused.selected !== null);
      layer.setTransform(ratio, 0, 0, ratio, 0, 0);
      drawFocus(layer, focused, view.current, size.current, colours.current);
    });
  }, []);
  useEffect(() => () => clearTimeout(rest.current), []);

  const fitAll = useCallback(() => {
    const current = scene.current;
    if (!current) return;
    const { places } = current;
    let [left, top, right, bottom] = [
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ];
    for (let i = 0; i + 1 < places.length; i += 2) {
      left = Math.min(left, places[i] ?? 0);
      right = Math.max(right, places[i] ?? 0);
      top = Math.min(top, places[i + 1] ?? 0);
      bottom = Math.max(bottom, places[i + 1] ?? 0);
    }
    const { width, height } = size.current;
    const k = Math.min(
      1.4,
      (width - 140) / Math.max(1, right - left),
      (height - 110) / Math.max(1, bottom - top),
    );
    const use = Math.max(MIN_K, k);
    view.current = {
      k: use,
      x: width / 2 - ((left + right) / 2) * use,
      y: height / 2 - ((top + bottom) / 2) * use,
    };
    paint();
  }, [paint]);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = element;
      const before = size.current;
      const ratio = window.devicePixelRatio || 1;
      size.current = { width, height };
      for (const target of [base.current, canvas.current]) {
        if (!target) continue;
        target.width = Math.round(width * ratio);
        target.height = Math.round(height * ratio);
      }
      // What was in the middle stays there when a panel opens.
      view.current = {
        ...view.current,
        x: view.current.x + (width - before.width) / 2,
        y: view.current.y + (height - before.height) / 2,
      };
      paint();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [paint]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours follow the theme, the picture what it shows
  useEffect(() => {
    colours.current = null;
    paint();
  }, [dark, layout, conflicts, centers, settled, shade, paint]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a choice changes the layer above only
  useEffect(() => paint("focus"), [selected, paint]);

  useEffect(() => {
    if (!layout) return;
    // While a large graph settles it is kept in sight; later only a person moves it.
    if (!fitted.current) fitAll();
    if (!layout.busy) fitted.current = true;
  }, [layout, fitAll]);

  const zoomAt = useCallback(
    (px: number, py: number, factor: number) => {
      const { k, x, y } = view.current;
      const next = Math.min(MAX_K, Math.max(MIN_K, k * factor));
      view.current = { k: next, x: px - ((px - x) * next) / k, y: py - ((py - y) * next) / k };
      fitted.current = true;
      paint("moved");
    },
    [paint],
  );

  const zoomMiddle = (factor: number) => zoomAt(size.current.width / 2, size.current.height / 2, factor);

  const nodeAt = (px: number, py: number): number | null => {
    const current = scene.current;
    if (!current) return null;
    const { k, x, y } = view.current;
    let best: number | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < current.shown.nodes.length; i += 1) {
      const dx = (current.places[2 * i] ?? 0) * k + x - px;
      const dy = (current.places[2 * i + 1] ?? 0) * k + y - py;
      const distance = dx * dx + dy * dy;
      const reach = sizeAt(current.shown.nodes[i]?.degree ?? 1, k) + 4;
      if (distance < reach * reach && distance < least) {
        least = distance;
        best = i;
      }
    }
    return best;
  };

  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    // Not passive, so that the page does not scroll or zoom.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const at = element.getBoundingClientRect();
      const unit = event.deltaMode === 1 ? 16 : 1;
      zoomAt(event.clientX - at.left, event.clientY - at.top, Math.exp(-event.deltaY * unit * 0.0016));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [zoomAt]);

  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const drag = useRef<{ x: number; y: number; node: number | null; moved: boolean } | null>(null);
  const spot = (event: React.PointerEvent) => {
    const at = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - at.left, y: event.clientY - at.top };
  };
  const hover = (place: number | null) => {
    if (hovered.current === place) return;
    hovered.current = place;
    setOver(place !== null);
    paint("focus");
  };

  const onDown = (event: React.PointerEvent) => {
    const at = spot(event);
    event.currentTarget.setPointerCapture(event.pointerId);
    pointers.current.set(event.pointerId, at);
    drag.current = pointers.current.size === 1 ? { ...at, node: nodeAt(at.x, at.y), moved: false } : null;
  };
  const onMove = (event: React.PointerEvent) => {
    const at = spot(event);
    const before = pointers.current.get(event.pointerId);
    if (!before) {
      hover(nodeAt(at.x, at.y));
      return;
    }
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    pointers.current.set(event.pointerId, at);
    if (other) {
      const was = Math.hypot(before.x - other.x, before.y - other.y);
      const is = Math.hypot(at.x - other.x, at.y - other.y);
      if (was > 0) zoomAt((at.x + other.x) / 2, (at.y + other.y) / 2, is / was);
      return;
    }
    const one = drag.current;
    if (!one) return;
    if (!one.moved && Math.hypot(at.x - one.x, at.y - one.y) < CLICK_PX) return;
    if (!one.moved) {
      // The first step of a drag covers what was ignored until it counted as one.
      one.moved = true;
      before.x = one.x;
      before.y = one.y;
    }
    const dx = at.x - before.x;
    const dy = at.y - before.y;
    const current = scene.current;
    fitted.current = true;
    if (one.node !== null && current) {
      const i = 2 * one.node;
      current.places[i] = (current.places[i] ?? 0) + dx / view.current.k;
      current.places[i + 1] = (current.places[i + 1] ?? 0) + dy / view.current.k;
      const id = current.shown.nodes[one.node]?.id;
      if (id !== undefined) move(id, current.places[i] ?? 0, current.places[i + 1] ?? 0);
      paint();
    } else {
      view.current = { ...view.current, x: view.current.x + dx, y: view.current.y + dy };
      paint("moved");
    }
  };
  const onUp = (event: React.PointerEvent) => {
    const one = drag.current;
    pointers.current.delete(event.pointerId);
    if (pointers.current.size === 0) drag.current = null;
    if (!one || one.moved || event.type === "pointercancel") return;
    const id = one.node === null ? null : (scene.current?.shown.nodes[one.node]?.id ?? null);
    onSelect(id);
    if (id !== null) onExpand?.(id);
  };

  const show = (place: number) => {
    const current = scene.current;
    if (!current) return;
    const { k, x, y } = view.current;
    const px = (current.places[2 * place] ?? 0) * k + x;
    const py = (current.places[2 * place + 1] ?? 0) * k + y;
    const { width, height } = size.current;
    const margin = 60;
    view.current = {
      k,
      x: x + Math.max(0, margin - px) - Math.max(0, px - (width - margin)),
      y: y + Math.max(0, margin - py) - Math.max(0, py - (height - margin)),
    };
    paint("moved");
  };

  const onKey = (event: React.KeyboardEvent) => {
    const current = scene.current;
    if (!current || event.metaKey || event.ctrlKey || event.altKey) return;
    const direction = DIRECTIONS[event.key];
    if (direction) {
      event.preventDefault();
      const from = current.selected;
      if (from === null) {
        const first = current.shown.nodes.findIndex((node) => current.centers.has(node.id));
        const place = Math.max(0, first);
        onSelect(current.shown.nodes[place]?.id ?? null);
        show(place);
        return;
      }
      const at = (place: number) => ({
        place,
        x: current.places[2 * place] ?? 0,
        y: current.places[2 * place + 1] ?? 0,
      });
      const next = towards(at(from), neighbours(current.shown, from).map(at), direction);
      if (next === null) return;
      onSelect(current.shown.nodes[next]?.id ?? null);
      show(next);
    } else if (event.key === "Enter" && selected !== null) {
      event.preventDefault();
      onExpand?.(selected);
    } else if (event.key === "+" || event.key === "=") zoomMiddle(1.3);
    else if (event.key === "-") zoomMiddle(1 / 1.3);
    else if (event.key === "0") fitAll();
    else if (event.key === "Escape" && selected !== null) {
      event.stopPropagation();
      onSelect(null);
    }
  };

  const chosen = selected === null ? undefined : shown.nodes[shown.index.get(selected) ?? -1];
  return (
    <div className="graph-box" ref={box}>
      <canvas ref={base} className="graph-canvas graph-base" aria-hidden />
      {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a canvas with keys of its own is an application */}
      <canvas
        ref={canvas}
        className="graph-canvas"
        data-over={over}
        tabIndex={0}
        role="application"
        aria-label={t.knowledge.graphView.canvas(shown.nodes.length, shown.edges.length)}
        data-ready={layout !== null && !layout.busy && layout.shown === shown}
        onPointerDown={onDown}
        onPointerMove={onMove}
        onPointerUp={onUp}
        onPointerCancel={onUp}
        onPointerLeave={() => hover(null)}
        onKeyDown={onKey}
      />
      <div className="graph-zoom">
        <IconButton
          size="s"
          label={t.knowledge.graphView.zoomIn}
          keys="+"
          icon={<Plus size={16} />}
          onClick={() => zoomMiddle(1.3)}
        />
        <IconButton
          size="s"
          label={t.knowledge.graphView.zoomOut}
          keys="-"
          icon={<Minus size={16} />}
          onClick={() => zoomMiddle(1 / 1.3)}
        />
        <IconButton
          size="s"
          label={t.knowledge.graphView.fit}
          keys="0"
          icon={<Maximize size={14} />}
          onClick={fitAll}
        />
      </div>
      {layout === null || layout.busy ? (
        <div className="graph-busy small muted" role="status">
          <span className="spinner" aria-hidden /> {t.knowledge.graphView.arranging}
        </div>
      ) : null}
      <p className="sr-only" aria-live="polite">
        {chosen ? `${chosen.label}, ${t.knowledge.graphView.degree(chosen.degree)}` : ""}
      </p>
    </div>
  );
}
