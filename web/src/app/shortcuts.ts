import { useEffect } from "react";
import { useNavigate } from "react-router";
import { rooms } from "./rooms";

export const isMac = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.userAgent);
export const modKey = isMac ? "⌘" : "Ctrl";

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

/** The keys that work everywhere. Keys of one page live with that page. */
export function useShortcuts(actions: { palette: () => void; help: () => void }) {
  const navigate = useNavigate();
  useEffect(() => {
    let goUntil = 0;
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && !event.altKey && event.key.toLowerCase() === "k") {
        event.preventDefault();
        actions.palette();
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
      if (isTyping(event.target) || document.querySelector('[role="dialog"],[role="menu"]') !== null) return;
      if (Date.now() < goUntil) {
        goUntil = 0;
        const room = rooms.find((one) => one.key === event.key.toLowerCase());
        if (room) {
          event.preventDefault();
          navigate(room.path);
          return;
        }
      }
      if (event.key === "g") goUntil = Date.now() + 1500;
      else if (event.key === "?") {
        event.preventDefault();
        actions.help();
      } else if (event.key === "/") {
        const field = document.querySelector<HTMLInputElement>("[data-search]");
        if (field) {
          event.preventDefault();
          field.focus();
          field.select();
        }
      } else if (event.key === "c") {
        event.preventDefault();
        navigate("/conversations/new");
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate, actions]);
}
