import { lazy, Suspense, useMemo, useState } from "react";
import type { Message } from "../../../api/types";
import { useTheme } from "../../../app/theme";
import { t } from "../../../lib/strings";
import { cleanChart } from "../../../ui/chart/sanitise";
import { chartTable } from "../../../ui/chart/table";
import { Bone, Delayed, EmptyState } from "../../../ui/states";

const ChartView = lazy(() => import("../../../ui/chart/ChartView"));

export function ChartPanel({ message, artifactId }: { message: Message; artifactId: string | null }) {
  const artifact = message.metadata.artifacts?.find((one) => one.id === artifactId);
  const chart = useMemo(() => (artifact ? cleanChart(artifact.content) : null), [artifact]);
  const [broken, setBroken] = useState(false);
  const { dark } = useTheme();
  if (!artifact) return <EmptyState title={t.thread.artifactGone} />;
  if (artifact.type !== "chart") return <pre className="artifact-text">{artifact.content}</pre>;
  if (chart === null) return <EmptyState title={t.thread.chartBroken} hint={t.thread.chartBrokenHint} />;
  const table = chartTable(chart.option);
  const title = titleOf(chart.option, artifact.name);
  return (
    <>
      {title === null ? null : <p>{title}</p>}
      {broken ? (
        <EmptyState title={t.thread.chartBroken} hint={t.thread.chartBrokenHint} />
      ) : (
        <Suspense
          fallback={
            <Delayed>
              <Bone height={360} />
            </Delayed>
          }
        >
          <ChartView
            option={chart.option}
            dark={dark}
            label={artifact.name}
            onBroken={() => setBroken(true)}
          />
        </Suspense>
      )}
      {chart.removed > 0 ? <p className="field-hint">{t.thread.chartRemoved(chart.removed)}</p> : null}
      {table ? (
        <section className="side-section">
          <h3>{t.thread.chartData}</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table must scroll by keyboard too */}
          <section className="md-table" aria-label={t.thread.chartData} tabIndex={0}>
            <table className="data-table">
              <thead>
                <tr>
                  {table.columns.map((name, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: columns keep their order
                    <th key={index} scope="col">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {table.rows.map((row, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: rows keep their order
                  <tr key={index}>
                    {row.map((cell, column) => (
                      // biome-ignore lint/suspicious/noArrayIndexKey: cells keep their order
                      <td key={column}>{cell}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </section>
      ) : null}
    </>
  );
}

/** The chart's own title, unless it only repeats the heading of the panel. */
function titleOf(option: Record<string, unknown>, name: string): string | null {
  const title = Array.isArray(option.title) ? option.title[0] : option.title;
  if (title === null || typeof title !== "object") return null;
  const parts = [(title as { text?: unknown }).text, (title as { subtext?: unknown }).subtext];
  const text = parts.filter(
    (part): part is string => typeof part === "string" && part !== "" && part !== name,
  );
  return text.length === 0 ? null : text.join(" – ");
}
