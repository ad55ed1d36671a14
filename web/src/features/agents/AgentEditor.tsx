import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowLeft, Check, CircleAlert, Ellipsis, History, MessageSquare, Trash2, Undo2 } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { api } from "../../api/client";
import { type ApiError, asApiError } from "../../api/error";
import type { Agent } from "../../api/types";
import { keys } from "../../app/query";
import { modKey } from "../../app/shortcuts";
import { t } from "../../lib/strings";
import { usePanel } from "../../lib/usePanel";
import { Button, IconButton } from "../../ui/Button";
import { InlineName } from "../../ui/InlineName";
import { Menu, MenuItem } from "../../ui/Menu";
import { ErrorState, RequestId, SkeletonRows, sentence } from "../../ui/states";
import { toast, toastError } from "../../ui/Toast";
import { agentName } from "../conversations/useAgents";
import { AgentFields } from "./AgentFields";
import { type AgentDraft, draftOf, patchOf, problemsOf } from "./draft";
import { VersionsPanel } from "./VersionsPanel";

const PANEL_KEYS = ["v"] as const;

export function AgentEditor({ id }: { id: string }) {
  const query = useQuery({ queryKey: keys.agent(id), queryFn: () => api.agents.get(id) });
  if (query.data) return <Editor agent={query.data} />;
  return (
    <section className="pane" aria-label={t.agents.one}>
      <div className="pane-head">
        <BackButton />
      </div>
      <div className="pane-body">
        <div className="pane-inner">
          {query.isError ? (
            <ErrorState what={t.agents.one} error={query.error} onRetry={() => void query.refetch()} />
          ) : (
            <SkeletonRows rows={6} />
          )}
        </div>
      </div>
    </section>
  );
}

type SaveState = { kind: "idle" | "saving" | "saved" } | { kind: "error"; error: ApiError };

