import { useQuery } from "@tanstack/react-query";
import { CircleCheck } from "lucide-react";
import { Link, useSearchParams } from "react-router";
import { api } from "../../api/client";
import { entities } from "../../api/knowledge";
import type { Id } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { EmptyState, ErrorState, SkeletonRows } from "../../ui/states";
import { DisagreementCard } from "./DisagreementCard";
import { usePaged } from "./usePaged";

export function ContradictionsTab({ onOpenFact }: { onOpenFact: (id: Id) => void }) {
  const [params] = useSearchParams();
  const node = params.get("about_node") ?? null;
  const words = t.knowledge.conflict;
  const about = useQuery({
    queryKey: [...keys.nodes, node ?? ""],
    queryFn: () => api.knowledge.node(node ?? ""),
    enabled: node !== null,
  });
  const { query, items, total } = usePaged([...keys.contradictions, "list", node], (window, signal) =>
    entities.contradictions({ ...window, ...(node === null ? {} : { node }) }, signal),
  );
  return (
    <>
      <div className="toolbar">
        <span className="muted small grow">
          {node === null ? words.hint : about.data ? words.about(about.data.label) : ""}
        </span>
        {node === null ? null : (
          <Link className="link small" to="/knowledge/contradictions">
            {words.showAll}
          </Link>
        )}
        {query.isSuccess && total > 0 ? (
          <span className="muted small">{t.documents.conflicts(total)}</span>
        ) : null}
      </div>
      <div className="pane-body">
        {query.isPending ? (
          <SkeletonRows rows={8} />
        ) : query.isError && items.length === 0 ? (
          <ErrorState what={words.list} error={query.error} onRetry={() => void query.refetch()} />
        ) : items.length === 0 ? (
          <EmptyState
            icon={<CircleCheck size={24} aria-hidden />}
            title={words.empty}
            hint={words.emptyHint}
          />
        ) : (
          <div className="pane-inner clashes">
            <ul className="stack">
              {items.map((item) => (
                <li key={`${item.a.id} ${item.b.id}`}>
                  <DisagreementCard item={item} onOpenFact={onOpenFact} />
                </li>
              ))}
            </ul>
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
          </div>
        )}
      </div>
    </>
  );
}
