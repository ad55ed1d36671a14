import { Check, ChevronDown } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";

export interface Option<V extends string> {
  value: V;
  label: string;
  hint?: string;
  icon?: ReactNode;
}

interface SelectProps<V extends string> {
  value: V;
  options: Option<V>[];
  onChange: (value: V) => void;
  /** Set by Field. */
  id?: string;
  "aria-describedby"?: string;
  "aria-label"?: string;
  disabled?: boolean;
}

/** One choice out of a few, as a menu of radio items: styled alike everywhere and reachable by typing. */
export function Select<V extends string>({ value, options, onChange, ...rest }: SelectProps<V>) {
  const current = options.find((option) => option.value === value);
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        <button type="button" className="input select" {...rest}>
          <span className="truncate">{current?.label ?? value}</span>
          <ChevronDown size={14} aria-hidden />
        </button>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="start" sideOffset={4} collisionPadding={8}>
          <DropdownMenu.RadioGroup value={value} onValueChange={(next) => onChange(next as V)}>
            {options.map((option) => (
              <DropdownMenu.RadioItem key={option.value} value={option.value} className="menu-item">
                {option.icon}
                <span className="grow">
                  {option.label}
                  {option.hint ? <span className="field-hint"> {option.hint}</span> : null}
                </span>
                <DropdownMenu.ItemIndicator>
                  <Check size={14} aria-hidden />
                </DropdownMenu.ItemIndicator>
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
