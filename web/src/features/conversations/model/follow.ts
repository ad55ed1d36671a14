/** Where a scrolling view stands, in pixels. */
export interface Scroll {
  top: number;
  height: number;
  client: number;
}

/** Nearer to the end than this counts as at the end. */
const NEAR = 32;

export function distanceToEnd(scroll: Scroll): number {
  return Math.max(0, scroll.height - scroll.client - scroll.top);
}

/**
 * Whether the view goes on following the end, after a scroll event. Reaching the end starts it; moving up
 * stops it; growth of the content below, which leaves the position alone, changes nothing.
 */
export function nextFollow(following: boolean, before: Scroll, now: Scroll): boolean {
  if (distanceToEnd(now) <= NEAR) return true;
  const movedUp = now.top < before.top - 1;
  const shrank = now.height < before.height || now.client !== before.client;
  if (movedUp && !shrank) return false;
  return following;
}
