import { CircleAlert, Copy } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { asApiError } from "../api/error";
import { copyText } from "../lib/clipboard";
import { t } from "../lib/strings";
import { Button, IconButton } from "./Button";

export function EmptyState({
  icon,
  title,
  hint,
  children,
}: {
  icon?: ReactNode;
  title: string;
  hint?: string;
  children?: ReactNode;
}) {
  return (
    <div className="state">
      {icon}
      <h2>{title}</h2>
      {hint ? <p>{hint}</p> : null}
      {children ? <div className="state-actions">{children}</div> : null}
    </div>
  );
}

/** What happened, what to do, a retry, and the request id for whoever can look it up. */
export function ErrorState({ what, error, onRetry }: { what: string; error: unknown; onRetry?: () => void }) {
  const known = asApiError(error);
  const gone = known.status === 404;
  return (
    <div className="state" role="alert">
      <CircleAlert size={24} aria-hidden />
      <h2>{gone ? t.errors.notFound : t.errors.loadFailed(what)}</h2>
      <p>
        {gone
          ? t.errors.notFoundHint
          : `${sentence(known.detail)} ${sentence(known.hint ?? t.errors.generalHint)}`}
      </p>
      {known.requestId ? <RequestId id={known.requestId} /> : null}
      {onRetry && !gone ? (
        <div className="state-actions">
          <Button onClick={onRetry}>{t.common.retry}</Button>
        </div>
      ) : null}
    </div>
  );
}

export function RequestId({ id }: { id: string }) {
  return (
    <span className="request-id">
      {t.common.requestId} <span className="mono truncate">{id}</span>
      <IconButton
        size="s"
        label={t.common.copyRequestId}
        icon={<Copy size={13} />}
        onClick={() => void copyText(id)}
      />
    </span>
  );
}

/** The server writes details in lower case without a full stop; a screen shows sentences. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  // A name such as founded_in_year stays as it is written.
  const named = /^\S*[_./]\S/.test(trimmed);
  const first = named ? trimmed : trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

/** Shows its content only when waiting takes longer than a blink. */
export function Delayed({ children, ms = 150 }: { children: ReactNode; ms?: number }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return shown ? children : null;
}

export function Bone({ width = "100%", height = 12 }: { width?: string | number; height?: number }) {
  return <span className="skeleton" style={{ width, height }} />;
}

export function SkeletonRows({ rows = 6 }: { rows?: number }) {
  return (
    <Delayed>
      <div role="status" aria-label={t.app.loading}>
        {Array.from({ length: rows }, (_, row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike
          <div key={row} style={{ padding: "10px 8px", display: "grid", gap: 8 }}>
            <Bone width={`${72 - ((row * 17) % 40)}%`} />
            <Bone width={`${92 - ((row * 29) % 50)}%`} />
          </div>
        ))}
      </div>
    </Delayed>
  );
}
