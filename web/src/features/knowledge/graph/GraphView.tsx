import type { ReactNode } from "react";
import type { Id } from "../../../api/types";
import { t } from "../../../lib/strings";
import { Segments } from "../../../ui/Segments";
import { EdgeList } from "./EdgeList";
import { GraphCanvas } from "./GraphCanvas";
import { GraphCard } from "./GraphCard";
import { Legend } from "./Legend";
import type { Shown } from "./model";

const none: ReadonlySet<Id> = new Set();

/** A graph as picture or list, its legend, and what is chosen in it. */
export function GraphView({
  shown,
  centers,
  conflicts,
  selected,
  onSelect,
  onExpand,
  settled = none,
  asList,
  note,
}: {
  shown: Shown;
  centers: ReadonlySet<Id>;
  conflicts: ReadonlySet<Id>;
  selected: Id | null;
  onSelect: (id: Id | null) => void;
  onExpand?: (id: Id) => void;
  settled?: ReadonlySet<Id>;
  asList: boolean;
  note?: ReactNode;
}) {
  return (
    <div className="graph-view">
      <div className="graph-main">
        {asList ? (
          <EdgeList shown={shown} conflicts={conflicts} selected={selected} onSelect={onSelect} />
        ) : (
          <GraphCanvas
            shown={shown}
            centers={centers}
            conflicts={conflicts}
            selected={selected}
            onSelect={onSelect}
            onExpand={onExpand}
            settled={settled}
          />
        )}
        <div className="graph-foot">
          {asList ? null : <Legend shown={shown} expandable={onExpand !== undefined} />}
          <span className="grow" />
          {note}
          <span className="muted small no-wrap">
            {t.knowledge.graphView.size(shown.nodes.length, shown.edges.length)}
          </span>
        </div>
      </div>
      {selected !== null && shown.index.has(selected) ? (
        <GraphCard
          shown={shown}
          id={selected}
          onSelect={onSelect}
          onExpand={onExpand}
          settled={settled.has(selected)}
        />
      ) : null}
    </div>
  );
}

export function ViewSwitch({ asList, onChange }: { asList: boolean; onChange: (asList: boolean) => void }) {
  return (
    <Segments
      label={t.knowledge.graphView.view}
      value={asList ? "list" : "graph"}
      options={[
        { value: "graph", label: t.knowledge.graphView.asGraph },
        { value: "list", label: t.knowledge.graphView.asList },
      ]}
      onChange={(one) => onChange(one === "list")}
    />
  );
}
