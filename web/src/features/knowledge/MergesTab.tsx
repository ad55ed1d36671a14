import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Check, GitMerge, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { api } from "../../api/client";
import { merges } from "../../api/knowledge";
import type { Merge, MergeStatus } from "../../api/knowledge-types";
import type { KnowledgeNode } from "../../api/types";
import { keys } from "../../app/query";
import { useRole } from "../../app/useRole";
import { t } from "../../lib/strings";
import { usePageKeys } from "../../lib/usePageKeys";
import { Button } from "../../ui/Button";
import { Key, Time } from "../../ui/bits";
import { Segments } from "../../ui/Segments";
import { EmptyState, ErrorState, SkeletonRows, sentence } from "../../ui/states";
import { toast, toastError } from "../../ui/Toast";
import { predicateText } from "../conversations/grounding";
import { objectText } from "./FactRow";
import { useMerging } from "./merging";
import { usePaged } from "./usePaged";

const STATUSES: MergeStatus[] = ["pending", "accepted", "rejected"];
const FACTS = 5;

/** Pairs of names that may stand for one thing: j and k move, 1 and 2 choose the name that stays, a and r decide. */
export function MergesTab() {
  const [params, setParams] = useSearchParams();
  const client = useQueryClient();
  const merging = useMerging();
  const { mayDecide } = useRole();
  const words = t.knowledge.merge;
  const named = params.get("status");
  const status = STATUSES.find((one) => one === named) ?? "pending";
  const { query, items, total } = usePaged([...keys.merges, status], (window, signal) =>
    merges.list({ ...window, status }, signal),
  );
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const pending = status === "pending";
  const pairs = pending ? items.filter((one) => !decided.has(one.id)) : items;
  const asked = params.get("pair");
  const index = Math.max(
    0,
    pairs.findIndex((one) => one.id === asked),
  );
  const current = pairs[index];
  const [keep, setKeep] = useState<"a" | "b">("a");
  const currentId = current?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each pair starts with its own choice
  useEffect(() => setKeep("a"), [currentId]);
  const set = (values: Record<string, string | null>) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(values))
          if (value === null) next.delete(name);
          else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const go = (place: number) => {
    const pair = pairs[Math.min(pairs.length - 1, Math.max(0, place))];
    set({ pair: pair?.id ?? null });
  };
  const hide = (pair: Merge, gone: boolean) =>
    setDecided((before) => {
      const next = new Set(before);
      if (gone) next.add(pair.id);
      else next.delete(pair.id);
      return next;
    });
  const next = (pair: Merge) => {
    const at = pairs.indexOf(pair);
    set({ pair: (pairs[at + 1] ?? pairs[at - 1])?.id ?? null });
    hide(pair, true);
  };
  const accept = async (pair: Merge, kept: "a" | "b") => {
    const from = kept === "a" ? pair.b : pair.a;
    const into = kept === "a" ? pair.a : pair.b;
    next(pair);
    if (
      !(await merging.merge(from, into, {
        work: () => merges.accept(pair.id, kept),
        onUndone: () => hide(pair, false),
      }))
    )
      hide(pair, false);
  };
  const reject = async (pair: Merge) => {
    next(pair);
    try {
      await merges.reject(pair.id);
      toast({ text: words.rejected });
      await client.invalidateQueries({ queryKey: keys.merges });
    } catch (error) {
      hide(pair, false);
      toastError(words.reject.toLowerCase(), error);
    }
  };
  const act = pending && mayDecide && current !== undefined;
  usePageKeys({
    j: () => go(index + 1),
    k: () => go(index - 1),
    "1": act ? () => setKeep("a") : undefined,
    "2": act ? () => setKeep("b") : undefined,
    a: act ? () => void accept(current, keep) : undefined,
    r: act ? () => void reject(current) : undefined,
  });
  return (
    <>
      <div className="toolbar">
        <Segments
          label={words.filter}
          value={status}
          options={STATUSES.map((value) => ({ value, label: words.statuses[value] }))}
          onChange={(one) => set({ status: one === "pending" ? null : one, pair: null })}
        />
        <span className="muted small grow hide-narrow">{words.hint}</span>
        {query.isSuccess && pairs.length > 0 ? (
          <span className="muted small">
            {words.of(index + 1, Math.max(pairs.length, total - decided.size))}
          </span>
        ) : null}
      </div>
      <div className="pane-body">
        {query.isPending ? (
          <SkeletonRows rows={8} />
        ) : query.isError && items.length === 0 ? (
          <ErrorState what={words.list} error={query.error} onRetry={() => void query.refetch()} />
        ) : pairs.length === 0 ? (
          <EmptyState
            icon={<GitMerge size={24} aria-hidden />}
            title={pending ? words.empty : words.emptyDecided}
            {...(pending ? { hint: words.emptyHint } : {})}
          />
        ) : (
          <div className="pane-inner clashes">
            <ul className="stack">
              {pairs.map((pair, place) => (
                <Pair
                  key={pair.id}
                  pair={pair}
                  current={place === index}
                  keep={place === index ? keep : "a"}
                  act={pending && mayDecide}
                  onCurrent={() => set({ pair: pair.id })}
                  onKeep={(side) => {
                    set({ pair: pair.id });
                    // After the choice of the pair before this one has been put back.
                    setTimeout(() => setKeep(side));
                  }}
                  onAccept={() => void accept(pair, place === index ? keep : "a")}
                  onReject={() => void reject(pair)}
                />
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

function Pair({
  pair,
  current,
  keep,
  act,
  onCurrent,
  onKeep,
  onAccept,
  onReject,
}: {
  pair: Merge;
  current: boolean;
  keep: "a" | "b";
  act: boolean;
  onCurrent: () => void;
  onKeep: (side: "a" | "b") => void;
  onAccept: () => void;
  onReject: () => void;
}) {
  const words = t.knowledge.merge;
  const row = useRef<HTMLLIElement>(null);
  const first = useRef(true);
  useEffect(() => {
    if (current && !first.current) row.current?.scrollIntoView({ block: "nearest" });
    first.current = false;
  }, [current]);
  return (
    <li ref={row}>
      <article
        className="clash pair"
        data-current={current}
        aria-label={`${pair.a.label} / ${pair.b.label}`}
        onFocus={current ? undefined : onCurrent}
      >
        <div className="clash-sides">
          {(["a", "b"] as const).map((side) => (
            <Side
              key={side}
              node={side === "a" ? pair.a : pair.b}
              keys={side === "a" ? "1" : "2"}
              kept={keep === side}
              current={act && current}
              choose={act ? () => onKeep(side) : undefined}
              group={pair.id}
              withFacts={pair.status === "pending"}
            />
          ))}
        </div>
        <div className="clash-foot">
          <div className="grow small">
            <strong>{words.alike(Math.round(pair.score * 100))}</strong>{" "}
            <span className="muted">{pair.reasons.map((one) => sentence(one)).join(" ")}</span>{" "}
            {pair.document_id ? (
              <Link className="link" to={`/documents/${pair.document_id}`}>
                {words.fromDocument}
              </Link>
            ) : null}
            {pair.decided_at ? (
              <span className="muted">
                {" "}
                {words.decided} <Time at={pair.decided_at} style="exact" />
              </span>
            ) : null}
          </div>
          {act ? (
            <div className="row pair-act">
              <Button size="s" onClick={onReject}>
                <X size={14} aria-hidden /> {words.reject} {current ? <Key>R</Key> : null}
              </Button>
              <Button size="s" kind="primary" onClick={onAccept}>
                <Check size={14} aria-hidden /> {words.accept} {current ? <Key>A</Key> : null}
              </Button>
            </div>
          ) : null}
        </div>
      </article>
    </li>
  );
}

function Side({
  node,
  keys: shortcut,
  kept,
  current,
  choose,
  group,
  withFacts,
}: {
  node: KnowledgeNode;
  keys: string;
  kept: boolean;
  current: boolean;
  choose: (() => void) | undefined;
  group: string;
  withFacts: boolean;
}) {
  const words = t.knowledge.merge;
  const detail = useQuery({
    queryKey: [...keys.nodes, node.id],
    queryFn: () => api.knowledge.node(node.id),
    enabled: withFacts,
  });
  const aliases = node.aliases.map((one) => one.alias).filter((alias) => alias !== node.label);
  const facts = (detail.data?.triples ?? []).filter((fact) => fact.retracted_at === null);
  return (
    <div className="clash-side" data-kept={kept && current}>
      <Link className="cell-link pair-name" to={`/knowledge/entities/${node.id}`}>
        {node.label}
      </Link>
      <div className="muted small">{[node.kind, ...aliases].filter(Boolean).join(" · ")}</div>
      {facts.length > 0 ? (
        <ul className="pair-facts small">
          {facts.slice(0, FACTS).map((fact) => (
            <li key={fact.id}>
              {fact.subject.id === node.id ? null : `${fact.subject.label} `}
              <span className="muted">
                {fact.polarity === "-" ? `${t.knowledge.notSo} ` : ""}
                {predicateText(fact.predicate)}
              </span>{" "}
              {objectText(fact.object)}
            </li>
          ))}
          {facts.length > FACTS ? <li className="muted">{t.knowledge.use(facts.length)}</li> : null}
        </ul>
      ) : null}
      {choose ? (
        <label className="check pair-keep small">
          <input type="radio" name={`keep-${group}`} checked={kept} onChange={choose} /> {words.keep}{" "}
          {current ? <Key>{shortcut}</Key> : null}
        </label>
      ) : null}
    </div>
  );
}
