import type { ReactNode } from "react";

export interface Segment<V extends string> {
  value: V;
  label: ReactNode;
  count?: number;
  tone?: "danger" | undefined;
}

/** One choice out of two to four that are all in sight. */
export function Segments<V extends string>({
  label,
  value,
  options,
  onChange,
  className,
}: {
  label: string;
  value: V;
  options: Segment<V>[];
  onChange: (value: V) => void;
  className?: string;
}) {
  return (
    <fieldset className={`segments ${className ?? ""}`} aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          className="segment"
          aria-pressed={value === option.value}
          data-tone={option.tone}
          onClick={() => onChange(option.value)}
        >
          {option.label}
          {option.count === undefined ? null : (
            <span className="segment-count">{option.count.toLocaleString()}</span>
          )}
        </button>
      ))}
    </fieldset>
  );
}
