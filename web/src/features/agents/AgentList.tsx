import { Bot, Plus } from "lucide-react";
import { useState } from "react";
import { Link, useParams } from "react-router";
import { t } from "../../lib/strings";
import { Button, IconButton } from "../../ui/Button";
import { Avatar, Badge } from "../../ui/bits";
import { SearchField } from "../../ui/Field";
import { EmptyState, ErrorState, SkeletonRows } from "../../ui/states";
import { agentName, useAgents } from "../conversations/useAgents";

export function AgentList({ onCreate }: { onCreate: () => void }) {
  const { id } = useParams();
  const { query } = useAgents();
  const [text, setText] = useState("");
  const q = text.trim().toLowerCase();
  const all = query.data?.items ?? [];
  const items = all.filter((one) =>
    q === ""
      ? true
      : `${one.name} ${one.display_name ?? ""} ${one.description ?? ""}`.toLowerCase().includes(q),
  );
  return (
    <section className="list-pane" aria-label={t.agents.title}>
      <div className="pane-head">
        <h1 className="grow">{t.agents.title}</h1>
        <IconButton label={t.agents.new} icon={<Plus size={18} />} onClick={onCreate} />
      </div>
      <div className="list-filter">
        <SearchField value={text} onChange={setText} label={t.agents.search} />
      </div>
      <div className="list-scroll">
        {query.isPending ? (
          <SkeletonRows rows={5} />
        ) : query.isError && all.length === 0 ? (
          <ErrorState what={t.agents.list} error={query.error} onRetry={() => void query.refetch()} />
        ) : all.length === 0 ? (
          <EmptyState icon={<Bot size={24} aria-hidden />} title={t.agents.empty} hint={t.agents.emptyHint}>
            <Button kind="primary" onClick={onCreate}>
              {t.agents.new}
            </Button>
          </EmptyState>
        ) : items.length === 0 ? (
          <EmptyState title={t.conversations.noMatch(text.trim())} />
        ) : (
          <ul>
            {items.map((agent) => (
              <li key={agent.id}>
                <Link
                  to={`/agents/${agent.id}`}
                  className="list-item agent-item"
                  aria-current={agent.id === id ? "page" : undefined}
                >
                  <Avatar name={agentName(agent)} size={32} />
                  <div className="grow">
                    <div className="list-item-title">
                      <span className="truncate">{agentName(agent)}</span>
                      {agent.is_active ? null : <Badge>{t.agents.inactive}</Badge>}
                    </div>
                    <div className="list-item-sub truncate">{agent.description ?? agent.name}</div>
                  </div>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}
