import { useEffect, useRef, useState } from "react";
import type { Id } from "../../../api/types";
import type { Arrange, Arranged } from "./layout.worker";
import { neighbours, type Shown } from "./model";

export interface Layout {
  /** x and y of each node of `shown`, in its order. */
  places: Float32Array;
  shown: Shown;
  busy: boolean;
}

/** Room for 3,000 names with many relations each still leaves a name readable. */
export function radiusOf(degree: number): number {
  return 4 + Math.min(9, Math.sqrt(Math.max(0, degree)) * 1.1);
}

/**
 * Where each name stands. A worker arranges what is new; places are kept by name, so filters and expansions move
 * nothing. Null until the first arrangement is there.
 */
export function useLayout(shown: Shown): {
  layout: Layout | null;
  move: (id: Id, x: number, y: number) => void;
} {
  const worker = useRef<Worker | null>(null);
  const known = useRef(new Map<Id, { x: number; y: number }>());
  const run = useRef(0);
  const [layout, setLayout] = useState<Layout | null>(null);

  useEffect(() => {
    const one = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    worker.current = one;
    return () => {
      worker.current = null;
      one.terminate();
    };
  }, []);

  useEffect(() => {
    const count = shown.nodes.length;
    if (count === 0) {
      setLayout(null);
      return;
    }
    run.current += 1;
    const mine = run.current;
    const places = new Float32Array(2 * count).fill(Number.NaN);
    const beside = new Int32Array(count).fill(-1);
    let fresh = 0;
    shown.nodes.forEach((node, i) => {
      const place = known.current.get(node.id);
      if (place) places.set([place.x, place.y], 2 * i);
      else {
        fresh += 1;
        beside[i] =
          neighbours(shown, i).find((other) => known.current.has(shown.nodes[other]?.id ?? "")) ?? -1;
      }
    });
    if (fresh === 0) {
      setLayout({ places, shown, busy: false });
      return;
    }
    const links = new Int32Array(2 * shown.edges.length);
    shown.edges.forEach((edge, i) => {
      links[2 * i] = shown.index.get(edge.subject) ?? 0;
      links[2 * i + 1] = shown.index.get(edge.object) ?? 0;
    });
    const message: Arrange = {
      run: mine,
      places,
      beside,
      radii: Float32Array.from(shown.nodes, (node) => radiusOf(node.degree)),
      links,
    };
    const target = worker.current;
    if (!target) return;
    const onMessage = (event: MessageEvent<Arranged>) => {
      if (event.data.run !== mine) return;
      if (event.data.done)
        shown.nodes.forEach((node, i) => {
          known.current.set(node.id, {
            x: event.data.places[2 * i] ?? 0,
            y: event.data.places[2 * i + 1] ?? 0,
          });
        });
      setLayout({ places: event.data.places, shown, busy: !event.data.done });
    };
    target.addEventListener("message", onMessage);
    target.postMessage(message);
    return () => target.removeEventListener("message", onMessage);
  }, [shown]);

  const move = (id: Id, x: number, y: number) => {
    known.current.set(id, { x, y });
  };
  return { layout, move };
}
