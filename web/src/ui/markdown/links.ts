const SCHEMES = new Set(["http:", "https:", "mailto:"]);

/** The address of a link when it may be followed, or null. Only http, https and mailto may. */
export function safeHref(href: string | undefined): string | null {
  if (href === undefined) return null;
  const trimmed = href.trim();
  if (trimmed === "") return null;
  let url: URL;
  try {
    // Without a base a relative address fails here: an answer has no business linking into the app.
    url = new URL(trimmed);
  } catch {
    return null;
  }
  return SCHEMES.has(url.protocol) ? url.href : null;
}
