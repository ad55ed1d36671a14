import { useVirtualizer } from "@tanstack/react-virtual";
import { TriangleAlert } from "lucide-react";
import { useRef } from "react";
import type { Id } from "../../../api/types";
import { t } from "../../../lib/strings";
import { Badge } from "../../../ui/bits";
import type { Shown } from "./model";

/** The graph in words: every relation as a line. It holds what the picture holds. */
export function EdgeList({
  shown,
  conflicts,
  selected,
  onSelect,
}: {
  shown: Shown;
  conflicts: ReadonlySet<Id>;
  selected: Id | null;
  onSelect: (id: Id) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: shown.edges.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 40,
    overscan: 10,
  });
  const label = (id: Id) => shown.nodes[shown.index.get(id) ?? -1]?.label ?? "";
  return (
    <div className="edge-list" ref={scroller}>
      <ul
        aria-label={t.knowledge.graphView.relations}
        style={{ height: virtual.getTotalSize(), position: "relative" }}
      >
        {virtual.getVirtualItems().map((item) => {
          const edge = shown.edges[item.index];
          if (!edge) return null;
          return (
            <li
              key={edge.id}
              ref={virtual.measureElement}
              data-index={item.index}
              aria-setsize={shown.edges.length}
              aria-posinset={item.index + 1}
              className="edge-row"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <button
                type="button"
                className="cell-link"
                aria-pressed={edge.subject === selected}
                onClick={() => onSelect(edge.subject)}
              >
                {label(edge.subject)}
              </button>
              <span className="muted">
                {edge.polarity === "-" ? <span className="not-so">{t.knowledge.notSo} </span> : null}
                {edge.label || edge.predicate}
              </span>
              <button
                type="button"
                className="cell-link"
                aria-pressed={edge.object === selected}
                onClick={() => onSelect(edge.object)}
              >
                {label(edge.object)}
              </button>
              {conflicts.has(edge.id) ? (
                <Badge tone="danger">
                  <TriangleAlert size={12} aria-hidden /> {t.knowledge.graphView.contradiction}
                </Badge>
              ) : null}
              {edge.kind === "claim" ? <Badge>{t.knowledge.kinds.claim}</Badge> : null}
              <span className="muted small edge-shade" title={t.knowledge.graphView.shade}>
                {edge.curvature === null ? "" : edge.curvature.toFixed(1)}
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
