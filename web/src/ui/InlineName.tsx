import { useEffect, useRef, useState } from "react";

/** A name that becomes a field when it is clicked: Enter or leaving saves, Escape takes it back. */
export function InlineName({
  value,
  fallback,
  label,
  action,
  editing,
  onEditing,
  onSave,
}: {
  value: string;
  fallback: string;
  label: string;
  action: string;
  editing: boolean;
  onEditing: (editing: boolean) => void;
  onSave: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!editing) return;
    setText(value);
    field.current?.focus();
    field.current?.select();
  }, [editing, value]);

  if (!editing)
    return (
      <h1 className="inline-name grow">
        <button type="button" className="truncate" title={action} onClick={() => onEditing(true)}>
          {value === "" ? fallback : value}
          <span className="sr-only"> – {action}</span>
        </button>
      </h1>
    );

  const finish = (save: boolean) => {
    onEditing(false);
    if (save && text.trim() !== "" && text.trim() !== value) onSave(text.trim());
  };
  return (
    <input
      ref={field}
      className="input grow"
      aria-label={label}
      value={text}
      maxLength={200}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => finish(true)}
      onKeyDown={(event) => {
        if (event.key === "Enter") finish(true);
        else if (event.key === "Escape") {
          event.stopPropagation();
          finish(false);
        }
      }}
    />
  );
}
