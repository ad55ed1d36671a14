import type { ReactNode } from "react";
import { Link } from "react-router";
import type { Message } from "../../../api/types";
import { duration } from "../../../lib/dates";
import { t } from "../../../lib/strings";
import { Time } from "../../../ui/bits";

export function DetailsPanel({ message, name }: { message: Message; name: string }) {
  const { usage, provider, agent } = message.metadata;
  const tokens = (n: number | null | undefined) =>
    n === null || n === undefined ? null : n.toLocaleString();
  const finish = message.finish_reason;
  const rows: [string, ReactNode][] = [
    [
      t.thread.agent,
      message.agent_id === null ? (
        name
      ) : (
        <Link key="agent" className="link" to={`/agents/${message.agent_id}?panel=versions`}>
          {name}
        </Link>
      ),
    ],
    [t.thread.agentVersion, message.agent_version ?? agent?.version ?? null],
    [t.thread.model, message.model],
    [t.thread.provider, provider ?? null],
    [t.thread.tokensIn, tokens(message.prompt_tokens ?? usage?.prompt_tokens)],
    [t.thread.tokensOut, tokens(message.completion_tokens ?? usage?.completion_tokens)],
    [t.thread.calls, tokens(usage?.calls)],
    [t.thread.latency, message.latency_ms === null ? null : duration(message.latency_ms)],
    [t.thread.finish, finish === null ? null : (t.thread.finishReasons[finish] ?? finish)],
    [t.thread.sentAt, <Time key="at" at={message.created_at} style="exact" />],
  ];
  return (
    <>
      <dl className="facts-dl">
        {rows
          .filter(([, value]) => value !== null && value !== undefined && value !== "")
          .map(([label, value]) => (
            <div key={label} className="dl-row">
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      {usage?.estimated ? <p className="field-hint">{t.thread.estimated}</p> : null}
    </>
  );
}
