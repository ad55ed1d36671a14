import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useId, useState } from "react";
import { api } from "../../api/client";
import type { Id, KnowledgeNode } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Input } from "../../ui/Field";

/** A field that finds a name: arrows and Enter choose, or the mouse. */
export function NodePicker({
  label,
  without,
  onPick,
  autoFocus,
}: {
  label: string;
  without?: ReadonlySet<Id> | undefined;
  onPick: (node: KnowledgeNode) => void;
  autoFocus?: boolean;
}) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const list = useId();
  const q = useDeferredValue(text.trim());
  const found = useQuery({
    queryKey: [...keys.nodes, "pick", q],
    queryFn: ({ signal }) => api.knowledge.nodes({ q, limit: 12 }, signal),
    enabled: open && q !== "",
    placeholderData: (before) => before,
  });
  const items =
    q === "" ? [] : (found.data?.items ?? []).filter((node) => !without?.has(node.id)).slice(0, 8);
  const shown = open && q !== "" && found.isSuccess;
  const pick = (node: KnowledgeNode | undefined) => {
    if (!node) return;
    setText("");
    setOpen(false);
    onPick(node);
  };
  return (
    <div className="picker">
      <Input
        role="combobox"
        aria-label={label}
        aria-expanded={shown}
        aria-controls={list}
        aria-autocomplete="list"
        {...(shown && items.length > 0 ? { "aria-activedescendant": `${list}-${active}` } : {})}
        placeholder={label}
        value={text}
        autoComplete="off"
        spellCheck={false}
        {...(autoFocus ? { "data-first": "" } : {})}
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            const step = event.key === "ArrowDown" ? 1 : -1;
            setActive((before) => Math.min(items.length - 1, Math.max(0, before + step)));
          } else if (event.key === "Enter" && text.trim() !== "") {
            event.preventDefault();
            pick(items[active]);
          } else if (event.key === "Escape" && shown) {
            event.stopPropagation();
            setOpen(false);
          }
        }}
      />
      <div className="picker-list" role="listbox" id={list} aria-label={label} hidden={!shown}>
        {items.map((node, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
          <div
            key={node.id}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            className="menu-item"
            // Before the field loses the focus and the list closes.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => pick(node)}
          >
            <span className="truncate">{node.label}</span>
            <span className="muted small truncate grow">
              {node.aliases
                .map((one) => one.alias)
                .filter((alias) => alias !== node.label)
                .join(", ")}
            </span>
            {node.kind ? <span className="muted small">{node.kind}</span> : null}
          </div>
        ))}
        {shown && items.length === 0 ? (
          <div className="muted small picker-none">{t.knowledge.noMatch(q)}</div>
        ) : null}
      </div>
    </div>
  );
}
