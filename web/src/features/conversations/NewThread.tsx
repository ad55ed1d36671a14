import { ArrowLeft } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { api } from "../../api/client";
import type { Agent } from "../../api/types";
import { readDraft, writeDraft } from "../../lib/drafts";
import { t } from "../../lib/strings";
import { IconButton } from "../../ui/Button";
import { EmptyState, ErrorState } from "../../ui/states";
import { toastError } from "../../ui/Toast";
import { Composer, type ComposerHandle } from "./Composer";
import { chooseAgent, rememberAgent } from "./chooseAgent";
import { threadStore } from "./model/store";
import { useAgents } from "./useAgents";

/** A thread that does not exist yet: it is created with its first message. */
export function NewThread() {
  const navigate = useNavigate();
  const [params] = useSearchParams();
  const agents = useAgents();
  const [picked, setPicked] = useState<string | null>(params.get("agent"));
  const [creating, setCreating] = useState(false);
  const composer = useRef<ComposerHandle>(null);
  const agent = chooseAgent(agents.active, agents.byId, picked, []);
  const narrowFocus = useRef(matchMedia("(min-width: 820px)").matches);
  useEffect(() => {
    if (narrowFocus.current) composer.current?.focus();
  }, []);

  const send = async (text: string, to: Agent) => {
    setCreating(true);
    rememberAgent(to.id);
    try {
      const conversation = await api.conversations.create();
      const store = threadStore(conversation.id);
      store.dispatch({
        type: "loaded",
        conversation,
        page: { items: [], total: 0, limit: 50, offset: 0 },
      });
      void store.send(text, to.id);
      navigate(`/conversations/${conversation.id}`, { replace: true });
    } catch (error) {
      setCreating(false);
      if (readDraft("new") === "") writeDraft("new", text);
      composer.current?.restore(text);
      toastError(t.thread.send.toLowerCase(), error);
    }
  };

  return (
    <section className="pane thread" aria-label={t.conversations.new}>
      <title>{`${t.conversations.new} – ${t.app.name}`}</title>
      <div className="pane-head">
        <IconButton
          className="only-narrow"
          label={t.common.back}
          icon={<ArrowLeft size={18} />}
          onClick={() => navigate("/conversations")}
        />
        <h1 className="grow">{t.conversations.new}</h1>
      </div>
      <div className="center">
        {agents.query.isError ? (
          <ErrorState
            what={t.agents.list}
            error={agents.query.error}
            onRetry={() => void agents.query.refetch()}
          />
        ) : (
          <EmptyState title={t.thread.empty} hint={t.thread.emptyHint} />
        )}
      </div>
      <div className="composer-dock">
        <Composer
          handle={composer}
          thread="new"
          agents={agents.active}
          agentsLoading={!agents.query.isSuccess}
          agent={agent}
          onAgent={(one) => setPicked(one.id)}
          busy={creating}
          stopping={creating}
          onSend={(text, to) => void send(text, to)}
          onStop={() => undefined}
          onEditLast={() => undefined}
        />
      </div>
    </section>
  );
}
