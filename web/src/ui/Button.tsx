import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { Tip } from "./Tooltip";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: "default" | "primary" | "ghost" | "danger";
  size?: "s" | "m";
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ kind = "default", size = "m", type = "button", className, ...rest }: ButtonProps) {
  return (
    <button {...rest} type={type} className={`button ${className ?? ""}`} data-kind={kind} data-size={size} />
  );
}

interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "children"> {
  /** The name that a screen reader says and the tooltip shows. */
  label: string;
  icon: ReactNode;
  keys?: string;
  size?: "s" | "m";
  ref?: Ref<HTMLButtonElement>;
}

export function IconButton({
  label,
  icon,
  keys,
  size = "m",
  type = "button",
  className,
  ...rest
}: IconButtonProps) {
  return (
    <Tip text={label} keys={keys}>
      <button
        {...rest}
        type={type}
        aria-label={label}
        className={`icon-button ${className ?? ""}`}
        data-size={size}
      >
        {icon}
      </button>
    </Tip>
  );
}
