import { type InfiniteData, type Query, useInfiniteQuery } from "@tanstack/react-query";
import type { Page } from "../../api/types";

const SIZE = 50;

/** A list that loads page by page. */
export function usePaged<T>(
  key: readonly unknown[],
  load: (window: { limit: number; offset: number }, signal: AbortSignal) => Promise<Page<T>>,
  again: (query: Query<Page<T>, Error, InfiniteData<Page<T>, number>>) => number | false = () => false,
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
    refetchInterval: (one) => again(one as never),
  });
  return {
    query,
    items: query.data?.pages.flatMap((page) => page.items) ?? [],
    total: query.data?.pages[0]?.total ?? 0,
  };
}
