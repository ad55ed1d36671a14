import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Brain, Pencil, Plus, Trash2 } from "lucide-react";
import { useState, useSyncExternalStore } from "react";
import { useSearchParams } from "react-router";
import { api } from "../../api/client";
import { memory } from "../../api/knowledge";
import type { Memory } from "../../api/knowledge-types";
import type { Agent } from "../../api/types";
import { keys } from "../../app/query";
import { Later } from "../../lib/later";
import { t } from "../../lib/strings";
import { useSearchText } from "../../lib/useSearchText";
import { Button, IconButton } from "../../ui/Button";
import { Badge, Time } from "../../ui/bits";
import { SearchField } from "../../ui/Field";
import { Select } from "../../ui/Select";
import { EmptyState, ErrorState, SkeletonRows } from "../../ui/states";
import { toast, toastError } from "../../ui/Toast";
import { usePaged } from "../knowledge/usePaged";
import { expiryText, valueText } from "./entry";
import { MemoryDialog } from "./MemoryDialog";

const removals = new Later();
const ANY = "any";

/** What agents keep in mind, for all of them or for one. */
export function MemorySection() {
  const [params, setParams] = useSearchParams();
  const client = useQueryClient();
  const { text, setText, q } = useSearchText();
  const removed = useSyncExternalStore(removals.subscribe, removals.ids);
  const [editing, setEditing] = useState<Memory | "new" | null>(null);
  const agents = useQuery({ queryKey: keys.agents, queryFn: api.agents.list });
  const agent = params.get("agent");
  const { query, items, total } = usePaged([...keys.memory, "list", { q, agent }], (window, signal) =>
    memory.list(
      { ...window, ...(q === "" ? {} : { q }), ...(agent === null ? {} : { agent_id: agent }) },
      signal,
    ),
  );
  const now = Date.now();
  const shown = items.filter(
    (one) => !removed.has(one.id) && (one.expires_at === null || Date.parse(one.expires_at) > now),
  );
  const filtered = q !== "" || agent !== null;
  const list = agents.data?.items ?? [];
  const options = [
    { value: ANY, label: t.memory.anyone },
    ...list.map((one) => ({ value: one.id, label: one.display_name ?? one.name })),
  ];
  const remove = (one: Memory) => {
    removals.add(
      one.id,
      async () => {
        await memory.remove(one.id);
        void client.invalidateQueries({ queryKey: keys.memory });
      },
      (error) => toastError(t.common.remove.toLowerCase(), error),
    );
    toast({ text: t.memory.deleted, action: { label: t.common.undo, run: () => removals.undo(one.id) } });
  };
  return (
    <div className="stack">
      <div className="row">
        <div className="grow">
          <h2>{t.memory.title}</h2>
          <p className="muted">{t.memory.hint}</p>
        </div>
        <Button kind="primary" onClick={() => setEditing("new")}>
          <Plus size={16} aria-hidden /> {t.memory.add}
        </Button>
      </div>
      <div className="memory-tools">
        <SearchField value={text} onChange={setText} label={t.memory.search} />
        <Select<string>
          aria-label={`${t.memory.for}: ${options.find((one) => one.value === (agent ?? ANY))?.label ?? t.memory.unknownAgent}`}
          value={agent ?? ANY}
          options={options}
          onChange={(value) =>
            setParams((before) => {
              const next = new URLSearchParams(before);
              if (value === ANY) next.delete("agent");
              else next.set("agent", value);
              return next;
            })
          }
        />
      </div>
      {query.isPending ? (
        <SkeletonRows rows={4} />
      ) : query.isError && items.length === 0 ? (
        <ErrorState what={t.memory.list} error={query.error} onRetry={() => void query.refetch()} />
      ) : shown.length === 0 ? (
        filtered ? (
          <EmptyState title={t.memory.noMatch} hint={t.memory.noMatchHint} />
        ) : (
          <EmptyState icon={<Brain size={24} aria-hidden />} title={t.memory.empty} hint={t.memory.emptyHint}>
            <Button kind="primary" onClick={() => setEditing("new")}>
              {t.memory.add}
            </Button>
          </EmptyState>
        )
      ) : (
        <ul className="rows">
          {shown.map((one) => (
            <Row
              key={one.id}
              entry={one}
              agents={list}
              onEdit={() => setEditing(one)}
              onRemove={() => remove(one)}
            />
          ))}
        </ul>
      )}
      {query.hasNextPage ? (
        <div className="list-more">
          <Button size="s" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t.common.loadMore} ({t.common.ofTotal(items.length, total)})
          </Button>
        </div>
      ) : null}
      <MemoryDialog target={editing} agents={list} agent={agent} onClose={() => setEditing(null)} />
    </div>
  );
}

function Row({
  entry,
  agents,
  onEdit,
  onRemove,
}: {
  entry: Memory;
  agents: Agent[];
  onEdit: () => void;
  onRemove: () => void;
}) {
  const agent = agents.find((one) => one.id === entry.agent_id);
  const who =
    entry.agent_id === null
      ? t.memory.everyAgent
      : (agent?.display_name ?? agent?.name ?? t.memory.unknownAgent);
  const value = valueText(entry.value);
  const name = entry.key ?? entry.note ?? value;
  return (
    <li className="rows-item">
      <div className="grow">
        <div className="memory-value">
          {entry.key ? <strong>{entry.key}</strong> : null}
          {entry.key && value !== "" ? " " : null}
          {value === "" ? null : <span className="mono">{value}</span>}
        </div>
        {entry.note ? <div className="memory-value">{entry.note}</div> : null}
        <div className="muted small key-meta">
          <Badge>{who}</Badge>
          <span>{entry.source === "agent" ? t.memory.byAgent : t.memory.byPerson}</span>
          <Time at={entry.updated_at} />
          {entry.expires_at ? (
            <span title={new Date(entry.expires_at).toUTCString()}>
              {t.memory.expires(expiryText(entry.expires_at, Date.now()))}
            </span>
          ) : null}
        </div>
      </div>
      <IconButton size="s" label={`${t.memory.edit}: ${name}`} icon={<Pencil size={14} />} onClick={onEdit} />
      <IconButton
        size="s"
        label={`${t.common.remove}: ${name}`}
        icon={<Trash2 size={14} />}
        onClick={onRemove}
      />
    </li>
  );
}