function Editor({ agent }: { agent: Agent }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const panel = usePanel(PANEL_KEYS);
  const [draft, setDraft] = useState<AgentDraft>(() => draftOf(agent));
  const [save, setSave] = useState<SaveState>({ kind: "idle" });
  const [renaming, setRenaming] = useState(false);
  const base = useRef(agent);
  const problems = problemsOf(draft);
  const valid = !problems.temperature && !problems.calls && !problems.name;
  const dirty = Object.keys(patchOf(base.current, draft)).length > 0;

  // A newer stored agent (another tab, a restored version) replaces the fields that were not touched here.
  useEffect(() => {
    if (agent.updated_at === base.current.updated_at && agent.version === base.current.version) return;
    const before = draftOf(base.current);
    const now = draftOf(agent);
    base.current = agent;
    setDraft((current) => {
      const merged = { ...now };
      for (const key of Object.keys(before) as (keyof AgentDraft)[])
        if (current[key] !== before[key]) Object.assign(merged, { [key]: current[key] });
      return merged;
    });
  }, [agent]);

  const adopt = useCallback(
    (next: Agent) => {
      base.current = next;
      client.setQueryData(keys.agent(next.id), next);
      void client.invalidateQueries({ queryKey: keys.agents, exact: true });
      void client.invalidateQueries({ queryKey: keys.agentVersions(next.id) });
    },
    [client],
  );

  const store = useCallback(
    async (wanted: AgentDraft) => {
      const patch = patchOf(base.current, wanted);
      if (Object.keys(patch).length === 0) return;
      setSave({ kind: "saving" });
      try {
        adopt(await api.agents.update(base.current.id, patch));
        setSave({ kind: "saved" });
      } catch (error) {
        setSave({ kind: "error", error: asApiError(error) });
      }
    },
    [adopt],
  );

  const latest = useRef({ draft, valid, store, saving: save.kind === "saving" });
  latest.current = { draft, valid, store, saving: save.kind === "saving" };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      const now = latest.current;
      if (now.valid && !now.saving) void now.store(now.draft);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);

  useEffect(() => {
    if (!dirty) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [dirty]);

  const change = (part: Partial<AgentDraft>) => {
    setDraft((before) => ({ ...before, ...part }));
    if (save.kind !== "saving") setSave({ kind: "idle" });
  };

  const remove = async () => {
    try {
      await api.agents.remove(agent.id);
      navigate("/agents");
      client.removeQueries({ queryKey: keys.agent(agent.id) });
      await client.invalidateQueries({ queryKey: keys.agents });
      toast({ text: t.agents.deleted });
    } catch (error) {
      toastError(t.agents.delete.toLowerCase(), error);
    }
  };

  return (
    <>
      <section className="pane" aria-label={agentName(agent)}>
        <title>{`${agentName(agent)} – ${t.app.name}`}</title>
        <div className="pane-head">
          <BackButton />
          <InlineName
            value={draft.name}
            fallback={t.agents.name}
            label={t.agents.renameLabel}
            action={t.agents.rename}
            editing={renaming}
            onEditing={setRenaming}
            onSave={(name) => {
              const next = { ...draft, name };
              change({ name });
              void store({ ...draftOf(base.current), name: next.name });
            }}
          />
          <SaveStatus state={save} dirty={dirty} version={base.current.version} />
          <IconButton
            label={t.agents.history}
            icon={<History size={16} />}
            aria-pressed={panel.kind === "versions"}
            onClick={() => (panel.kind === "versions" ? panel.close() : panel.open("versions"))}
          />
          <Menu trigger={<IconButton label={t.common.more} icon={<Ellipsis size={16} />} />}>
            <MenuItem
              icon={<MessageSquare size={16} />}
              onSelect={() => navigate(`/conversations/new?agent=${agent.id}`)}
            >
              {t.agents.talk}
            </MenuItem>
            <MenuItem
              icon={<Undo2 size={16} />}
              disabled={!dirty}
              onSelect={() => {
                setDraft(draftOf(base.current));
                setSave({ kind: "idle" });
              }}
            >
              {t.agents.discard}
            </MenuItem>
            <MenuItem icon={<Trash2 size={16} />} tone="danger" onSelect={() => void remove()}>
              {t.agents.delete}
            </MenuItem>
          </Menu>
          <Button
            kind="primary"
            size="s"
            disabled={!dirty || !valid || save.kind === "saving"}
            title={`${modKey} S`}
            onClick={() => void store(draft)}
          >
            {t.common.save}
          </Button>
        </div>
        <div className="pane-body">
          {save.kind === "error" ? (
            <div className="pane-inner notice-wrap">
              <div className="notice" data-tone="danger" role="alert">
                <CircleAlert size={16} aria-hidden />
                <div className="grow">
                  <strong>{t.agents.conflict}</strong> {sentence(save.error.detail)}{" "}
                  {save.error.hint ? sentence(save.error.hint) : null}
                  {save.error.requestId ? <RequestId id={save.error.requestId} /> : null}
                </div>
                <Button size="s" onClick={() => void store(draft)}>
                  {t.common.retry}
                </Button>
              </div>
            </div>
          ) : null}
          <AgentFields draft={draft} problems={problems} onChange={change} />
        </div>
      </section>
      {panel.kind === "versions" ? (
        <VersionsPanel
          agent={base.current}
          onClose={panel.close}
          onRestored={(next) => {
            adopt(next);
            setDraft(draftOf(next));
            setSave({ kind: "saved" });
          }}
        />
      ) : null}
    </>
  );
}

function BackButton() {
  const navigate = useNavigate();
  return (
    <IconButton
      className="only-narrow"
      label={t.common.back}
      icon={<ArrowLeft size={18} />}
      onClick={() => navigate("/agents")}
    />
  );
}

function SaveStatus({ state, dirty, version }: { state: SaveState; dirty: boolean; version: number }) {
  let text: string = t.agents.version(version);
  let tone: string | undefined;
  if (state.kind === "saving") text = t.common.saving;
  else if (state.kind === "error") {
    text = t.common.notSaved;
    tone = "danger";
  } else if (dirty) text = t.common.unsaved;
  else if (state.kind === "saved") {
    text = `${t.common.saved} · ${t.agents.version(version)}`;
    tone = "ok";
  }
  return (
    <span className="save-state small" data-tone={tone} role="status">
      {tone === "ok" ? <Check size={14} aria-hidden /> : null}
      {text}
    </span>
  );
}
