/** The part of a growing text that can be read aloud now: whole sentences after what was read before. */
export function nextAnnouncement(text: string, from: number, done: boolean): { say: string; upTo: number } {
  const fresh = text.slice(from);
  if (done) return { say: plain(fresh), upTo: text.length };
  let end = 0;
  for (const match of fresh.matchAll(/[.!?…:](?=\s)|\n+/g)) end = match.index + match[0].length;
  return { say: plain(fresh.slice(0, end)), upTo: from + end };
}

// Marks that mean something to the eye only.
function plain(text: string): string {
  return text
    .replace(/```[\w-]*/g, "")
    .replace(/\[\d{1,3}\]/g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*_~`#>|]+/g, "")
    .replace(/\s+/g, " ")
    .trim();
}
