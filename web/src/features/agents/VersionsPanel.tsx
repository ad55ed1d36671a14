import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client";
import type { Agent } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Badge, Time } from "../../ui/bits";
import { Panel } from "../../ui/Panel";
import { ErrorState, SkeletonRows } from "../../ui/states";
import { toast, toastError } from "../../ui/Toast";

export function VersionsPanel({
  agent,
  onClose,
  onRestored,
}: {
  agent: Agent;
  onClose: () => void;
  onRestored: (agent: Agent) => void;
}) {
  const query = useQuery({
    queryKey: keys.agentVersions(agent.id),
    queryFn: () => api.agents.versions(agent.id),
  });
  const [open, setOpen] = useState<number | null>(null);
  const restore = useMutation({
    mutationFn: (version: number) => api.agents.restore(agent.id, version),
    onSuccess: (next, version) => {
      onRestored(next);
      toast({ text: t.agents.restored(version) });
    },
    onError: (error) => toastError(t.agents.restore.toLowerCase(), error),
  });
  const versions = [...(query.data?.items ?? [])].sort((a, b) => b.version - a.version);
  return (
    <Panel title={t.agents.history} onClose={onClose}>
      {query.isPending ? (
        <SkeletonRows rows={4} />
      ) : query.isError ? (
        <ErrorState what={t.agents.versions} error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <>
          {versions.length < 2 ? <p className="muted">{t.agents.noHistoryHint}</p> : null}
          <ol className="versions">
            {versions.map((one) => (
              <li key={one.version} className="version">
                <button
                  type="button"
                  className="row version-head"
                  aria-expanded={open === one.version}
                  onClick={() => setOpen(open === one.version ? null : one.version)}
                >
                  <strong>{t.agents.version(one.version)}</strong>
                  {one.version === agent.version ? <Badge tone="accent">{t.agents.current}</Badge> : null}
                  <span className="grow" />
                  <span className="muted small">
                    <Time at={one.created_at} style="exact" />
                  </span>
                </button>
                {open === one.version ? (
                  <div className="version-body">
                    {one.model || one.temperature !== null ? (
                      <p className="small muted">
                        {[
                          one.model,
                          one.temperature === null ? null : `${t.agents.temperature} ${one.temperature}`,
                        ]
                          .filter(Boolean)
                          .join(" · ")}
                      </p>
                    ) : null}
                    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long prompt must scroll by keyboard */}
                    <pre className="artifact-text" tabIndex={0}>
                      {one.system_prompt}
                    </pre>
                    {one.version === agent.version ? null : (
                      <Button
                        size="s"
                        disabled={restore.isPending}
                        onClick={() => restore.mutate(one.version)}
                      >
                        {t.agents.restore}
                      </Button>
                    )}
                  </div>
                ) : null}
              </li>
            ))}
          </ol>
        </>
      )}
    </Panel>
  );
}
