import { useQuery } from "@tanstack/react-query";
import { Waypoints } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useSearchParams } from "react-router";
import { entities } from "../../../api/knowledge";
import type { Curvature, Graph } from "../../../api/knowledge-types";
import type { Id } from "../../../api/types";
import { keys } from "../../../app/query";
import { t } from "../../../lib/strings";
import { Segments } from "../../../ui/Segments";
import { Select } from "../../../ui/Select";
import { Delayed, EmptyState, ErrorState } from "../../../ui/states";
import { toast, toastError } from "../../../ui/Toast";
import { NodePicker } from "../NodePicker";
import { GraphView, ViewSwitch } from "./GraphView";
import { grow, hiddenAround, nothing, only, predicatesOf } from "./model";

/** Statements that are asked for at first. */
const FIRST = { 1: 500, 2: 2000 } as const;
const MORE = 200;
const ANY = "";
const none: ReadonlySet<Id> = new Set();

/** What is recorded around a name, as a graph that grows where it is clicked. */
export default function GraphTab() {
  const [params, setParams] = useSearchParams();
  const center = params.get("center");
  const words = t.knowledge.graphView;
  const change = (values: Record<string, string | null>) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(values))
          if (value === null) next.delete(name);
          else next.set(name, value);
        return next;
      },
      { replace: !("center" in values) },
    );
  const go = (id: Id) => change({ center: id, selected: id, predicate: null });
  if (center === null)
    return (
      <div className="pane-body graph-start">
        <EmptyState icon={<Waypoints size={24} aria-hidden />} title={words.choose} hint={words.chooseHint}>
          <NodePicker label={words.search} onPick={(node) => go(node.id)} />
        </EmptyState>
      </div>
    );
  return <Around key={center} center={center} params={params} change={change} onStart={go} />;
}

function Around({
  center,
  params,
  change,
  onStart,
}: {
  center: Id;
  params: URLSearchParams;
  change: (values: Record<string, string | null>) => void;
  onStart: (id: Id) => void;
}) {
  const words = t.knowledge.graphView;
  const curvature: Curvature = params.get("curvature") === "augmented" ? "augmented" : "balanced";
  const hops = params.get("hops") === "2" ? 2 : 1;
  const selected = params.get("selected");
  const predicate = params.get("predicate") ?? ANY;
  const asList = params.get("view") === "list";
  const query = useQuery({
    queryKey: [...keys.graph, center, hops, curvature],
    queryFn: ({ signal }) => entities.graph(center, { hops, limit: FIRST[hops], curvature }, signal),
    staleTime: 60_000,
  });
  const disagreements = useQuery({
    queryKey: [...keys.contradictions, "graph", center],
    queryFn: async ({ signal }) => {
      const [near, all] = await Promise.all([
        entities.contradictions({ node: center, limit: 100 }, signal),
        entities.contradictions({ limit: 100 }, signal),
      ]);
      return new Set([...near.items, ...all.items].flatMap((one) => [one.a.id, one.b.id]));
    },
    staleTime: 60_000,
  });
  const [added, setAdded] = useState<Graph[]>([]);
  const expanded = useRef(new Set<Id>([center]));
  const [settled, setSettled] = useState<ReadonlySet<Id>>(new Set([center]));
  // Another shading asks for everything anew; what was expanded by hand has the old numbers then.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only these start over
  useEffect(() => {
    setAdded([]);
    expanded.current = new Set([center]);
    setSettled(new Set([center]));
  }, [curvature, hops, center]);
  const whole = useMemo(() => {
    const base = query.data ? grow(nothing, query.data) : nothing;
    return added.reduce(grow, base);
  }, [query.data, added]);
  const centers = useMemo(() => new Set([center]), [center]);
  const keep = useMemo(() => new Set(selected === null ? [center] : [center, selected]), [center, selected]);
  const shown = useMemo(() => only(whole, predicate, keep), [whole, predicate, keep]);
  const relations = useMemo(() => predicatesOf(whole), [whole]);

  const expand = async (id: Id) => {
    const place = whole.index.get(id);
    if (place === undefined || hiddenAround(whole, place) === 0 || expanded.current.has(id)) return;
    expanded.current.add(id);
    try {
      const more = await entities.graph(id, { hops: 1, limit: MORE, curvature });
      const fresh = more.nodes.filter((node) => !whole.index.has(node.id)).length;
      setAdded((before) => [...before, more]);
      setSettled((before) => new Set(before).add(id));
      if (fresh === 0) toast({ text: words.nothingMore });
    } catch (error) {
      expanded.current.delete(id);
      toastError(words.expand.toLowerCase(), error);
    }
  };

  return (
    <>
      <div className="toolbar">
        <div className="toolbar-search">
          <NodePicker label={words.search} onPick={(node) => onStart(node.id)} />
        </div>
        <div className="toolbar-select">
          <Select
            aria-label={`${words.filter}: ${predicate === ANY ? words.allPredicates : predicate.replace(/_/g, " ")}`}
            value={predicate}
            options={[
              { value: ANY, label: words.allPredicates },
              ...relations.map((one) => ({
                value: one.name,
                label: one.label || one.name,
                hint: one.count.toLocaleString(),
              })),
            ]}
            onChange={(value) => change({ predicate: value === ANY ? null : value })}
          />
        </div>
        <Segments
          label={words.hops}
          value={hops === 1 ? "1" : "2"}
          options={[
            { value: "1", label: words.hop1 },
            { value: "2", label: words.hop2 },
          ]}
          onChange={(one) => change({ hops: one === "1" ? null : "2" })}
        />
        <Segments
          className="hide-narrow"
          label={words.curvature}
          value={curvature}
          options={(["balanced", "augmented"] as const).map((value) => ({
            value,
            label: words.curvatures[value],
          }))}
          onChange={(one) => change({ curvature: one === "balanced" ? null : one })}
        />
        <span className="grow" />
        <ViewSwitch asList={asList} onChange={(list) => change({ view: list ? "list" : null })} />
      </div>
      {query.isPending ? (
        <div className="center">
          <Delayed>
            <span className="spinner" role="status" aria-label={t.app.loading} />
          </Delayed>
        </div>
      ) : query.isError ? (
        <ErrorState what={words.one} error={query.error} onRetry={() => void query.refetch()} />
      ) : whole.edges.length === 0 ? (
        <EmptyState icon={<Waypoints size={24} aria-hidden />} title={words.alone} hint={words.aloneHint} />
      ) : (
        <GraphView
          shown={shown}
          centers={centers}
          conflicts={disagreements.data ?? none}
          selected={selected}
          onSelect={(id) => change({ selected: id })}
          onExpand={(id) => void expand(id)}
          settled={settled}
          asList={asList}
          note={query.data.truncated ? <span className="muted small truncate">{words.truncated}</span> : null}
        />
      )}
    </>
  );
}
