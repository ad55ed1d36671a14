import type { Agent } from "../../../api/types";

/** An `@` that is being typed: where it stands and what follows it up to the caret. */
export interface Mention {
  start: number;
  end: number;
  query: string;
}

/** Finds an `@` before the caret that starts a word; an address like a@b is none. */
export function mentionAt(text: string, caret: number): Mention | null {
  const before = text.slice(0, caret);
  const match = /(^|\s)@([\p{L}\p{N}._-]{0,40})$/u.exec(before);
  if (!match) return null;
  const query = match[2] ?? "";
  return { start: caret - query.length - 1, end: caret, query };
}

/** Agents whose name has a word that starts with the query, best first. */
export function matchAgents<T extends Pick<Agent, "name" | "display_name">>(agents: T[], query: string): T[] {
  const wanted = query.toLowerCase();
  const rank = (agent: T) => {
    const names = [agent.display_name ?? "", agent.name].map((name) => name.toLowerCase());
    if (names.some((name) => name.startsWith(wanted))) return 0;
    if (names.some((name) => name.split(/[\s._-]+/).some((word) => word.startsWith(wanted)))) return 1;
    return names.some((name) => name.includes(wanted)) ? 2 : 3;
  };
  return agents
    .map((agent) => ({ agent, score: rank(agent) }))
    .filter((one) => one.score < 3)
    .sort((a, b) => a.score - b.score)
    .slice(0, 8)
    .map((one) => one.agent);
}
