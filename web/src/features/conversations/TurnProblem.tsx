import { CircleAlert } from "lucide-react";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { RequestId, sentence } from "../../ui/states";
import type { TurnError } from "./model/turn";

/** A turn that went wrong: what happened, what to do, and a retry that works. */
export function TurnProblem({
  error,
  title,
  onRetry,
  onDismiss,
}: {
  error: TurnError | null;
  title: string;
  onRetry?: () => void;
  onDismiss?: () => void;
}) {
  return (
    <div className="notice turn-problem" data-tone="danger" role="alert">
      <CircleAlert size={16} aria-hidden />
      <div className="grow">
        <strong>{title}</strong>
        <div>{error === null ? t.thread.unansweredHint : sentence(error.detail)}</div>
        {error?.hint ? <div className="muted">{sentence(error.hint)}</div> : null}
        {error?.requestId ? <RequestId id={error.requestId} /> : null}
      </div>
      {onRetry && error?.retryable !== false ? (
        <Button size="s" onClick={onRetry}>
          {t.thread.retry}
        </Button>
      ) : null}
      {onDismiss ? (
        <Button size="s" kind="ghost" onClick={onDismiss}>
          {t.common.close}
        </Button>
      ) : null}
    </div>
  );
}
