import { useQueries, useQuery } from "@tanstack/react-query";
import { ArrowLeft, Ellipsis, Merge, Plus, Split, TriangleAlert, Waypoints } from "lucide-react";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { api } from "../../api/client";
import { documents } from "../../api/documents";
import { entities } from "../../api/knowledge";
import type { Disagreement } from "../../api/knowledge-types";
import type { Id, KnowledgeNodeDetail, Triple } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Button, IconButton } from "../../ui/Button";
import { Badge, Time } from "../../ui/bits";
import { Menu, MenuItem } from "../../ui/Menu";
import { EmptyState, ErrorState, SkeletonRows } from "../../ui/states";
import { predicateText } from "../conversations/grounding";
import { Aliases } from "./Aliases";
import { DisagreementCard } from "./DisagreementCard";
import { objectText } from "./FactRow";
import { MergeDialog } from "./MergeDialog";
import { useMerging } from "./merging";
import { hasDates } from "./overTime";
import { Passage } from "./Sources";
import { SplitDialog } from "./SplitDialog";
import { TimelineView, validity } from "./Timeline";

const FEW = 8;
const SOURCES = 60;

/** Everything that is recorded about one name. */
export function EntityPage({
  id,
  onOpenFact,
  onAdd,
  current,
}: {
  id: Id;
  onOpenFact: (id: Id) => void;
  onAdd: (label: string) => void;
  current: Id | null;
}) {
  const query = useQuery({ queryKey: [...keys.nodes, id], queryFn: () => api.knowledge.node(id) });
  const navigate = useNavigate();
  const merging = useMerging();
  const [dialog, setDialog] = useState<"merge" | "split" | null>(null);
  const node = query.data;
  const close = () => setDialog(null);
  return (
    <>
      <title>{`${node?.label ?? t.knowledge.title} – ${t.app.name}`}</title>
      <div className="pane-head">
        <Link
          to="/knowledge/names"
          className="icon-button"
          aria-label={t.knowledge.nodes}
          title={t.knowledge.nodes}
        >
          <ArrowLeft size={16} aria-hidden />
        </Link>
        <h1 className="truncate">{node?.label ?? ""}</h1>
        {node?.kind ? <Badge>{node.kind}</Badge> : null}
        <span className="grow" />
        {node ? (
          <>
            <Link className="button hide-narrow" data-size="s" to={`/knowledge/graph?center=${id}`}>
              <Waypoints size={14} aria-hidden /> {t.knowledge.openGraph}
            </Link>
            <Button size="s" kind="primary" onClick={() => onAdd(node.label)}>
              <Plus size={14} aria-hidden /> {t.knowledge.addOne}
            </Button>
            <Menu trigger={<IconButton label={t.common.more} icon={<Ellipsis size={16} />} />}>
              <MenuItem
                icon={<Waypoints size={16} />}
                onSelect={() => navigate(`/knowledge/graph?center=${id}`)}
              >
                {t.knowledge.openGraph}
              </MenuItem>
              <MenuItem icon={<Merge size={16} />} onSelect={() => setTimeout(() => setDialog("merge"))}>
                {t.knowledge.entity.merge}
              </MenuItem>
              <MenuItem icon={<Split size={16} />} onSelect={() => setTimeout(() => setDialog("split"))}>
                {t.knowledge.entity.split}
              </MenuItem>
            </Menu>
          </>
        ) : null}
      </div>
      <div className="pane-body">
        {query.isPending ? (
          <SkeletonRows rows={10} />
        ) : query.isError ? (
          <ErrorState
            what={t.knowledge.entity.one}
            error={query.error}
            onRetry={() => void query.refetch()}
          />
        ) : (
          <Body node={query.data} onOpenFact={onOpenFact} onAdd={onAdd} current={current} />
        )}
      </div>
      {node ? (
        <>
          <MergeDialog
            node={node}
            open={dialog === "merge"}
            onClose={close}
            onMerge={(into) =>
              void merging
                .merge(node, into, { onUndone: () => navigate(`/knowledge/entities/${node.id}`) })
                .then((done) => (done ? navigate(`/knowledge/entities/${into.id}`) : undefined))
            }
          />
          <SplitDialog
            node={node}
            open={dialog === "split"}
            onClose={close}
            onSplit={(body) => void merging.split(node.id, body)}
          />
        </>
      ) : null}
    </>
  );
}

