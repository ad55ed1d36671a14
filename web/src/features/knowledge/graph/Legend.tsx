import { useMemo } from "react";
import { useTheme } from "../../../app/theme";
import { t } from "../../../lib/strings";
import { scale } from "./colours";
import { type Shown, shadeOf } from "./model";

const tidy = (value: number) => (Math.abs(value) < 10 ? value.toFixed(1) : Math.round(value).toString());

export function Legend({ shown, expandable }: { shown: Shown; expandable: boolean }) {
  const { dark } = useTheme();
  const shade = useMemo(() => shadeOf(shown.edges), [shown]);
  const words = t.knowledge.graphView;
  return (
    <section className="graph-legend small" aria-label={words.legend}>
      <div className="legend-scale">
        <span>
          {words.bridge} {shade.low < 0 ? <span className="muted">{tidy(shade.low)}</span> : null}
        </span>
        <span
          className="legend-bar"
          style={{ background: `linear-gradient(to right, ${scale(dark).join(", ")})` }}
          aria-hidden
        />
        <span>
          {words.cohesive} {shade.high > 0 ? <span className="muted">{tidy(shade.high)}</span> : null}
        </span>
      </div>
      <span className="legend-item">
        <svg width="26" height="10" aria-hidden="true">
          <line x1="0" y1="5" x2="26" y2="5" className="legend-line" strokeDasharray="5 4" />
        </svg>
        {words.notSo}
      </span>
      <span className="legend-item">
        <svg width="26" height="10" aria-hidden="true" className="legend-conflict">
          <path d="M0 3H26M0 7H26" />
          <path d="M10 2L16 8M16 2L10 8" strokeWidth="2" />
        </svg>
        {words.contradiction}
      </span>
      {expandable ? (
        <span className="legend-item">
          <svg width="10" height="10" aria-hidden="true" className="legend-plus">
            <path d="M1 5H9M5 1V9" />
          </svg>
          {words.hidden}
        </span>
      ) : null}
    </section>
  );
}
