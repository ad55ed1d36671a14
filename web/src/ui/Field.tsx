import { Search, X } from "lucide-react";
import {
  cloneElement,
  type InputHTMLAttributes,
  type ReactElement,
  type ReactNode,
  type Ref,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { t } from "../lib/strings";
import { IconButton } from "./Button";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  optional?: boolean;
  children: ReactElement<{ id?: string; "aria-describedby"?: string; "aria-invalid"?: boolean }>;
}

/** A label, its control, and the hint or error that belongs to it. */
export function Field({ label, hint, error, optional, children }: FieldProps) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {optional ? <span className="muted"> ({t.common.optional})</span> : null}
      </label>
      {cloneElement(children, {
        id,
        ...(note ? { "aria-describedby": `${id}-note` } : {}),
        ...(error ? { "aria-invalid": true } : {}),
      })}
      {note ? (
        <div
          id={`${id}-note`}
          className={error ? "field-error" : "field-hint"}
          role={error ? "alert" : undefined}
        >
          {note}
        </div>
      ) : null}
    </div>
  );
}

export function Input(props: InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> }) {
  return <input {...props} className={`input ${props.className ?? ""}`} />;
}

export function Textarea(
  props: TextareaHTMLAttributes<HTMLTextAreaElement> & { ref?: Ref<HTMLTextAreaElement> },
) {
  return <textarea {...props} className={`input ${props.className ?? ""}`} />;
}

/** The search field of a page; `/` focuses the first one on the screen. */
export function SearchField({
  value,
  onChange,
  label,
}: {
  value: string;
  onChange: (value: string) => void;
  label: string;
}) {
  return (
    <div className="search">
      <Search size={15} aria-hidden />
      <input
        type="search"
        className="input"
        data-search=""
        aria-label={label}
        placeholder={label}
        value={value}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          if (value === "") event.currentTarget.blur();
          else onChange("");
        }}
      />
      {value === "" ? null : (
        <IconButton size="s" label={t.common.clear} icon={<X size={14} />} onClick={() => onChange("")} />
      )}
    </div>
  );
}