function grouped(facts: Triple[]): [string, Triple[]][] {
  const groups = new Map<string, Triple[]>();
  for (const fact of facts) {
    const group = groups.get(fact.predicate);
    if (group) group.push(fact);
    else groups.set(fact.predicate, [fact]);
  }
  // What changes over time comes first, then what has one value, then the long lists.
  return [...groups].sort(
    ([nameA, a], [nameB, b]) =>
      Number(hasDates(b)) - Number(hasDates(a)) || a.length - b.length || nameA.localeCompare(nameB),
  );
}

function Body({
  node,
  onOpenFact,
  onAdd,
  current,
}: {
  node: KnowledgeNodeDetail;
  onOpenFact: (id: Id) => void;
  onAdd: (label: string) => void;
  current: Id | null;
}) {
  const words = t.knowledge.entity;
  const facts = node.triples.filter((fact) => fact.retracted_at === null);
  const outgoing = grouped(facts.filter((fact) => fact.subject.id === node.id));
  const incoming = grouped(facts.filter((fact) => fact.subject.id !== node.id));
  const disagreements = useQuery({
    queryKey: [...keys.contradictions, "node", node.id],
    queryFn: ({ signal }) => entities.contradictions({ node: node.id, limit: 5 }, signal),
  });
  const clashes = disagreements.data?.total ?? 0;
  return (
    <div className="pane-inner entity">
      <Aliases nodeId={node.id} label={node.label} aliases={node.aliases} heading="h2" />
      {clashes > 0 ? (
        <div className="notice" data-tone="warn">
          <TriangleAlert size={16} aria-hidden />
          <span className="grow">{words.disagree(clashes)}</span>
          <a className="link no-wrap" href="#contradictions">
            {t.documents.showConflicts}
          </a>
        </div>
      ) : null}
      {facts.length === 0 ? (
        <EmptyState title={t.knowledge.noFactsAbout}>
          <Button kind="primary" onClick={() => onAdd(node.label)}>
            {t.knowledge.addOne}
          </Button>
        </EmptyState>
      ) : null}
      {outgoing.length > 0 ? (
        <section className="entity-part">
          <h2>{words.outgoing}</h2>
          {outgoing.map(([predicate, group]) => (
            <Group
              key={predicate}
              predicate={predicate}
              facts={group}
              outgoing
              current={current}
              onOpenFact={onOpenFact}
            />
          ))}
        </section>
      ) : null}
      {incoming.length > 0 ? (
        <section className="entity-part">
          <h2>{words.incoming}</h2>
          {incoming.map(([predicate, group]) => (
            <Group
              key={predicate}
              predicate={predicate}
              facts={group}
              outgoing={false}
              current={current}
              onOpenFact={onOpenFact}
            />
          ))}
        </section>
      ) : null}
      {clashes > 0 ? (
        <Disagreements
          id={node.id}
          items={disagreements.data?.items ?? []}
          total={clashes}
          onOpenFact={onOpenFact}
        />
      ) : null}
      {facts.length > 0 ? <AllSources facts={facts} /> : null}
      <History id={node.id} />
    </div>
  );
}

function Group({
  predicate,
  facts,
  outgoing,
  current,
  onOpenFact,
}: {
  predicate: string;
  facts: Triple[];
  outgoing: boolean;
  current: Id | null;
  onOpenFact: (id: Id) => void;
}) {
  const [all, setAll] = useState(false);
  const order = hasDates(facts)
    ? [...facts].sort((a, b) => (b.valid_from ?? "9").localeCompare(a.valid_from ?? "9"))
    : facts;
  const shown = all ? order : order.slice(0, FEW);
  return (
    <div className="entity-group">
      <h3>
        {predicateText(predicate)} {facts.length > 1 ? <span className="muted">{facts.length}</span> : null}
      </h3>
      <div>
        {outgoing && facts.length > 1 ? (
          <TimelineView predicate={predicate} facts={facts} onOpen={onOpenFact} />
        ) : null}
        <ul className="entity-facts">
          {shown.map((fact) => {
            const other = outgoing ? (fact.object.node_id ?? null) : fact.subject.id;
            const text = outgoing ? objectText(fact.object) : fact.subject.label;
            const dates = validity(fact);
            return (
              <li key={fact.id} className="entity-fact" data-current={fact.id === current}>
                <span className="grow">
                  {fact.polarity === "-" ? <Badge tone="warn">{t.knowledge.notSo}</Badge> : null}{" "}
                  {other === null ? (
                    <span>{text}</span>
                  ) : (
                    <Link className="cell-link" to={`/knowledge/entities/${other}`}>
                      {text}
                    </Link>
                  )}
                  {dates ? <span className="muted small entity-dates">{dates}</span> : null}
                </span>
                {fact.kind === "claim" ? <Badge>{t.knowledge.kinds.claim}</Badge> : null}
                {fact.confidence < 1 ? (
                  <span className="muted small">{Math.round(fact.confidence * 100)}%</span>
                ) : null}
                <button
                  type="button"
                  className="cell-open"
                  onClick={() => onOpenFact(fact.id)}
                  aria-label={`${t.knowledge.factOf}: ${predicateText(predicate)} ${text}`}
                >
                  ›
                </button>
              </li>
            );
          })}
        </ul>
        {facts.length > FEW ? (
          <Button size="s" kind="ghost" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? t.knowledge.entity.showFewer : t.knowledge.entity.showAll(facts.length)}
          </Button>
        ) : null}
      </div>
    </div>
  );
}

