import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowLeft, Ellipsis, Pencil, RefreshCw, Trash2, Waypoints } from "lucide-react";
import { useMemo, useState } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";
import { balls } from "../../../api/knowledge";
import type { Id } from "../../../api/types";
import { keys } from "../../../app/query";
import { t } from "../../../lib/strings";
import { Button, IconButton } from "../../../ui/Button";
import { Badge, Time } from "../../../ui/bits";
import { Menu, MenuItem, MenuLine } from "../../../ui/Menu";
import { EmptyState, ErrorState, SkeletonRows } from "../../../ui/states";
import { toast, toastError } from "../../../ui/Toast";
import { BallDialog } from "../BallDialog";
import { ballRemovals, isFiltered } from "../BallsTab";
import { GraphView, ViewSwitch } from "./GraphView";
import { grow, nothing } from "./model";

const none: ReadonlySet<Id> = new Set();

/** One neighbourhood as it was when it was last refreshed. */
export default function BallPage({ id }: { id: Id }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [params, setParams] = useSearchParams();
  const [editing, setEditing] = useState(false);
  const words = t.knowledge.ball;
  const query = useQuery({ queryKey: [...keys.balls, id], queryFn: ({ signal }) => balls.get(id, signal) });
  const ball = query.data;
  const shown = useMemo(
    () =>
      ball ? grow(nothing, { nodes: ball.nodes, edges: ball.edges, truncated: ball.truncated }) : nothing,
    [ball],
  );
  const centers = useMemo(() => new Set(ball?.centers.map((one) => one.id)), [ball]);
  const refresh = useMutation({
    mutationFn: () => balls.refresh(id),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keys.balls });
      toast({ text: words.refreshedToast });
    },
    onError: (error) => toastError(words.refresh.toLowerCase(), error),
  });
  const set = (name: string, value: string | null) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === null) next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const remove = () => {
    ballRemovals.add(
      id,
      async () => {
        await balls.remove(id);
        void client.invalidateQueries({ queryKey: [...keys.balls, "list"] });
      },
      (error) => toastError(words.delete.toLowerCase(), error),
    );
    toast({ text: words.deleted, action: { label: t.common.undo, run: () => ballRemovals.undo(id) } });
    navigate("/knowledge/neighbourhoods");
  };
  const asList = params.get("view") === "list";
  return (
    <>
      <title>{`${ball?.name ?? words.one} – ${t.app.name}`}</title>
      <div className="pane-head">
        <Link
          to="/knowledge/neighbourhoods"
          className="icon-button"
          aria-label={t.knowledge.balls}
          title={t.knowledge.balls}
        >
          <ArrowLeft size={16} aria-hidden />
        </Link>
        <h1 className="grow truncate">{ball?.name ?? ""}</h1>
        {ball ? (
          <>
            <ViewSwitch asList={asList} onChange={(list) => set("view", list ? "list" : null)} />
            <Button
              size="s"
              className="hide-narrow"
              disabled={refresh.isPending}
              onClick={() => refresh.mutate()}
            >
              <RefreshCw size={14} aria-hidden /> {words.refresh}
            </Button>
            <Menu trigger={<IconButton label={t.common.more} icon={<Ellipsis size={16} />} />}>
              <MenuItem icon={<RefreshCw size={16} />} onSelect={() => refresh.mutate()}>
                {words.refresh}
              </MenuItem>
              <MenuItem icon={<Pencil size={16} />} onSelect={() => setTimeout(() => setEditing(true))}>
                {words.edit}
              </MenuItem>
              <MenuLine />
              <MenuItem icon={<Trash2 size={16} />} tone="danger" onSelect={remove}>
                {words.delete}
              </MenuItem>
            </Menu>
          </>
        ) : null}
      </div>
      {query.isPending ? (
        <SkeletonRows rows={8} />
      ) : query.isError ? (
        <ErrorState what={words.one} error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <>
          <div className="doc-meta muted small">
            <span>{query.data.centers.map((one) => one.label).join(", ")}</span>
            <span>{words.radii[String(query.data.radius)] ?? query.data.radius}</span>
            {isFiltered(query.data) ? <Badge>{words.filtersOn}</Badge> : null}
            {query.data.refreshed_at ? (
              <span>
                {words.refreshed} <Time at={query.data.refreshed_at} style="exact" />
              </span>
            ) : null}
          </div>
          {shown.edges.length === 0 ? (
            <EmptyState
              icon={<Waypoints size={24} aria-hidden />}
              title={t.knowledge.graphView.alone}
              hint={t.knowledge.graphView.aloneHint}
            />
          ) : (
            <GraphView
              shown={shown}
              centers={centers}
              conflicts={none}
              selected={params.get("selected")}
              onSelect={(node) => set("selected", node)}
              asList={asList}
              note={
                query.data.truncated ? <span className="muted small truncate">{words.truncated}</span> : null
              }
            />
          )}
          <BallDialog
            ball={query.data}
            open={editing}
            onClose={() => setEditing(false)}
            onSaved={() => undefined}
          />
        </>
      )}
    </>
  );
}
