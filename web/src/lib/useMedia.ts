import { useSyncExternalStore } from "react";

export function useMedia(text: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(text);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => matchMedia(text).matches,
  );
}

/** Phones and narrow windows: one column, bar at the bottom. Same width as in frame.css. */
export function useNarrow(): boolean {
  return useMedia("(max-width: 819px)");
}
