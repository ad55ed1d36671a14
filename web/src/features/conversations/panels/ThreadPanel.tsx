import { useQuery } from "@tanstack/react-query";
import { api } from "../../../api/client";
import type { Message } from "../../../api/types";
import { keys } from "../../../app/query";
import { t } from "../../../lib/strings";
import type { usePanel } from "../../../lib/usePanel";
import { Panel } from "../../../ui/Panel";
import { EmptyState, ErrorState, SkeletonRows } from "../../../ui/states";
import type { ThreadState } from "../model/thread";
import { ChartPanel } from "./ChartPanel";
import { ClaimPanel } from "./ClaimPanel";
import { DetailsPanel } from "./DetailsPanel";
import { FactsPanel } from "./FactsPanel";

interface Props {
  conversationId: string;
  state: ThreadState;
  panel: ReturnType<typeof usePanel>;
  nameOf: (message: Message) => string;
}

/** What the address asks for beside the thread: facts, a chart or the details of one message. */
export function ThreadPanel({ conversationId, state, panel, nameOf }: Props) {
  const id = panel.get("m");
  const position = Number(panel.get("pos"));
  const loaded = state.messages.find((message) => message.id === id);
  // A message far up in a long thread is not in the window after a reload; its position finds it.
  const far = useQuery({
    queryKey: [...keys.conversations, conversationId, "at", position],
    queryFn: () =>
      api.conversations.messages(conversationId, { order: "asc", offset: position - 1, limit: 1 }),
    enabled: loaded === undefined && state.load === "ready" && position > 0,
  });
  const message = loaded ?? far.data?.items.find((one) => one.id === id);
  const title =
    panel.kind === "chart"
      ? (message?.metadata.artifacts?.find((one) => one.id === panel.get("a"))?.name ?? t.thread.chart)
      : panel.kind === "details"
        ? t.thread.detailsTitle
        : panel.kind === "claim"
          ? t.verdicts.claim
          : t.thread.factsTitle;

  let body: React.ReactNode;
  if (message === undefined)
    body = far.isError ? (
      <ErrorState what={t.thread.loading} error={far.error} onRetry={() => void far.refetch()} />
    ) : state.load !== "ready" || far.isFetching ? (
      <SkeletonRows rows={4} />
    ) : (
      <EmptyState title={t.thread.artifactGone} />
    );
  else if (panel.kind === "chart") body = <ChartPanel message={message} artifactId={panel.get("a")} />;
  else if (panel.kind === "details") body = <DetailsPanel message={message} name={nameOf(message)} />;
  else if (panel.kind === "claim") body = <ClaimPanel message={message} index={Number(panel.get("c"))} />;
  else body = <FactsPanel message={message} focus={panel.get("f")} />;

  return (
    <Panel title={title} onClose={panel.close}>
      {body}
    </Panel>
  );
}
