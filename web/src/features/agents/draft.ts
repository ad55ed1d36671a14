import type { Agent, AgentPatch, ControlType, OutputVisibility } from "../../api/types";

/** What the editor's fields hold: numbers as they are typed. */
export interface AgentDraft {
  name: string;
  display_name: string;
  description: string;
  system_prompt: string;
  control_type: ControlType;
  output_visibility: OutputVisibility;
  max_calls_per_parent_agent: string;
  model: string;
  temperature: string;
  is_active: boolean;
}

export function draftOf(agent: Agent): AgentDraft {
  return {
    name: agent.name,
    display_name: agent.display_name ?? "",
    description: agent.description ?? "",
    system_prompt: agent.system_prompt,
    control_type: agent.control_type,
    output_visibility: agent.output_visibility,
    max_calls_per_parent_agent: String(agent.max_calls_per_parent_agent),
    model: agent.model ?? "",
    temperature: agent.temperature === null ? "" : String(agent.temperature),
    is_active: agent.is_active,
  };
}

export interface DraftProblems {
  temperature: boolean;
  calls: boolean;
  name: boolean;
}

export function problemsOf(draft: AgentDraft): DraftProblems {
  const temperature = draft.temperature.trim();
  const calls = draft.max_calls_per_parent_agent.trim();
  return {
    temperature: temperature !== "" && !(/^\d+([.,]\d+)?$/.test(temperature) && number(temperature) <= 2),
    calls: !(/^\d+$/.test(calls) && Number(calls) >= 1 && Number(calls) <= 100),
    name: draft.name.trim() === "",
  };
}

/** Only what differs from the stored agent: an absent field stays as it is, null clears it. */
export function patchOf(agent: Agent, draft: AgentDraft): AgentPatch {
  const optional = (text: string) => (text.trim() === "" ? null : text.trim());
  const wanted: AgentPatch = {
    name: draft.name.trim(),
    display_name: optional(draft.display_name),
    description: optional(draft.description),
    system_prompt: draft.system_prompt,
    control_type: draft.control_type,
    output_visibility: draft.output_visibility,
    max_calls_per_parent_agent: Number(draft.max_calls_per_parent_agent),
    model: optional(draft.model),
    temperature: draft.temperature.trim() === "" ? null : number(draft.temperature),
    is_active: draft.is_active,
  };
  const changed = Object.entries(wanted).filter(([key, value]) => {
    const stored = agent[key as keyof AgentPatch] ?? null;
    return stored !== value && !(stored === "" && value === null);
  });
  return Object.fromEntries(changed) as AgentPatch;
}

function number(text: string): number {
  return Number(text.trim().replace(",", "."));
}
