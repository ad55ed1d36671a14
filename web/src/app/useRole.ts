import { useQuery } from "@tanstack/react-query";
import { api } from "../api/client";
import type { Id } from "../api/types";
import { keys } from "./query";

/** Who looks at the page, and whether they may decide for the team. */
export function useRole(): { me: Id | null; mayDecide: boolean } {
  const { data } = useQuery({ queryKey: keys.me, queryFn: api.auth.me, staleTime: 60_000 });
  return { me: data?.user.id ?? null, mayDecide: data?.role === "owner" || data?.role === "admin" };
}
