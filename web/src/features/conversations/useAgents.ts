import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "../../api/client";
import type { Agent } from "../../api/types";
import { keys } from "../../app/query";

/** The agents of the team, by id, and those that can be talked to. */
export function useAgents() {
  const query = useQuery({ queryKey: keys.agents, queryFn: api.agents.list, staleTime: 30_000 });
  const all = query.data?.items;
  const byId = useMemo(() => new Map((all ?? []).map((agent) => [agent.id, agent])), [all]);
  const active = useMemo(() => (all ?? []).filter((agent) => agent.is_active), [all]);
  return { query, byId, active };
}

export function agentName(agent: Pick<Agent, "display_name" | "name">): string {
  return agent.display_name === null || agent.display_name === "" ? agent.name : agent.display_name;
}
