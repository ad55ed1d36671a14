import { api } from "../../api/client";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { useSearchText } from "../../lib/useSearchText";
import { Button } from "../../ui/Button";
import { SearchField } from "../../ui/Field";
import { EmptyState, ErrorState, SkeletonRows } from "../../ui/states";
import { usePaged } from "./usePaged";

export function NodesTab({ onOpen, current }: { onOpen: (id: string) => void; current: string | null }) {
  const { text, setText, q } = useSearchText();
  const { query, items, total } = usePaged([...keys.nodes, { q }], (window, signal) =>
    api.knowledge.nodes({ ...window, ...(q === "" ? {} : { q }) }, signal),
  );
  return (
    <>
      <div className="toolbar">
        <div className="toolbar-search">
          <SearchField value={text} onChange={setText} label={t.knowledge.searchNodes} />
        </div>
      </div>
      <div className="pane-body">
        {query.isPending ? (
          <SkeletonRows rows={10} />
        ) : query.isError && items.length === 0 ? (
          <ErrorState what={t.knowledge.nodeList} error={query.error} onRetry={() => void query.refetch()} />
        ) : items.length === 0 ? (
          q === "" ? (
            <EmptyState title={t.knowledge.nodesEmpty} hint={t.knowledge.nodesEmptyHint} />
          ) : (
            <EmptyState title={t.knowledge.noMatch(q)} hint={t.knowledge.noMatchHint} />
          )
        ) : (
          <>
            <ul className="name-list">
              {items.map((node) => (
                <li key={node.id}>
                  <button
                    type="button"
                    className="list-item name-item"
                    aria-current={node.id === current ? "page" : undefined}
                    onClick={() => onOpen(node.id)}
                  >
                    <span className="truncate">{node.label}</span>
                    <span className="muted small truncate grow">
                      {node.aliases
                        .map((one) => one.alias)
                        .filter((alias) => alias !== node.label)
                        .join(", ")}
                    </span>
                    {node.kind ? <span className="muted small">{node.kind}</span> : null}
                  </button>
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
          </>
        )}
      </div>
    </>
  );
}
