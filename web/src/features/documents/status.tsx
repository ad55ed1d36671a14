import { Ban, Check, CircleAlert, Clock, LoaderCircle, Undo2, X } from "lucide-react";
import type { ReactNode } from "react";
import type { Doc, DocumentStage, DocumentStatus } from "../../api/knowledge-types";
import type { Agent, Id } from "../../api/types";
import { t } from "../../lib/strings";
import { Badge } from "../../ui/bits";

const LOOK: Record<DocumentStatus, { tone?: "ok" | "warn" | "danger" | "accent"; icon: ReactNode }> = {
  pending_approval: { tone: "warn", icon: <Clock size={12} aria-hidden /> },
  approved: { tone: "accent", icon: <Check size={12} aria-hidden /> },
  processing: { tone: "accent", icon: <LoaderCircle size={12} aria-hidden /> },
  completed: { tone: "ok", icon: <Check size={12} aria-hidden /> },
  failed: { tone: "danger", icon: <CircleAlert size={12} aria-hidden /> },
  rejected: { icon: <X size={12} aria-hidden /> },
  withdrawn: { icon: <Undo2 size={12} aria-hidden /> },
};

export function StatusBadge({ status }: { status: DocumentStatus }) {
  const look = LOOK[status] ?? { icon: <Ban size={12} aria-hidden /> };
  return (
    <Badge {...(look.tone ? { tone: look.tone } : {})}>
      {look.icon}
      {t.documents.statuses[status] ?? status}
    </Badge>
  );
}

export const STAGES: DocumentStage[] = [
  "reading",
  "splitting",
  "extracting",
  "linking",
  "embedding",
  "saving",
];

export function typeText(doc: Doc): string {
  return t.documents.types[doc.content_type] ?? doc.content_type;
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["kB", "MB", "GB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** About 3,000 characters stand on a page. */
export function pagesOf(chars: number): number {
  return Math.max(1, Math.round(chars / 3000));
}

export function proposer(doc: Doc, me: Id | null, agents: Agent[]): string {
  if (doc.proposed_by_agent) {
    const agent = agents.find((one) => one.id === doc.proposed_by_agent);
    return agent?.display_name ?? agent?.name ?? t.documents.anAgent;
  }
  if (doc.proposed_by !== null && doc.proposed_by === me) return t.documents.you;
  return t.documents.colleague;
}
