import { useInfiniteQuery } from "@tanstack/react-query";
import { MessagesSquare, Plus, Users } from "lucide-react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import { api } from "../../api/client";
import type { ConversationSummary } from "../../api/types";
import { keys } from "../../app/query";
import { age, ageLabel } from "../../lib/dates";
import { t } from "../../lib/strings";
import { useSearchText } from "../../lib/useSearchText";
import { Button, IconButton } from "../../ui/Button";
import { Time } from "../../ui/bits";
import { SearchField } from "../../ui/Field";
import { EmptyState, ErrorState, SkeletonRows } from "../../ui/states";

const PAGE = 40;

type View = "active" | "shared" | "archived";

const filters: Record<View, { archived?: boolean; shared?: boolean }> = {
  active: { archived: false },
  shared: { shared: true },
  archived: { archived: true },
};

const views: { view: View; label: string }[] = [
  { view: "active", label: t.conversations.active },
  { view: "shared", label: t.conversations.sharedTab },
  { view: "archived", label: t.conversations.archived },
];

function viewOf(params: URLSearchParams): View {
  const view = params.get("view");
  return view === "shared" || view === "archived" ? view : "active";
}

export function ConversationList() {
  const [params, setParams] = useSearchParams();
  const navigate = useNavigate();
  const view = viewOf(params);
  const { text, setText, q } = useSearchText();

  const list = useInfiniteQuery({
    queryKey: [...keys.conversations, "list", { q, view }],
    queryFn: ({ pageParam, signal }) =>
      api.conversations.list(
        { limit: PAGE, offset: pageParam, ...filters[view], ...(q === "" ? {} : { q }) },
        signal,
      ),
    initialPageParam: 0,
    getNextPageParam: (last) => {
      const next = last.offset + last.items.length;
      return last.items.length > 0 && next < last.total ? next : undefined;
    },
    placeholderData: (before) => before,
  });
  const items = dedupe(list.data?.pages.flatMap((page) => page.items) ?? []);

  const setView = (next: View) =>
    setParams((before) => {
      const params = new URLSearchParams(before);
      if (next === "active") params.delete("view");
      else params.set("view", next);
      return params;
    });

  return (
    <section className="list-pane" aria-label={t.conversations.title}>
      <div className="pane-head">
        <h1 className="grow">{t.conversations.title}</h1>
        <IconButton
          label={t.conversations.new}
          keys="C"
          icon={<Plus size={18} />}
          onClick={() => navigate("/conversations/new")}
        />
      </div>
      <div className="list-filter">
        <SearchField value={text} onChange={setText} label={t.conversations.search} />
        <fieldset className="tabs" aria-label={t.conversations.filter}>
          {views.map((one) => (
            <button
              key={one.view}
              type="button"
              className="tab"
              aria-pressed={view === one.view}
              aria-current={view === one.view ? "page" : undefined}
              onClick={() => setView(one.view)}
            >
              {one.label}
            </button>
          ))}
        </fieldset>
      </div>
      <div className="list-scroll">
        {list.isPending ? (
          <SkeletonRows rows={8} />
        ) : list.isError && items.length === 0 ? (
          <ErrorState what={t.conversations.list} error={list.error} onRetry={() => void list.refetch()} />
        ) : items.length === 0 ? (
          <Nothing q={q} view={view} />
        ) : (
          <>
            <ul>
              {items.map((item, index) => (
                <Row key={item.id} item={item} before={items[index - 1]} grouped={q === ""} />
              ))}
            </ul>
            {list.hasNextPage ? (
              <div className="list-more">
                <Button
                  size="s"
                  kind="ghost"
                  disabled={list.isFetchingNextPage}
                  onClick={() => void list.fetchNextPage()}
                >
                  {t.common.loadMore} ({t.common.ofTotal(items.length, list.data?.pages[0]?.total ?? 0)})
                </Button>
              </div>
            ) : null}
          </>
        )}
      </div>
    </section>
  );
}

function Row({
  item,
  before,
  grouped,
}: {
  item: ConversationSummary;
  before: ConversationSummary | undefined;
  grouped: boolean;
}) {
  const { id } = useParams();
  const [params] = useSearchParams();
  const keep = new URLSearchParams();
  for (const name of ["q", "view"]) {
    const value = params.get(name);
    if (value !== null) keep.set(name, value);
  }
  if (item.match?.message_id) keep.set("at", item.match.message_id);
  const group = age(item.updated_at);
  const search = keep.toString();
  return (
    <li>
      {grouped && (!before || age(before.updated_at) !== group) ? (
        <div className="list-group">{ageLabel(group)}</div>
      ) : null}
      <Link
        to={`/conversations/${item.id}${search === "" ? "" : `?${search}`}`}
        className="list-item"
        aria-current={item.id === id ? "page" : undefined}
      >
        <div className="list-item-title">
          <span className="truncate">{item.title ?? t.conversations.untitled}</span>
          {item.is_shared ? <Users size={13} aria-label={t.conversations.shared} className="muted" /> : null}
          <Time at={item.updated_at} />
        </div>
        {item.match ? (
          <div className="list-item-sub two">{item.match.snippet}</div>
        ) : (
          <div className="list-item-sub truncate">
            {item.last_message_preview ?? t.conversations.messages(0)}
          </div>
        )}
      </Link>
    </li>
  );
}

function Nothing({ q, view }: { q: string; view: View }) {
  const navigate = useNavigate();
  if (q !== "") return <EmptyState title={t.conversations.noMatch(q)} hint={t.conversations.noMatchHint} />;
  if (view === "shared")
    return <EmptyState title={t.conversations.sharedEmpty} hint={t.conversations.sharedEmptyHint} />;
  if (view === "archived")
    return <EmptyState title={t.conversations.archivedEmpty} hint={t.conversations.archivedEmptyHint} />;
  return (
    <EmptyState
      icon={<MessagesSquare size={24} aria-hidden />}
      title={t.conversations.empty}
      hint={t.conversations.emptyHint}
    >
      <Button kind="primary" onClick={() => navigate("/conversations/new")}>
        {t.conversations.new}
      </Button>
    </EmptyState>
  );
}

// A thread that moved up while pages were loaded may arrive twice.
function dedupe(items: ConversationSummary[]): ConversationSummary[] {
  const seen = new Set<string>();
  return items.filter((item) => !seen.has(item.id) && seen.add(item.id));
}
