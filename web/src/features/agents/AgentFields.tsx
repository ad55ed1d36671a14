import { codePoints, roughTokens } from "../../lib/budget";
import { t } from "../../lib/strings";
import { SwitchRow } from "../../ui/bits";
import { Field, Input, Textarea } from "../../ui/Field";
import { Select } from "../../ui/Select";
import type { AgentDraft, DraftProblems } from "./draft";

const control = Object.entries(t.agents.controlTypes).map(([value, label]) => ({
  value: value as AgentDraft["control_type"],
  label,
}));
const visibility = Object.entries(t.agents.visibilities).map(([value, label]) => ({
  value: value as AgentDraft["output_visibility"],
  label,
}));

/** The three panels: who the agent is, what it is told, how it takes part. */
export function AgentFields({
  draft,
  problems,
  onChange,
}: {
  draft: AgentDraft;
  problems: DraftProblems;
  onChange: (part: Partial<AgentDraft>) => void;
}) {
  return (
    <div className="agent-panels">
      <section className="agent-panel" aria-labelledby="agent-persona">
        <h2 id="agent-persona">{t.agents.persona}</h2>
        <Field label={t.agents.displayName}>
          <Input
            value={draft.display_name}
            maxLength={200}
            onChange={(event) => onChange({ display_name: event.target.value })}
          />
        </Field>
        <Field label={t.agents.description} hint={t.agents.descriptionHint}>
          <Textarea
            rows={3}
            maxLength={2000}
            value={draft.description}
            onChange={(event) => onChange({ description: event.target.value })}
          />
        </Field>
        <SwitchRow
          label={t.agents.active}
          hint={t.agents.activeHint}
          checked={draft.is_active}
          onChange={(is_active) => onChange({ is_active })}
        />
      </section>

      <section className="agent-panel prompt" aria-labelledby="agent-prompt">
        <h2 id="agent-prompt">{t.agents.prompt}</h2>
        <Field
          label={t.agents.systemPrompt}
          hint={t.agents.promptStats(codePoints(draft.system_prompt), roughTokens(draft.system_prompt))}
        >
          <Textarea
            className="prompt-area mono"
            spellCheck={false}
            value={draft.system_prompt}
            onChange={(event) => onChange({ system_prompt: event.target.value })}
          />
        </Field>
      </section>

      <section className="agent-panel" aria-labelledby="agent-behaviour">
        <h2 id="agent-behaviour">{t.agents.behaviour}</h2>
        <Field label={t.agents.model} hint={t.agents.modelHint}>
          <Input
            className="mono"
            spellCheck={false}
            autoCapitalize="none"
            maxLength={200}
            value={draft.model}
            onChange={(event) => onChange({ model: event.target.value })}
          />
        </Field>
        <Field
          label={t.agents.temperature}
          hint={t.agents.temperatureHint}
          error={problems.temperature ? t.agents.invalidNumber : null}
        >
          <Input
            inputMode="decimal"
            value={draft.temperature}
            onChange={(event) => onChange({ temperature: event.target.value })}
          />
        </Field>
        <Field label={t.agents.control}>
          <Select
            value={draft.control_type}
            options={control}
            onChange={(control_type) => onChange({ control_type })}
          />
        </Field>
        <Field label={t.agents.visibility}>
          <Select
            value={draft.output_visibility}
            options={visibility}
            onChange={(output_visibility) => onChange({ output_visibility })}
          />
        </Field>
        <Field
          label={t.agents.maxCalls}
          hint={t.agents.maxCallsHint}
          error={problems.calls ? t.agents.invalidCalls : null}
        >
          <Input
            inputMode="numeric"
            value={draft.max_calls_per_parent_agent}
            onChange={(event) => onChange({ max_calls_per_parent_agent: event.target.value })}
          />
        </Field>
      </section>
    </div>
  );
}
