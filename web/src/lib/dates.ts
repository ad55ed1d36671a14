import { t } from "./strings";

const DAY = 86_400_000;

function startOfDay(at: Date): number {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
}

/** Time of day for today, weekday for this week, date before that. */
export function relative(iso: string, now = new Date()): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  const days = Math.round((startOfDay(now) - startOfDay(at)) / DAY);
  if (days <= 0) return at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  if (days < 7) return at.toLocaleDateString([], { weekday: "short" });
  if (at.getFullYear() === now.getFullYear())
    return at.toLocaleDateString([], { day: "numeric", month: "short" });
  return at.toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" });
}

export function exact(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  return at.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

export type Age = "today" | "yesterday" | "week" | "older";

export function age(iso: string, now = new Date()): Age {
  const days = Math.round((startOfDay(now) - startOfDay(new Date(iso))) / DAY);
  if (days <= 0) return "today";
  if (days === 1) return "yesterday";
  return days < 7 ? "week" : "older";
}

export function ageLabel(value: Age): string {
  return t.conversations[value];
}

export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}
