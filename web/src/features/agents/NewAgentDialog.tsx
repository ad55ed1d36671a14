import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { FilePlus2 } from "lucide-react";
import { useNavigate } from "react-router";
import { api } from "../../api/client";
import type { AgentPreset } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Avatar } from "../../ui/bits";
import { Dialog } from "../../ui/Dialog";
import { ErrorState, SkeletonRows } from "../../ui/states";
import { toastError } from "../../ui/Toast";
import { useAgents } from "../conversations/useAgents";

export function NewAgentDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title={t.agents.new}>
      <Choices />
    </Dialog>
  );
}

function Choices() {
  const navigate = useNavigate();
  const client = useQueryClient();
  const { query } = useAgents();
  const presets = useQuery({ queryKey: keys.presets, queryFn: api.agents.presets, staleTime: 300_000 });
  const taken = new Set((query.data?.items ?? []).map((agent) => agent.name));
  const create = useMutation({
    mutationFn: (body: Parameters<typeof api.agents.create>[0]) => api.agents.create(body),
    onSuccess: async (agent) => {
      await client.invalidateQueries({ queryKey: keys.agents });
      navigate(`/agents/${agent.id}`);
    },
    onError: (error) => toastError(t.agents.new.toLowerCase(), error),
  });
  const list: AgentPreset[] = presets.data?.items ?? [];
  return (
    <>
      <button
        type="button"
        className="card choice"
        disabled={create.isPending}
        onClick={() => create.mutate({ name: freeName("new-agent", taken), display_name: t.agents.new })}
      >
        <FilePlus2 size={20} aria-hidden />
        <span className="grow">
          <strong>{t.agents.blank}</strong>
          <span className="field-hint">{t.agents.blankHint}</span>
        </span>
      </button>
      {presets.isPending ? (
        <SkeletonRows rows={4} />
      ) : presets.isError ? (
        <ErrorState what={t.agents.presets} error={presets.error} onRetry={() => void presets.refetch()} />
      ) : list.length === 0 ? null : (
        <section className="stack choice-list">
          <h3 className="muted">{t.agents.fromPreset}</h3>
          {list.map((preset) => (
            <button
              key={preset.preset}
              type="button"
              className="card choice"
              disabled={create.isPending}
              onClick={() =>
                create.mutate(
                  taken.has(preset.preset)
                    ? { preset: preset.preset, name: freeName(preset.preset, taken) }
                    : { preset: preset.preset },
                )
              }
            >
              <Avatar name={preset.display_name} size={28} />
              <span className="grow">
                <strong>{preset.display_name}</strong>
                <span className="field-hint">{preset.description}</span>
              </span>
            </button>
          ))}
        </section>
      )}
    </>
  );
}

/** The name itself when it is free, else the name with the first number that is. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let n = 2; ; n += 1) if (!taken.has(`${name}-${n}`)) return `${name}-${n}`;
}
