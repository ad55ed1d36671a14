import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Page } from "../api/types";

const SIZE = 100;
/** Beyond this a list is cut, and says so. */
export const MOST = 10_000;

/** A whole list, read page after page in the background; what has arrived is there at once. */
export function useAllPages<T>(
  key: readonly unknown[],
  load: (window: { limit: number; offset: number }, signal: AbortSignal) => Promise<Page<T>>,
  enabled = true,
) {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => load({ limit: SIZE, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: (last) => {
      const next = last.offset + last.items.length;
      return last.items.length > 0 && next < last.total && next < MOST ? next : undefined;
    },
    enabled,
    staleTime: 60_000,
  });
  const { hasNextPage, isFetching, isError, fetchNextPage } = query;
  useEffect(() => {
    if (enabled && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [enabled, hasNextPage, isFetching, isError, fetchNextPage]);
  return { query, total: query.data?.pages[0]?.total ?? 0 };
}
