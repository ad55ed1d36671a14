import { BookOpenText } from "lucide-react";
import { useSearchParams } from "react-router";
import { api } from "../../api/client";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { useSearchText } from "../../lib/useSearchText";
import { Button } from "../../ui/Button";
import { SearchField } from "../../ui/Field";
import { EmptyState, ErrorState, SkeletonRows } from "../../ui/states";
import { FactRow } from "./FactRow";
import { usePaged } from "./usePaged";

export function FactsTab({
  onOpenFact,
  onOpenNode,
  onAdd,
  current,
}: {
  onOpenFact: (id: string) => void;
  onOpenNode: (id: string) => void;
  onAdd: () => void;
  current: string | null;
}) {
  const [params, setParams] = useSearchParams();
  const { text, setText, q } = useSearchText();
  const predicate = params.get("predicate") ?? "";
  const retracted = params.get("retracted") === "1";
  const { query, items, total } = usePaged([...keys.triples, { q, predicate, retracted }], (window, signal) =>
    api.knowledge.triples(
      {
        ...window,
        ...(q === "" ? {} : { q }),
        ...(predicate === "" ? {} : { predicate }),
        ...(retracted ? { include_retracted: true } : {}),
      },
      signal,
    ),
  );
  const set = (name: string, value: string | null) =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      if (value === null) next.delete(name);
      else next.set(name, value);
      return next;
    });
  return (
    <>
      <div className="toolbar">
        <div className="toolbar-search">
          <SearchField value={text} onChange={setText} label={t.knowledge.search} />
        </div>
        {predicate === "" ? null : (
          <Button size="s" kind="ghost" onClick={() => set("predicate", null)}>
            {t.knowledge.predicate}: {predicate} ×
          </Button>
        )}
        <label className="check">
          <input
            type="checkbox"
            checked={retracted}
            onChange={(event) => set("retracted", event.target.checked ? "1" : null)}
          />
          {t.knowledge.showRetracted}
        </label>
        <span className="grow" />
        {query.isSuccess ? <span className="muted small">{t.knowledge.use(total)}</span> : null}
      </div>
      <div className="pane-body">
        {query.isPending ? (
          <SkeletonRows rows={10} />
        ) : query.isError && items.length === 0 ? (
          <ErrorState what={t.knowledge.list} error={query.error} onRetry={() => void query.refetch()} />
        ) : items.length === 0 ? (
          q === "" && predicate === "" ? (
            <EmptyState
              icon={<BookOpenText size={24} aria-hidden />}
              title={t.knowledge.empty}
              hint={t.knowledge.emptyHint}
            >
              <Button kind="primary" onClick={onAdd}>
                {t.knowledge.add}
              </Button>
            </EmptyState>
          ) : (
            <EmptyState title={t.knowledge.noMatch(q || predicate)} hint={t.knowledge.noMatchHint} />
          )
        ) : (
          <>
            <table className="grid-table">
              <thead>
                <tr>
                  <th scope="col">{t.knowledge.subject}</th>
                  <th scope="col">{t.knowledge.predicate}</th>
                  <th scope="col">{t.knowledge.object}</th>
                  <th scope="col" className="hide-narrow">
                    {t.knowledge.source}
                  </th>
                  <th scope="col">
                    <span className="sr-only">{t.common.more}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {items.map((fact) => (
                  <FactRow
                    key={fact.id}
                    fact={fact}
                    current={fact.id === current}
                    onOpen={() => onOpenFact(fact.id)}
                    onOpenNode={onOpenNode}
                  />
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
    </>
  );
}
