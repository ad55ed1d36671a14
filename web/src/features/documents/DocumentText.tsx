import { useQueries } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useMemo, useRef, useState } from "react";
import { Link } from "react-router";
import { documents } from "../../api/documents";
import type { Span } from "../../api/knowledge-types";
import type { Id } from "../../api/types";
import { keys } from "../../app/query";
import { CodePoints } from "../../lib/codepoints";
import { t } from "../../lib/strings";
import { ErrorState } from "../../ui/states";
import { type Mark, pieces } from "./model/marks";
import { guessHeight, segmentAt, segmentCount, segmentRange, windowOf, windowRange } from "./model/segments";

const LINE = 24;
const HOUR = 3_600_000;

/** The text of a document of any length: only what is near the screen is fetched and exists. */
export function DocumentText({
  id,
  total,
  marks,
  focus,
  current,
  linkTo,
}: {
  id: Id;
  total: number;
  marks: Mark[];
  /** The passage to scroll to and to show. */
  focus: Span | null;
  /** Key of the mark whose facts are chosen. */
  current: string | null;
  linkTo: (markKey: string) => string;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(680);
  const guess = guessHeight(width, LINE);
  const count = segmentCount(total);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => guess,
    overscan: 1,
  });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(Math.min(720, element.clientWidth - 48)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const visible = virtual.getVirtualItems();
  const windows = [...new Set(visible.map((item) => windowOf(item.index)))];
  const loaded = useQueries({
    queries: windows.map((window) => ({
      queryKey: [...keys.document(id), "text", window, total],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const { from, to } = windowRange(window, total);
        return new CodePoints((await documents.text(id, from, to, signal)).text);
      },
      staleTime: HOUR,
      structuralSharing: false,
    })),
  });
  const texts = new Map(windows.map((window, index) => [window, loaded[index]]));
  const failed = loaded.find((one) => one.isError);

  // The passage is brought into view when it is asked for, in two steps: first its segment, then, once that
  // exists, the passage itself.
  const wanted = useRef<Span | null>(null);
  const [from, to] = focus ?? [null, null];
  useEffect(() => {
    if (from === null || to === null) return;
    wanted.current = [from, to];
    const shown = scroller.current?.querySelector<HTMLElement>("[data-focus-start]");
    if (shown && scroller.current) {
      wanted.current = null;
      if (!isInView(shown, scroller.current)) shown.scrollIntoView({ block: "center" });
      return;
    }
    virtual.scrollToIndex(segmentAt(from, total), { align: "start" });
  }, [from, to, total, virtual]);
  const arrive = useMemo(
    () => (element: HTMLElement | null) => {
      if (element === null || wanted.current === null) return;
      wanted.current = null;
      element.scrollIntoView({ block: "center" });
      // Segments above are measured after this and may push it away once more.
      for (const frame of [60, 200])
        setTimeout(() => {
          const box = scroller.current;
          if (box && element.isConnected && !isInView(element, box))
            element.scrollIntoView({ block: "center" });
        }, frame);
    },
    [],
  );

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
    <section className="doc-text" ref={scroller} tabIndex={0} aria-label={t.documents.label}>
      {failed?.isError ? (
        <ErrorState
          what={t.documents.textOf}
          error={failed.error}
          onRetry={() => {
            for (const one of loaded) if (one.isError) void one.refetch();
          }}
        />
      ) : null}
      <div className="doc-paper" style={{ height: virtual.getTotalSize() }}>
        {visible.map((item) => {
          const window = windowOf(item.index);
          const text = texts.get(window)?.data;
          return (
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              className="doc-segment"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              {text ? (
                <Segment
                  index={item.index}
                  text={text}
                  origin={windowRange(window, total).from}
                  total={total}
                  marks={marks}
                  focus={focus}
                  current={current}
                  linkTo={linkTo}
                  arrive={arrive}
                />
              ) : (
                <div className="doc-segment-empty" style={{ height: guess }} />
              )}
            </div>
          );
        })}
      </div>
    </section>
  );
}

function isInView(element: HTMLElement, box: HTMLElement): boolean {
  const a = element.getBoundingClientRect();
  const b = box.getBoundingClientRect();
  return a.top >= b.top + 8 && Math.min(a.bottom, a.top + 2 * LINE) <= b.bottom - 8;
}

const Segment = memo(function Segment({
  index,
  text,
  origin,
  total,
  marks,
  focus,
  current,
  linkTo,
  arrive,
}: {
  index: number;
  text: CodePoints;
  origin: number;
  total: number;
  marks: Mark[];
  focus: Span | null;
  current: string | null;
  linkTo: (markKey: string) => string;
  arrive: (element: HTMLElement | null) => void;
}) {
  const range = segmentRange(index, text, origin, total);
  return pieces(range, marks, focus).map((piece) => {
    const words = text.slice(piece.from - origin, piece.to - origin);
    const start = piece.focus && focus !== null && piece.from === Math.max(focus[0], range.from);
    const focused = piece.focus
      ? { "data-focus": true, ...(start ? { "data-focus-start": true, ref: arrive } : {}) }
      : {};
    if (piece.mark === null)
      return piece.focus ? (
        <mark key={piece.from} className="doc-focus" {...focused}>
          {words}
        </mark>
      ) : (
        words
      );
    return (
      <Link
        key={piece.from}
        to={linkTo(piece.mark.key)}
        replace
        preventScrollReset
        className="doc-mark"
        data-tone={piece.mark.tone}
        aria-current={piece.mark.key === current ? "true" : undefined}
        title={t.documents.mark(piece.mark.items.length)}
        {...focused}
      >
        {words}
      </Link>
    );
  });
});
