import { X } from "lucide-react";
import { Toast as Base } from "radix-ui";
import { useSyncExternalStore } from "react";
import { asApiError } from "../api/error";
import { t } from "../lib/strings";
import { Button, IconButton } from "./Button";

interface ToastData {
  id: number;
  text: string;
  detail?: string;
  tone?: "danger";
  action?: { label: string; run: () => void };
}

let toasts: ToastData[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function set(next: ToastData[]) {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Shows a short message; with an action it stays long enough to be undone. */
export function toast(data: Omit<ToastData, "id">) {
  const id = nextId;
  nextId += 1;
  set([...toasts.slice(-2), { ...data, id }]);
}

export function toastError(what: string, error: unknown) {
  const known = asApiError(error);
  const request = known.requestId === null ? "" : ` (${t.common.requestId} ${known.requestId})`;
  toast({ text: t.errors.actionFailed(what), detail: `${known.detail}${request}`, tone: "danger" });
}

export function Toasts() {
  const items = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <Base.Provider swipeDirection="right" label={t.common.notification}>
      {items.map((item) => (
        <Base.Root
          key={item.id}
          className="toast"
          data-tone={item.tone}
          duration={item.action ? 8000 : item.tone ? 10_000 : 4000}
          onOpenChange={(open) => {
            if (!open) set(toasts.filter((other) => other.id !== item.id));
          }}
        >
          <Base.Description className="grow">
            {item.text}
            {item.detail ? <span className="field-hint"> {item.detail}</span> : null}
          </Base.Description>
          {item.action ? (
            <Base.Action altText={item.action.label} asChild>
              <Button size="s" onClick={item.action.run}>
                {item.action.label}
              </Button>
            </Base.Action>
          ) : null}
          <Base.Close asChild>
            <IconButton size="s" label={t.common.close} icon={<X size={14} />} />
          </Base.Close>
        </Base.Root>
      ))}
      <Base.Viewport className="toasts" />
    </Base.Provider>
  );
}
