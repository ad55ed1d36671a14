/** A path of this site only, so that a crafted link cannot send people elsewhere after they sign in. */
export function safeNext(next: string | null): string {
  return next !== null && /^\/(?![/\\])/.test(next) && !next.includes("\\") ? next : "/conversations";
}
