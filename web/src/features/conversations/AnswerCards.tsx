import { ChartColumn, ChevronRight, CircleAlert, FileText, Wrench } from "lucide-react";
import type { Artifact, ToolCall } from "../../api/types";
import { t } from "../../lib/strings";

/** Charts and tool calls of an answer: one line each; a chart opens in the side panel. */
export function AnswerCards({
  tools,
  artifacts,
  onOpen,
}: {
  tools: ToolCall[];
  artifacts: Artifact[];
  onOpen?: (artifact: Artifact) => void;
}) {
  // The chart's own card says it all once the chart is there.
  const shown =
    artifacts.length === 0 ? tools : tools.filter((tool) => tool.name !== "generate_chart" || failed(tool));
  if (shown.length === 0 && artifacts.length === 0) return null;
  return (
    <div className="cards">
      {shown.map((tool, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls have no id and keep their order
        <ToolCard key={index} tool={tool} />
      ))}
      {artifacts.map((artifact) => (
        <button key={artifact.id} type="button" className="card" onClick={() => onOpen?.(artifact)}>
          {artifact.type === "chart" ? (
            <ChartColumn size={16} aria-hidden />
          ) : (
            <FileText size={16} aria-hidden />
          )}
          <span className="truncate grow">{artifact.name}</span>
          <span className="muted small">{artifact.type === "chart" ? t.thread.chart : artifact.type}</span>
          <ChevronRight size={14} aria-hidden />
        </button>
      ))}
    </div>
  );
}

function failed(tool: ToolCall): boolean {
  return tool.ok === false || tool.status === "failed";
}

function ToolCard({ tool }: { tool: ToolCall }) {
  const running = tool.status === "started";
  const label = t.thread.tool[tool.name] ?? tool.name;
  return (
    <details className="card tool">
      <summary>
        {running ? (
          <span className="spinner" aria-hidden />
        ) : failed(tool) ? (
          <CircleAlert size={16} className="bad" aria-hidden />
        ) : (
          <Wrench size={16} aria-hidden />
        )}
        <span className="truncate grow">{tool.summary ? `${label}: ${tool.summary}` : label}</span>
        <span className="muted small">
          {running ? t.thread.tool.started : failed(tool) ? t.thread.tool.failed : t.thread.tool.completed}
        </span>
      </summary>
      <div className="small muted">{t.thread.arguments}</div>
      <pre>{argumentsText(tool.arguments)}</pre>
    </details>
  );
}

function argumentsText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? {}, null, 2);
  return text.length > 4000 ? `${text.slice(0, 4000)}…` : text;
}
