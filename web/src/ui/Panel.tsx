import { X } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { t } from "../lib/strings";
import { IconButton } from "./Button";

/** The one side panel of a room. It pushes the middle aside; on a narrow screen it takes its place. */
export function Panel({
  title,
  onClose,
  actions,
  children,
}: {
  title: string;
  onClose: () => void;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: focus moves when another thing is shown
  useEffect(() => {
    // Only when something inside the page asked for the panel, not on a reload.
    if (document.activeElement !== document.body) heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <aside
      className="side"
      aria-label={title}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented) onClose();
      }}
    >
      <div className="pane-head">
        <h2 ref={heading} tabIndex={-1} className="truncate grow">
          {title}
        </h2>
        {actions}
        <IconButton label={t.common.close} keys="Esc" icon={<X size={16} />} onClick={onClose} />
      </div>
      <div className="side-body">{children}</div>
    </aside>
  );
}