function Disagreements({
  id,
  items,
  total,
  onOpenFact,
}: {
  id: Id;
  items: Disagreement[];
  total: number;
  onOpenFact: (id: Id) => void;
}) {
  return (
    <section className="entity-part" id="contradictions">
      <div className="row">
        <h2 className="grow">{t.knowledge.entity.contradictions}</h2>
        {total > items.length ? (
          <Link className="link small" to={`/knowledge/contradictions?about_node=${id}`}>
            {t.knowledge.entity.showAll(total)}
          </Link>
        ) : null}
      </div>
      <ul className="stack">
        {items.map((item) => (
          <li key={`${item.a.id} ${item.b.id}`}>
            <DisagreementCard item={item} onOpenFact={onOpenFact} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Each fact's sources are one question to the server, so they are asked for when somebody wants them. */
function AllSources({ facts }: { facts: Triple[] }) {
  const [asked, setAsked] = useState(false);
  const some = facts.slice(0, SOURCES);
  const queries = useQueries({
    queries: some.map((fact) => ({
      queryKey: keys.sources(fact.id),
      queryFn: ({ signal }: { signal: AbortSignal }) => documents.sources(fact.id, signal),
      enabled: asked,
      staleTime: 60_000,
    })),
  });
  const words = t.knowledge.entity;
  const found = new Map(
    queries.flatMap((one) => one.data?.items ?? []).map((one) => [`${one.document_id} ${one.span[0]}`, one]),
  );
  const failed = queries.find((one) => one.isError);
  return (
    <section className="entity-part">
      <h2>{words.sources}</h2>
      {!asked ? (
        <Button size="s" onClick={() => setAsked(true)}>
          {words.readSources(some.length)}
        </Button>
      ) : queries.some((one) => one.isPending) ? (
        <SkeletonRows rows={3} />
      ) : failed && found.size === 0 ? (
        <ErrorState
          what={t.documents.sourcesOf}
          error={failed.error}
          onRetry={() => {
            for (const one of queries) if (one.isError) void one.refetch();
          }}
        />
      ) : found.size === 0 ? (
        <p className="muted">{words.noSources}</p>
      ) : (
        <ul className="passages">
          {[...found].map(([key, source]) => (
            <li key={key}>
              <Passage source={source} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Which names were merged into this one, or split off, with the way back. */
function History({ id }: { id: Id }) {
  const merging = useMerging();
  const query = useQuery({
    queryKey: [...keys.nodes, id, "events"],
    queryFn: ({ signal }) => entities.events(id, { limit: 20 }, signal),
  });
  const items = query.data?.items ?? [];
  if (items.length === 0) return null;
  const words = t.knowledge.entity;
  return (
    <section className="entity-part">
      <h2>{words.history}</h2>
      <ul className="rows">
        {items.map((event) => (
          <li key={event.id} className="rows-item">
            <span className="grow">
              {event.kind === "merge" ? words.mergedIn(event.other.label) : words.splitOff(event.other.label)}
              <span className="muted small entity-dates">
                {words.moved(event.triples, event.aliases)} · <Time at={event.created_at} style="exact" />
              </span>
            </span>
            {event.undone_at ? (
              <Badge>{words.undone}</Badge>
            ) : (
              <Button size="s" onClick={() => void merging.undoEvent(id, event)}>
                {t.common.undo}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
