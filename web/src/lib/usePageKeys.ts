import { useEffect, useRef } from "react";

/**
 * Keys of one page. They do nothing while somebody types, while a dialog or menu is open, or with a modifier.
 */
export function usePageKeys(handlers: Record<string, (() => void) | undefined>) {
  const current = useRef(handlers);
  current.current = handlers;
  useEffect(() => {
    // After `g` a letter goes to another room, so the page leaves that letter alone.
    let goUntil = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
      const target = event.target;
      if (target instanceof HTMLElement) {
        if (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName)) return;
      }
      if (document.querySelector('[role="dialog"],[role="menu"]') !== null) return;
      if (Date.now() < goUntil) {
        goUntil = 0;
        return;
      }
      if (event.key === "g") {
        goUntil = Date.now() + 1500;
        return;
      }
      const run = current.current[event.key];
      if (!run) return;
      event.preventDefault();
      run();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
