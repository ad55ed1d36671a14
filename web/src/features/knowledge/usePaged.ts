import { useInfiniteQuery } from "@tanstack/react-query";
import { useDeferredValue, useEffect, useState } from "react";
import { useSearchParams } from "react-router";
import type { Page } from "../../api/types";

const SIZE = 50;

/** A list that loads page by page. */
export function usePaged<T>(
  key: readonly unknown[],
  load: (window: { limit: number; offset: number }, signal: AbortSignal) => Promise<Page<T>>,
) {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => load({ limit: SIZE, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: (last) => {
      const next = last.offset + last.items.length;
      return last.items.length > 0 && next < last.total ? next : undefined;
    },
    placeholderData: (before) => before,
  });
  return {
    query,
    items: query.data?.pages.flatMap((page) => page.items) ?? [],
    total: query.data?.pages[0]?.total ?? 0,
  };
}

/** A search text that lives in the address, written there when typing pauses. */
export function useSearchText(name = "q") {
  const [params, setParams] = useSearchParams();
  const [text, setText] = useState(params.get(name) ?? "");
  const q = useDeferredValue(text.trim());
  useEffect(() => {
    const timer = setTimeout(() => {
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          if (q === "") next.delete(name);
          else next.set(name, q);
          return next;
        },
        { replace: true },
      );
    }, 250);
    return () => clearTimeout(timer);
  }, [q, name, setParams]);
  return { text, setText, q };
}
