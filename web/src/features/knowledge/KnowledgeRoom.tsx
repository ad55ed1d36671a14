import { Plus } from "lucide-react";
import { useParams, useSearchParams } from "react-router";
import { t } from "../../lib/strings";
import { usePanel } from "../../lib/usePanel";
import { Button } from "../../ui/Button";
import { Tab } from "../../ui/bits";
import { AddFactsPanel } from "./AddFactsPanel";
import { FactPanel } from "./FactPanel";
import { FactsTab } from "./FactsTab";
import { NodePanel } from "./NodePanel";
import { NodesTab } from "./NodesTab";
import { PredicatePanel } from "./PredicatePanel";
import { PredicatesTab } from "./PredicatesTab";

const PANEL_KEYS = ["node", "fact", "predicate_id", "about"] as const;

export default function KnowledgeRoom() {
  const { tab = "facts" } = useParams();
  const [params] = useSearchParams();
  const panel = usePanel(PANEL_KEYS);
  const { open, close } = panel;
  const openNode = (id: string) => open("node", { node: id });
  const openFact = (id: string) => open("fact", { fact: id });
  const openPredicate = (id: string) => open("predicate", { predicate_id: id });
  return (
    <div className="room" data-detail="true" data-panel={panel.kind !== null}>
      <section className="pane" aria-label={t.knowledge.title}>
        <title>{`${t.knowledge.title} – ${t.app.name}`}</title>
        <div className="pane-head">
          <h1 className="sr-only">{t.knowledge.title}</h1>
          <nav className="tabs grow" aria-label={t.knowledge.tabs}>
            <Tab to="/knowledge">{t.knowledge.facts}</Tab>
            <Tab to="/knowledge/names">{t.knowledge.nodes}</Tab>
            <Tab to="/knowledge/relations">{t.knowledge.predicates}</Tab>
          </nav>
          <Button kind="primary" size="s" onClick={() => open("add")}>
            <Plus size={16} aria-hidden /> {t.knowledge.add}
          </Button>
        </div>
        {tab === "names" ? (
          <NodesTab onOpen={openNode} current={panel.get("node")} />
        ) : tab === "relations" ? (
          <PredicatesTab onOpen={openPredicate} current={panel.get("predicate_id")} />
        ) : (
          <FactsTab
            onOpenFact={openFact}
            onOpenNode={openNode}
            onAdd={() => open("add")}
            current={panel.get("fact")}
          />
        )}
      </section>
      {panel.kind === "add" ? <AddFactsPanel about={params.get("about") ?? ""} onClose={close} /> : null}
      {panel.kind === "node" ? (
        <NodePanel
          id={panel.get("node") ?? ""}
          onClose={close}
          onOpenNode={openNode}
          onOpenFact={openFact}
          onAdd={(label) => open("add", { about: label })}
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
