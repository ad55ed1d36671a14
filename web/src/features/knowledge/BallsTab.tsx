import { CircleDot, Plus } from "lucide-react";
import { useSyncExternalStore } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";
import { balls } from "../../api/knowledge";
import type { Ball } from "../../api/knowledge-types";
import { keys } from "../../app/query";
import { Later } from "../../lib/later";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Badge, Time } from "../../ui/bits";
import { EmptyState, ErrorState, SkeletonRows } from "../../ui/states";
import { BallDialog } from "./BallDialog";
import { usePaged } from "./usePaged";

export const ballRemovals = new Later();

export function isFiltered({ filters }: Ball): boolean {
  return (
    (filters.predicates?.length ?? 0) > 0 ||
    (filters.kinds?.length ?? 0) === 1 ||
    (filters.min_confidence ?? 0) > 0 ||
    (filters.polarity ?? null) !== null
  );
}

export function BallsTab() {
  const [params, setParams] = useSearchParams();
  const navigate = useNavigate();
  const removed = useSyncExternalStore(ballRemovals.subscribe, ballRemovals.ids);
  const words = t.knowledge.ball;
  const { query, items, total } = usePaged([...keys.balls, "list"], (window, signal) =>
    balls.list(window, signal),
  );
  const shown = items.filter((one) => !removed.has(one.id));
  const creating = params.get("new") === "1";
  const create = () => setParams({ new: "1" });
  return (
    <>
      <div className="toolbar">
        <span className="muted small grow">{words.hint}</span>
        <Button size="s" onClick={create}>
          <Plus size={14} aria-hidden /> {words.new}
        </Button>
      </div>
      <div className="pane-body">
        {query.isPending ? (
          <SkeletonRows rows={6} />
        ) : query.isError && items.length === 0 ? (
          <ErrorState what={words.list} error={query.error} onRetry={() => void query.refetch()} />
        ) : shown.length === 0 ? (
          <EmptyState icon={<CircleDot size={24} aria-hidden />} title={words.empty} hint={words.emptyHint}>
            <Button kind="primary" onClick={create}>
              {words.new}
            </Button>
          </EmptyState>
        ) : (
          <>
            <table className="grid-table">
              <thead>
                <tr>
                  <th scope="col">{words.name}</th>
                  <th scope="col">{words.centers}</th>
                  <th scope="col" className="hide-narrow">
                    {words.radius}
                  </th>
                  <th scope="col" className="hide-narrow cell-end">
                    {words.refreshed}
                  </th>
                </tr>
              </thead>
              <tbody>
                {shown.map((ball) => (
                  <tr key={ball.id}>
                    <td>
                      <Link className="cell-link" to={`/knowledge/neighbourhoods/${ball.id}`}>
                        {ball.name}
                      </Link>
                      <div className="muted small">{words.size(ball.node_count, ball.edge_count)}</div>
                    </td>
                    <td>
                      {ball.centers.map((one) => one.label).join(", ")}{" "}
                      {isFiltered(ball) ? <Badge>{words.filtersOn}</Badge> : null}
                    </td>
                    <td className="muted hide-narrow">{words.radii[String(ball.radius)] ?? ball.radius}</td>
                    <td className="muted hide-narrow cell-end">
                      {ball.refreshed_at ? <Time at={ball.refreshed_at} /> : t.common.never}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            {query.hasNextPage ? (
              <div className="list-more">
                <Button
                  size="s"
                  disabled={query.isFetchingNextPage}
                  onClick={() => void query.fetchNextPage()}
                >
                  {t.common.loadMore} ({t.common.ofTotal(items.length, total)})
                </Button>
              </div>
            ) : null}
          </>
        )}
      </div>
      <BallDialog
        ball={null}
        open={creating}
        onClose={() => setParams({})}
        onSaved={(ball) => navigate(`/knowledge/neighbourhoods/${ball.id}`)}
      />
    </>
  );
}
