import { useParams, useSearchParams } from "react-router";
import { t } from "../../lib/strings";
import { EmptyState } from "../../ui/states";
import { AgentEditor } from "./AgentEditor";
import { AgentList } from "./AgentList";
import { NewAgentDialog } from "./NewAgentDialog";

export default function AgentsRoom() {
  const { id } = useParams();
  const [params, setParams] = useSearchParams();
  const create = params.get("create") === "1";
  const setCreate = (on: boolean) =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      if (on) next.set("create", "1");
      else next.delete("create");
      return next;
    });
  return (
    <div
      className="room"
      data-detail={id !== undefined}
      data-panel={params.get("panel") !== null && id !== undefined}
    >
      <title>{`${t.agents.title} – ${t.app.name}`}</title>
      <AgentList onCreate={() => setCreate(true)} />
      {id === undefined ? (
        <section className="pane" aria-label={t.agents.one}>
          <div className="center">
            <EmptyState title={t.agents.pick} />
          </div>
        </section>
      ) : (
        <AgentEditor key={id} id={id} />
      )}
      <NewAgentDialog open={create} onClose={() => setCreate(false)} />
    </div>
  );
}
