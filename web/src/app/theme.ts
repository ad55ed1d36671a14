import { useSyncExternalStore } from "react";

export type ThemeChoice = "system" | "light" | "dark";

const KEY = "qadra.theme";
const listeners = new Set<() => void>();

function read(): ThemeChoice {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

let choice: ThemeChoice = typeof localStorage === "undefined" ? "system" : read();
const media = typeof matchMedia === "undefined" ? null : matchMedia("(prefers-color-scheme: dark)");
// Kept beside the query: reading `matches` between a change and its event makes Chromium drop the event.
let systemDark = media?.matches === true;

export function isDark(): boolean {
  return choice === "dark" || (choice === "system" && systemDark);
}

function apply() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  for (const listener of listeners) listener();
}

export function setTheme(next: ThemeChoice) {
  choice = next;
  try {
    if (next === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // The choice then lasts until the page is closed.
  }
  apply();
}

media?.addEventListener("change", (event) => {
  systemDark = event.matches;
  apply();
});

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useTheme(): { choice: ThemeChoice; dark: boolean } {
  const value = useSyncExternalStore(subscribe, () => `${choice}:${isDark()}`);
  return { choice: value.split(":")[0] as ThemeChoice, dark: value.endsWith("true") };
}
