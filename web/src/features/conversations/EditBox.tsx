import { useEffect, useRef, useState } from "react";
import { budget } from "../../lib/budget";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";

export function EditBox({
  initial,
  onSave,
  onCancel,
}: {
  initial: string;
  onSave: (text: string) => void;
  onCancel: () => void;
}) {
  const [text, setText] = useState(initial);
  const area = useRef<HTMLTextAreaElement>(null);
  const clean = text.trim();
  const allowed = clean !== "" && budget(clean).state !== "over";
  useEffect(() => {
    const box = area.current;
    if (box === null) return;
    box.focus();
    box.setSelectionRange(box.value.length, box.value.length);
  }, []);
  return (
    <div className="edit-box">
      <textarea
        ref={area}
        className="input"
        aria-label={t.thread.editLabel}
        rows={Math.min(12, Math.max(2, text.split("\n").length))}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Escape") {
            event.preventDefault();
            event.stopPropagation();
            onCancel();
          } else if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            if (allowed) onSave(clean);
          }
        }}
      />
      <div className="dialog-foot">
        <Button size="s" onClick={onCancel}>
          {t.common.cancel}
        </Button>
        <Button size="s" kind="primary" disabled={!allowed} onClick={() => onSave(clean)}>
          {t.thread.editSend}
        </Button>
      </div>
    </div>
  );
}
