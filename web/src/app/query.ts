import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../api/error";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: true,
      // A request that was understood and refused is refused again; only a broken way is tried twice.
      retry: (count, error) =>
        count < 1 && error instanceof ApiError && (error.status === 0 || error.status >= 502),
      retryDelay: 400,
    },
    mutations: { retry: false },
  },
});

/** The first part of every query key names the resource, so that a change can refresh all of its lists. */
export const keys = {
  me: ["me"] as const,
  meta: ["meta"] as const,
  usage: ["usage"] as const,
  apiKeys: ["api-keys"] as const,
  agents: ["agents"] as const,
  agent: (id: string) => ["agents", id] as const,
  agentVersions: (id: string) => ["agents", id, "versions"] as const,
  presets: ["agents", "presets"] as const,
  conversations: ["conversations"] as const,
  triples: ["knowledge", "triples"] as const,
  nodes: ["knowledge", "nodes"] as const,
  predicates: ["knowledge", "predicates"] as const,
  knowledge: ["knowledge"] as const,
  merges: ["knowledge", "merges"] as const,
  contradictions: ["knowledge", "contradictions"] as const,
  graph: ["knowledge", "graph"] as const,
  balls: ["knowledge", "balls"] as const,
  sources: (triple: string) => ["knowledge", "sources", triple] as const,
  documents: ["documents"] as const,
  document: (id: string) => ["documents", id] as const,
  memory: ["memory"] as const,
};
