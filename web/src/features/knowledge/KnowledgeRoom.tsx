import { Plus } from "lucide-react";
import { lazy, type ReactNode, Suspense, useEffect, useRef } from "react";
import { useParams, useSearchParams } from "react-router";
import { t } from "../../lib/strings";
import { usePanel } from "../../lib/usePanel";
import { Button } from "../../ui/Button";
import { Tab } from "../../ui/bits";
import { Delayed } from "../../ui/states";
import { AddFactsPanel } from "./AddFactsPanel";
import { BallsTab } from "./BallsTab";
import { ContradictionsTab } from "./ContradictionsTab";
import { EntityPage } from "./EntityPage";
import { FactPanel } from "./FactPanel";
import { FactsTab } from "./FactsTab";
import { MergesTab } from "./MergesTab";
import { NodePanel } from "./NodePanel";
import { NodesTab } from "./NodesTab";
import { PredicatePanel } from "./PredicatePanel";
import { PredicatesTab } from "./PredicatesTab";

const GraphTab = lazy(() => import("./graph/GraphTab"));
const BallPage = lazy(() => import("./graph/BallPage"));

const PANEL_KEYS = ["node", "fact", "predicate_id", "about"] as const;

export default function KnowledgeRoom() {
  const { tab = "facts", item } = useParams();
  const [params] = useSearchParams();
  const panel = usePanel(PANEL_KEYS);
  const { open, close } = panel;
  const openNode = (id: string) => open("node", { node: id });
  const openFact = (id: string) => open("fact", { fact: id });
  const openPredicate = (id: string) => open("predicate", { predicate_id: id });
  const openAdd = (about?: string) => open("add", about === undefined ? {} : { about });
  const tabs = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a phone the current tab may lie outside
  useEffect(() => {
    tabs.current
      ?.querySelector('[aria-current="page"]')
      ?.scrollIntoView({ inline: "center", block: "nearest" });
  }, [tab]);
  // Pages of one thing have a head of their own; the others share the tabs.
  const page =
    item === undefined ? null : tab === "entities" ? (
      <EntityPage
        key={item}
        id={item}
        onOpenFact={openFact}
        onAdd={openAdd}
        current={panel.kind === "fact" ? panel.get("fact") : null}
      />
    ) : tab === "neighbourhoods" ? (
      <Lazy>
        <BallPage key={item} id={item} />
      </Lazy>
    ) : null;
  return (
    <div className="room" data-detail="true" data-panel={panel.kind !== null}>
      <section className="pane" aria-label={t.knowledge.title}>
        {page ?? (
          <>
            <title>{`${t.knowledge.title} – ${t.app.name}`}</title>
            <div className="pane-head">
              <h1 className="sr-only">{t.knowledge.title}</h1>
              <nav className="tabs grow" aria-label={t.knowledge.tabs} ref={tabs}>
                <Tab to="/knowledge">{t.knowledge.facts}</Tab>
                <Tab to="/knowledge/names">{t.knowledge.nodes}</Tab>
                <Tab to="/knowledge/relations">{t.knowledge.predicates}</Tab>
                <Tab to="/knowledge/graph">{t.knowledge.graph}</Tab>
                <Tab to="/knowledge/contradictions">{t.knowledge.contradictions}</Tab>
                <Tab to="/knowledge/merges">{t.knowledge.merges}</Tab>
                <Tab to="/knowledge/neighbourhoods">{t.knowledge.balls}</Tab>
              </nav>
              <Button kind="primary" size="s" aria-label={t.knowledge.add} onClick={() => openAdd()}>
                <Plus size={16} aria-hidden /> <span className="hide-narrow">{t.knowledge.add}</span>
              </Button>
            </div>
            {tab === "names" ? (
              <NodesTab onOpen={openNode} current={panel.get("node")} />
            ) : tab === "relations" ? (
              <PredicatesTab onOpen={openPredicate} current={panel.get("predicate_id")} />
            ) : tab === "graph" ? (
              <Lazy>
                <GraphTab />
              </Lazy>
            ) : tab === "contradictions" ? (
              <ContradictionsTab onOpenFact={openFact} />
            ) : tab === "merges" ? (
              <MergesTab />
            ) : tab === "neighbourhoods" ? (
              <BallsTab />
            ) : (
              <FactsTab
                onOpenFact={openFact}
                onOpenNode={openNode}
                onAdd={() => openAdd()}
                current={panel.get("fact")}
              />
            )}
          </>
        )}
      </section>
      {panel.kind === "add" ? <AddFactsPanel about={params.get("about") ?? ""} onClose={close} /> : null}
      {panel.kind === "node" ? (
        <NodePanel
          id={panel.get("node") ?? ""}
          onClose={close}
          onOpenNode={openNode}
          onOpenFact={openFact}
          onAdd={openAdd}
        />
      ) : null}
      {panel.kind === "fact" ? (
        <FactPanel id={panel.get("fact") ?? ""} onClose={close} onOpenNode={openNode} />
      ) : null}
      {panel.kind === "predicate" ? (
        <PredicatePanel id={panel.get("predicate_id") ?? ""} onClose={close} />
      ) : null}
    </div>
  );
}

function Lazy({ children }: { children: ReactNode }) {
  return (
    <Suspense
      fallback={
        <div className="center">
          <Delayed>
            <span className="spinner" role="status" aria-label={t.app.loading} />
          </Delayed>
        </div>
      }
    >
      {children}
    </Suspense>
  );
}
