import { X } from "lucide-react";
import { Dialog as Base } from "radix-ui";
import type { ReactNode } from "react";
import { t } from "../lib/strings";
import { IconButton } from "./Button";

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  size?: "m" | "l";
  children: ReactNode;
}

const FIRST = ".dialog-body input, .dialog-body button, .dialog-body textarea";

export function Dialog({ open, onClose, title, size = "m", children }: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Base.Portal>
        <Base.Overlay className="scrim" />
        <Base.Content
          className="dialog"
          data-size={size}
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => {
            // The close button comes first in the order, but the work starts in the body.
            const dialog = event.currentTarget as HTMLElement | null;
            if (dialog === null) return;
            event.preventDefault();
            (dialog.querySelector<HTMLElement>(FIRST) ?? dialog).focus();
          }}
        >
          <div className="dialog-head">
            <Base.Title>{title}</Base.Title>
            <Base.Close asChild>
              <IconButton label={t.common.close} icon={<X size={16} />} />
            </Base.Close>
          </div>
          <div className="dialog-body">{children}</div>
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  );
}
