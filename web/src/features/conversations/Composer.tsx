import { ArrowUp, Check, ChevronDown, Square } from "lucide-react";
import { type KeyboardEvent, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "react";
import { Link } from "react-router";
import type { Agent } from "../../api/types";
import { budget } from "../../lib/budget";
import { readDraft, writeDraft } from "../../lib/drafts";
import { t } from "../../lib/strings";
import { IconButton } from "../../ui/Button";
import { Avatar } from "../../ui/bits";
import { Menu, MenuItem, MenuLabel } from "../../ui/Menu";
import { type Mention, matchAgents, mentionAt } from "./model/mention";
import { agentName } from "./useAgents";

export interface ComposerHandle {
  restore: (text: string) => void;
  focus: () => void;
}

interface ComposerProps {
  thread: string;
  agents: Agent[];
  agentsLoading: boolean;
  agent: Agent | null;
  onAgent: (agent: Agent) => void;
  busy: boolean;
  stopping: boolean;
  onSend: (text: string, agent: Agent) => void;
  onStop: () => void;
  onEditLast: () => void;
  handle: React.Ref<ComposerHandle>;
}

export function Composer(props: ComposerProps) {
  const { thread, agents, agent, busy } = props;
  const [text, setText] = useState(() => readDraft(thread));
  const [mention, setMention] = useState<Mention | null>(null);
  const [choice, setChoice] = useState(0);
  const area = useRef<HTMLTextAreaElement>(null);
  const left = budget(text);
  const options = mention === null ? [] : matchAgents(agents, mention.query);

  useImperativeHandle(props.handle, () => ({
    restore: (value) => setText((now) => (now === "" ? value : now)),
    focus: () => area.current?.focus(),
  }));

  useEffect(() => writeDraft(thread, text), [thread, text]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const box = area.current;
    if (box === null) return;
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, window.innerHeight * 0.4)}px`;
  }, [text]);

  const send = () => {
    const clean = text.trim();
    if (clean === "" || agent === null || busy || left.state === "over") return;
    setText("");
    writeDraft(thread, "");
    props.onSend(clean, agent);
  };

  const pick = (chosen: Agent) => {
    props.onAgent(chosen);
    if (mention !== null) {
      setText(text.slice(0, mention.start) + text.slice(mention.end));
      setMention(null);
    }
    area.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // Enter that ends an input method's composition is not "send".
    if (event.nativeEvent.isComposing) return;
    if (mention !== null && options.length > 0) {
      const chosen = options[Math.min(choice, options.length - 1)];
      if (event.key === "ArrowDown") setChoice((choice + 1) % options.length);
      else if (event.key === "ArrowUp") setChoice((choice - 1 + options.length) % options.length);
      else if ((event.key === "Enter" || event.key === "Tab") && chosen) pick(chosen);
      else if (event.key === "Escape") setMention(null);
      else return;
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "ArrowUp" && text === "" && !busy) {
      event.preventDefault();
      props.onEditLast();
    }
  };

  if (!props.agentsLoading && agents.length === 0)
    return (
      <div className="composer-none muted">
        {t.thread.noAgents}{" "}
        <Link to="/agents?create=1" className="link">
          {t.thread.createAgent}
        </Link>
      </div>
    );

  return (
    <div className="composer">
      {mention !== null && options.length > 0 ? (
        <div className="mention menu" role="listbox" id="mention-list" aria-label={t.thread.mention}>
          {options.map((one, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys of the list
            <div
              key={one.id}
              id={`mention-${index}`}
              role="option"
              aria-selected={index === choice}
              tabIndex={-1}
              className="menu-item"
              onClick={() => pick(one)}
              onPointerMove={() => setChoice(index)}
            >
              <Avatar name={agentName(one)} size={20} />
              <span>{agentName(one)}</span>
              <span className="truncate muted small">{one.description}</span>
            </div>
          ))}
        </div>
      ) : null}
      <textarea
        ref={area}
        rows={1}
        value={text}
        placeholder={agent === null ? t.thread.placeholderNone : t.thread.placeholder(agentName(agent))}
        aria-label={agent === null ? t.thread.placeholderNone : t.thread.placeholder(agentName(agent))}
        aria-controls={mention === null ? undefined : "mention-list"}
        aria-activedescendant={mention === null || options.length === 0 ? undefined : `mention-${choice}`}
        onChange={(event) => {
          setText(event.target.value);
          setMention(mentionAt(event.target.value, event.target.selectionStart));
          setChoice(0);
        }}
        onBlur={() => setMention(null)}
        onKeyDown={onKeyDown}
      />
      <div className="composer-bar">
        <AgentPicker agents={agents} agent={agent} onPick={pick} />
        <span className="grow" />
        {left.state === "quiet" ? null : (
          <span className={`small ${left.state === "over" ? "field-error" : "muted"}`} role="status">
            {left.state === "over" ? t.thread.charOver(-left.left) : t.thread.charLimit(left.left)}
          </span>
        )}
        {busy ? (
          <IconButton
            className="composer-send"
            label={t.thread.stop}
            keys="Esc"
            icon={<Square size={13} fill="currentColor" />}
            disabled={props.stopping}
            onClick={props.onStop}
          />
        ) : (
          <IconButton
            className="composer-send"
            label={t.thread.send}
            keys="Enter"
            icon={<ArrowUp size={18} />}
            disabled={text.trim() === "" || agent === null || left.state === "over"}
            onClick={send}
          />
        )}
      </div>
    </div>
  );
}

function AgentPicker({
  agents,
  agent,
  onPick,
}: {
  agents: Agent[];
  agent: Agent | null;
  onPick: (agent: Agent) => void;
}) {
  const name = agent === null ? t.thread.pickAgent : agentName(agent);
  return (
    <Menu
      align="start"
      side="top"
      label={t.thread.pickAgent}
      trigger={
        <button type="button" className="agent-pick" aria-label={`${t.thread.pickAgent}: ${name}`}>
          {agent === null ? null : <Avatar name={name} size={20} />}
          <span className="truncate">{name}</span>
          <ChevronDown size={14} aria-hidden />
        </button>
      }
    >
      <MenuLabel>{t.thread.pickAgent}</MenuLabel>
      {agents.map((one) => (
        <MenuItem
          key={one.id}
          icon={<Avatar name={agentName(one)} size={20} />}
          end={one.id === agent?.id ? <Check size={14} aria-hidden /> : undefined}
          onSelect={() => onPick(one)}
        >
          {agentName(one)}
        </MenuItem>
      ))}
    </Menu>
  );
}
