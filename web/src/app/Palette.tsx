import { useQuery } from "@tanstack/react-query";
import { BookOpenText, Bot, FileText, MessageSquare, MoonStar, Plus } from "lucide-react";
import { Dialog as Base } from "radix-ui";
import { type ReactNode, useDeferredValue, useEffect, useState } from "react";
import { useNavigate } from "react-router";
import { api } from "../api/client";
import { documents as documentsApi } from "../api/documents";
import { predicateText } from "../features/conversations/grounding";
import { t } from "../lib/strings";
import { Key } from "../ui/bits";
import { keys } from "./query";
import { rooms } from "./rooms";
import { isDark, setTheme } from "./theme";

interface Command {
  id: string;
  group: string;
  label: string;
  detail?: string | undefined;
  icon: ReactNode;
  keys?: string;
  run: () => void;
}

export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Base.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Base.Portal>
        <Base.Overlay className="scrim" />
        <Base.Content className="dialog palette" data-size="l" aria-describedby={undefined}>
          <Base.Title className="sr-only">{t.palette.title}</Base.Title>
          <PaletteBody onClose={onClose} />
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  );
}

function useCommands(text: string): Command[] {
  const navigate = useNavigate();
  const q = text.trim().toLowerCase();
  const conversations = useQuery({
    queryKey: [...keys.conversations, "palette", q],
    queryFn: ({ signal }) => api.conversations.list({ limit: 6, ...(q === "" ? {} : { q }) }, signal),
    placeholderData: (before) => before,
  });
  const agents = useQuery({ queryKey: keys.agents, queryFn: api.agents.list });
  const facts = useQuery({
    queryKey: [...keys.triples, "palette", q],
    queryFn: ({ signal }) => api.knowledge.triples({ q, limit: 5 }, signal),
    enabled: q.length > 1,
  });
  const documents = useQuery({
    queryKey: [...keys.documents, "palette", q],
    queryFn: ({ signal }) => documentsApi.list({ q, limit: 5 }, signal),
    enabled: q.length > 1,
  });

  const fixed: Command[] = [
    {
      id: "new-conversation",
      group: t.palette.create,
      label: t.conversations.new,
      icon: <Plus size={16} />,
      keys: "C",
      run: () => navigate("/conversations/new"),
    },
    {
      id: "new-agent",
      group: t.palette.create,
      label: t.agents.new,
      icon: <Plus size={16} />,
      run: () => navigate("/agents?create=1"),
    },
    {
      id: "new-fact",
      group: t.palette.create,
      label: t.knowledge.add,
      icon: <Plus size={16} />,
      run: () => navigate("/knowledge?panel=add"),
    },
    {
      id: "new-document",
      group: t.palette.create,
      label: t.documents.propose,
      icon: <Plus size={16} />,
      run: () => navigate("/documents?add=1"),
    },
    ...rooms.map((room) => ({
      id: room.path,
      group: t.palette.goTo,
      label: room.label,
      icon: room.icon,
      keys: `G ${room.key.toUpperCase()}`,
      run: () => navigate(room.path),
    })),
    {
      id: "theme",
      group: t.palette.actions,
      label: t.palette.toggleTheme,
      icon: <MoonStar size={16} />,
      run: () => setTheme(isDark() ? "light" : "dark"),
    },
  ];
  const matching = fixed.filter((one) => q === "" || one.label.toLowerCase().includes(q));
  const found: Command[] = (conversations.data?.items ?? []).map((one) => ({
    id: one.id,
    group: t.palette.conversations,
    label: one.title ?? t.conversations.untitled,
    detail: one.match?.snippet ?? undefined,
    icon: <MessageSquare size={16} />,
    run: () => navigate(`/conversations/${one.id}`),
  }));
  const agentItems: Command[] = (agents.data?.items ?? [])
    .filter((one) => q !== "" && `${one.display_name ?? ""} ${one.name}`.toLowerCase().includes(q))
    .slice(0, 5)
    .map((one) => ({
      id: one.id,
      group: t.palette.agents,
      label: one.display_name ?? one.name,
      detail: one.description ?? undefined,
      icon: <Bot size={16} />,
      run: () => navigate(`/agents/${one.id}`),
    }));
  const factItems: Command[] = (q.length > 1 ? (facts.data?.items ?? []) : []).map((one) => ({
    id: one.id,
    group: t.palette.facts,
    label: `${one.subject.label} ${predicateText(one.predicate)} ${one.object.label}`,
    icon: <BookOpenText size={16} />,
    run: () => navigate(`/knowledge?panel=fact&fact=${one.id}`),
  }));
  const documentItems: Command[] = (q.length > 1 ? (documents.data?.items ?? []) : []).map((one) => ({
    id: one.id,
    group: t.palette.documents,
    label: one.title,
    icon: <FileText size={16} />,
    run: () => navigate(`/documents/${one.id}`),
  }));
  if (q === "") return [...matching, ...found];
  return [...matching, ...agentItems, ...found, ...documentItems, ...factItems];
}

function PaletteBody({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const commands = useCommands(useDeferredValue(text));
  const current = Math.min(active, Math.max(0, commands.length - 1));

  useEffect(() => {
    document.getElementById(`palette-${current}`)?.scrollIntoView({ block: "nearest" });
  }, [current]);

  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };

  return (
    <>
      <input
        className="palette-input"
        role="combobox"
        aria-label={t.palette.placeholder}
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={commands.length > 0 ? `palette-${current}` : undefined}
        placeholder={t.palette.placeholder}
        value={text}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
        }}
        onKeyDown={(event) => {
          const count = commands.length;
          if (event.key === "ArrowDown") setActive(count === 0 ? 0 : (current + 1) % count);
          else if (event.key === "ArrowUp") setActive(count === 0 ? 0 : (current - 1 + count) % count);
          else if (event.key === "Enter") run(commands[current]);
          else return;
          event.preventDefault();
        }}
      />
      <div id="palette-list" role="listbox" aria-label={t.palette.title} className="palette-list">
        {commands.length === 0 ? <p className="palette-none">{t.palette.nothing}</p> : null}
        {commands.map((command, index) => (
          <div key={command.id} role="presentation">
            {command.group === commands[index - 1]?.group ? null : (
              <div role="presentation" className="menu-label">
                {command.group}
              </div>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys of the list */}
            <div
              id={`palette-${index}`}
              role="option"
              aria-selected={index === current}
              tabIndex={-1}
              className="menu-item"
              onClick={() => run(command)}
              onPointerMove={() => setActive(index)}
            >
              {command.icon}
              <span className="truncate">{command.label}</span>
              {command.detail ? <span className="truncate muted small">{command.detail}</span> : null}
              {command.keys ? (
                <span className="end">
                  {command.keys.split(" ").map((key) => (
                    <Key key={key}>{key}</Key>
                  ))}
                </span>
              ) : null}
            </div>
          </div>
        ))}
      </div>
      <div className="palette-hint small muted">{t.palette.hint}</div>
    </>
  );
}
