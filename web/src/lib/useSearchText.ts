import { useDeferredValue, useEffect, useRef, useState } from "react";
import { useSearchParams } from "react-router";

const PAUSE_MS = 250;

/**
 * A search text that lives in the address. It is written there when typing pauses, and only when it was typed:
 * a write at any other time could overtake a navigation that is under way and undo it.
 */
export function useSearchText(name = "q") {
  const [params, setParams] = useSearchParams();
  const [text, setShown] = useState(params.get(name) ?? "");
  const write = useRef(setParams);
  write.current = setParams;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const q = useDeferredValue(text.trim());

  useEffect(() => () => clearTimeout(timer.current), []);

  const setText = (next: string) => {
    setShown(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      write.current(
        (before) => {
          const params = new URLSearchParams(before);
          if (next.trim() === "") params.delete(name);
          else params.set(name, next.trim());
          return params;
        },
        { replace: true },
      );
    }, PAUSE_MS);
  };
  return { text, setText, q };
}
