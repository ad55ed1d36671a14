import { Switch as BaseSwitch } from "radix-ui";
import { type ReactNode, useId } from "react";
import { NavLink } from "react-router";
import { exact, relative } from "../lib/dates";

export function Avatar({
  name,
  shape = "round",
  size = 24,
}: {
  name: string;
  shape?: "round" | "square";
  size?: number;
}) {
  // Initials only: an avatar address could be on another host, and the page asks no other host for anything.
  const initials = name
    .split(/[\s._-]+/)
    .filter((word) => word !== "")
    .slice(0, 2)
    .map((word) => [...word][0]?.toUpperCase() ?? "")
    .join("");
  let hash = 0;
  for (const char of name) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) >>> 0;
  return (
    <span
      className="avatar"
      data-shape={shape}
      data-hue={hash % 6}
      style={{ width: size, height: size, fontSize: Math.round(size * 0.44) }}
      data-initials={initials === "" ? "?" : initials}
      aria-hidden
    />
  );
}

export function Badge({
  tone,
  children,
}: {
  tone?: "ok" | "warn" | "danger" | "accent";
  children: ReactNode;
}) {
  return (
    <span className="badge" data-tone={tone}>
      {children}
    </span>
  );
}

export function Key({ children }: { children: ReactNode }) {
  return <kbd className="key">{children}</kbd>;
}

export function Time({ at, style = "relative" }: { at: string; style?: "relative" | "exact" }) {
  return (
    <time dateTime={at} title={new Date(at).toUTCString()}>
      {style === "relative" ? relative(at) : exact(at)}
    </time>
  );
}

export function Tab({ to, children }: { to: string; children: ReactNode }) {
  return (
    <NavLink to={to} className="tab" end>
      {children}
    </NavLink>
  );
}

export function SwitchRow({
  label,
  hint,
  checked,
  onChange,
  disabled,
}: {
  label: string;
  hint?: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div className="switch-row">
      <div>
        <label htmlFor={id} className="field-label">
          {label}
        </label>
        {hint ? <div className="field-hint">{hint}</div> : null}
      </div>
      <BaseSwitch.Root
        id={id}
        className="switch"
        checked={checked}
        disabled={disabled ?? false}
        onCheckedChange={onChange}
      >
        <BaseSwitch.Thumb />
      </BaseSwitch.Root>
    </div>
  );
}
