// What was typed and not sent, per thread, so that a reload or a detour loses nothing.

const PREFIX = "qadra.draft.";

export function readDraft(thread: string): string {
  try {
    return localStorage.getItem(PREFIX + thread) ?? "";
  } catch {
    return "";
  }
}

export function writeDraft(thread: string, text: string) {
  try {
    if (text === "") localStorage.removeItem(PREFIX + thread);
    else localStorage.setItem(PREFIX + thread, text);
  } catch {
    // Full or blocked storage: the draft then lives as long as the page.
  }
}

export function clearDrafts() {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key);
  } catch {
    // Nothing was stored, then.
  }
}
