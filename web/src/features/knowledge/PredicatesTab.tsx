import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Badge } from "../../ui/bits";
import { EmptyState, ErrorState, SkeletonRows } from "../../ui/states";
import { predicateText } from "../conversations/grounding";

export function PredicatesTab({ onOpen, current }: { onOpen: (id: string) => void; current: string | null }) {
  const query = useQuery({ queryKey: keys.predicates, queryFn: api.knowledge.predicates });
  const items = query.data?.items ?? [];
  return (
    <div className="pane-body">
      {query.isPending ? (
        <SkeletonRows rows={8} />
      ) : query.isError ? (
        <ErrorState
          what={t.knowledge.predicateList}
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      ) : items.length === 0 ? (
        <EmptyState title={t.knowledge.predicatesEmpty} hint={t.knowledge.predicatesEmptyHint} />
      ) : (
        <ul className="name-list">
          {items.map((one) => (
            <li key={one.id}>
              <button
                type="button"
                className="list-item name-item"
                aria-current={one.id === current ? "page" : undefined}
                onClick={() => onOpen(one.id)}
              >
                <span className="truncate grow">{predicateText(one.name)}</span>
                {one.functional ? <Badge>{t.knowledge.functional}</Badge> : null}
                {one.symmetric ? <Badge>{t.knowledge.symmetric}</Badge> : null}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
