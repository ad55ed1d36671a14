import { X } from "lucide-react";
import { Link } from "react-router";
import type { Id } from "../../../api/types";
import { t } from "../../../lib/strings";
import { Button, IconButton } from "../../../ui/Button";
import { hiddenAround, type Shown } from "./model";

/** What is known of the chosen name, and where to go from it. */
export function GraphCard({
  shown,
  id,
  onSelect,
  onExpand,
  settled,
}: {
  shown: Shown;
  id: Id;
  onSelect: (id: Id | null) => void;
  onExpand?: ((id: Id) => void) | undefined;
  settled: boolean;
}) {
  const place = shown.index.get(id);
  const node = place === undefined ? undefined : shown.nodes[place];
  if (place === undefined || !node) return null;
  const edges = (shown.incident[place] ?? []).flatMap((at) => shown.edges[at] ?? []);
  const hidden = hiddenAround(shown, place);
  const words = t.knowledge.graphView;
  return (
    <aside className="graph-card" aria-label={node.label}>
      <div className="row">
        <h2 className="grow truncate" title={node.label}>
          {node.label}
        </h2>
        <IconButton size="s" label={t.common.close} icon={<X size={14} />} onClick={() => onSelect(null)} />
      </div>
      <p className="muted small">
        {node.kind ? `${node.kind} · ` : ""}
        {words.degree(node.degree)}
      </p>
      <div className="graph-card-actions">
        {onExpand ? (
          <Button size="s" disabled={hidden === 0 || settled} onClick={() => onExpand(id)}>
            {words.expand}
          </Button>
        ) : null}
        <Link className="button" data-size="s" to={`/knowledge/graph?center=${id}`}>
          {words.startHere}
        </Link>
        <Link className="button" data-size="s" to={`/knowledge/entities/${id}`}>
          {t.knowledge.openEntity}
        </Link>
      </div>
      <ul className="graph-card-list small">
        {edges.slice(0, 100).map((edge) => {
          const out = edge.subject === id;
          const other = shown.nodes[shown.index.get(out ? edge.object : edge.subject) ?? -1];
          return (
            <li key={edge.id}>
              <button type="button" className="graph-card-edge" onClick={() => onSelect(other?.id ?? null)}>
                <span className="muted">
                  <span aria-hidden>{out ? "→" : "←"} </span>
                  {edge.polarity === "-" ? <span className="not-so">{t.knowledge.notSo} </span> : null}
                  {edge.label || edge.predicate}
                </span>{" "}
                <strong>{other?.label ?? ""}</strong>
              </button>
            </li>
          );
        })}
      </ul>
      {edges.length > 100 ? <p className="muted small">{words.shown(100, edges.length)}</p> : null}
    </aside>
  );
}
