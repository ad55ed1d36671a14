import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { distanceToEnd, nextFollow, type Scroll } from "./model/follow";

/**
 * Scrolling of a thread: stays at the end while the reader is there, leaves the reader alone otherwise, and
 * keeps what is being read in place when older messages come in above.
 */
export function useFollow(windowKey: string) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const last = useRef<Scroll>({ top: 0, height: 0, client: 0 });
  const anchor = useRef<{ key: string; offset: number } | null>(null);
  const [away, setAway] = useState(false);

  const read = useCallback((): Scroll => {
    const box = scroller.current;
    return box === null
      ? { top: 0, height: 0, client: 0 }
      : { top: box.scrollTop, height: box.scrollHeight, client: box.clientHeight };
  }, []);

  const rememberAnchor = useCallback(() => {
    const box = scroller.current;
    if (box === null) return;
    const top = box.getBoundingClientRect().top;
    for (const row of box.querySelectorAll<HTMLElement>("[data-row]")) {
      const rect = row.getBoundingClientRect();
      if (rect.bottom > top) {
        anchor.current = { key: row.dataset.row ?? "", offset: rect.top - top };
        return;
      }
    }
  }, []);

  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (box === null) return;
    box.scrollTop = box.scrollHeight;
    last.current = read();
  }, [read]);

  const stick = useCallback(() => {
    following.current = true;
    setAway(false);
    toEnd();
  }, [toEnd]);

  const release = useCallback(() => {
    following.current = false;
  }, []);

  const onScroll = useCallback(() => {
    const now = read();
    following.current = nextFollow(following.current, last.current, now);
    last.current = now;
    setAway(!following.current && distanceToEnd(now) > 160);
    rememberAnchor();
  }, [read, rememberAnchor]);

  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (box === null || inner === null) return;
    const observer = new ResizeObserver(() => {
      if (following.current) toEnd();
      else last.current = read();
    });
    observer.observe(box);
    observer.observe(inner);
    return () => observer.disconnect();
  }, [toEnd, read]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the window of messages moved
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    if (following.current) {
      toEnd();
      return;
    }
    const mark = anchor.current;
    const row = mark === null ? null : box.querySelector(`[data-row="${CSS.escape(mark.key)}"]`);
    if (mark === null || row === null) return;
    const offset = row.getBoundingClientRect().top - box.getBoundingClientRect().top;
    box.scrollTop += offset - mark.offset;
    last.current = read();
  }, [windowKey]);

  return { scroller, content, onScroll, stick, release, away };
}
