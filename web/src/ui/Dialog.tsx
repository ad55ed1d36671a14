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

export function Dialog({ open, onClose, title, size = "m", children }: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
      <Base.Portal>
        <Base.Overlay className="scrim" />
        <Base.Content className="dialog" data-size={size} aria-describedby={undefined}>
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
