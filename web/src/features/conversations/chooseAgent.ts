import type { Agent, Message } from "../../api/types";

const LAST_AGENT = "qadra.agent";

/** The person's choice, else whoever spoke last, else the last agent used anywhere, else the first one. */
export function chooseAgent(
  active: Agent[],
  byId: Map<string, Agent>,
  picked: string | null,
  messages: Message[],
): Agent | null {
  const spoke = messages.findLast((message) => message.role === "assistant")?.agent_id ?? null;
  for (const id of [picked, spoke, lastAgent()]) {
    const agent = id === null ? undefined : byId.get(id);
    if (agent?.is_active) return agent;
  }
  return active.find((agent) => agent.output_visibility === "user_facing") ?? active[0] ?? null;
}

export function rememberAgent(id: string) {
  try {
    localStorage.setItem(LAST_AGENT, id);
  } catch {
    // Only a convenience.
  }
}

function lastAgent(): string | null {
  try {
    return localStorage.getItem(LAST_AGENT);
  } catch {
    return null;
  }
}
