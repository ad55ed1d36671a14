import { Eye, EyeOff } from "lucide-react";
import { useSyncExternalStore } from "react";
import type { Belnap, Verdict } from "../../api/types";
import { t } from "../../lib/strings";
import { IconButton } from "../../ui/Button";
import { hideMarks, marksHidden, onMarksChange, VERDICTS } from "./verdicts";

export function useMarksHidden(): boolean {
  return useSyncExternalStore(onMarksChange, marksHidden);
}

/** How many claims of the answer have each verdict. A count shows its marks alone; the eye hides all marks. */
export function VerdictLegend({
  belnap,
  only,
  onOnly,
}: {
  belnap: Belnap;
  only: Verdict | null;
  onOnly: (verdict: Verdict | null) => void;
}) {
  const hidden = useMarksHidden();
  const shown = VERDICTS.filter((verdict) => (belnap.counts[verdict] ?? 0) > 0);
  if (shown.length === 0) return null;
  return (
    <fieldset className="verdict-legend" aria-label={t.verdicts.legend}>
      {shown.map((verdict) => (
        <button
          key={verdict}
          type="button"
          className="verdict-count"
          data-kind={verdict}
          aria-pressed={only === verdict}
          disabled={hidden}
          title={t.verdicts.meaning[verdict]}
          onClick={() => onOnly(only === verdict ? null : verdict)}
        >
          <span className="verdict-sample" aria-hidden>
            {belnap.counts[verdict]}
          </span>{" "}
          {t.verdicts.name[verdict]}
        </button>
      ))}
      <IconButton
        size="s"
        label={hidden ? t.verdicts.show : t.verdicts.hide}
        icon={hidden ? <EyeOff size={14} /> : <Eye size={14} />}
        aria-pressed={hidden}
        onClick={() => hideMarks(!hidden)}
      />
    </fieldset>
  );
}
