import type { Triple } from "../../api/types";
import { t } from "../../lib/strings";
import { predicateText } from "../conversations/grounding";
import { objectText } from "./FactRow";
import { timelineOf } from "./overTime";

export function validity(fact: Triple): string | null {
  const from = fact.valid_from?.slice(0, 10) ?? null;
  const to = fact.valid_to?.slice(0, 10) ?? null;
  if (from === null && to === null) return null;
  if (from === null) return t.knowledge.entity.until(to ?? "");
  if (to === null) return t.knowledge.entity.since(from);
  return `${from} – ${to}`;
}

/** The facts of one relation as bars along the years. The list beside it says the same in words. */
export function TimelineView({
  predicate,
  facts,
  onOpen,
}: {
  predicate: string;
  facts: Triple[];
  onOpen: (id: string) => void;
}) {
  const line = timelineOf(facts, Date.now());
  if (line === null) return null;
  return (
    <figure className="timeline" aria-label={t.knowledge.entity.timeline(predicateText(predicate))}>
      <div className="timeline-bars">
        {line.ticks.map((tick) => (
          <span
            key={tick.label}
            className="timeline-grid"
            style={{ left: `${tick.at * 100}%` }}
            aria-hidden
          />
        ))}
        {line.today === null ? null : (
          <span className="timeline-today" style={{ left: `${line.today * 100}%` }} aria-hidden />
        )}
        {line.bars.map((bar) => (
          <div key={bar.fact.id} className="timeline-row">
            <button
              type="button"
              className="timeline-bar"
              data-negative={bar.fact.polarity === "-"}
              data-claim={bar.fact.kind === "claim"}
              data-open-start={bar.openStart}
              data-open-end={bar.openEnd}
              data-late={bar.from > 0.6}
              style={{ left: `${bar.from * 100}%`, width: `max(6px, ${(bar.to - bar.from) * 100}%)` }}
              title={`${objectText(bar.fact.object)}, ${validity(bar.fact) ?? ""}`}
              aria-label={`${bar.fact.polarity === "-" ? `${t.knowledge.notSo} ` : ""}${objectText(bar.fact.object)}, ${validity(bar.fact) ?? ""}`}
              onClick={() => onOpen(bar.fact.id)}
            >
              <span className="timeline-name">
                {bar.fact.polarity === "-" ? `${t.knowledge.notSo} ` : ""}
                {objectText(bar.fact.object)}
              </span>
            </button>
          </div>
        ))}
      </div>
      <div className="timeline-axis small muted" aria-hidden>
        {line.ticks
          .filter((tick) => tick.at < 0.93)
          .map((tick) => (
            <span key={tick.label} style={{ left: `${tick.at * 100}%` }}>
              {tick.label}
            </span>
          ))}
      </div>
    </figure>
  );
}
