import { useCallback } from "react";
import { useSearchParams } from "react-router";

export type PanelParams = Record<string, string>;

/**
 * What the side panel shows, kept in the address so that a reload or a shared link opens it again.
 * `panel` names the kind; the other keys say which one.
 */
export function usePanel(names: readonly string[]) {
  const [params, setParams] = useSearchParams();
  const kind = params.get("panel");
  const open = useCallback(
    (panel: string, values: PanelParams = {}) => {
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          for (const name of names) next.delete(name);
          next.set("panel", panel);
          for (const [key, value] of Object.entries(values)) next.set(key, value);
          return next;
        },
        { replace: false, preventScrollReset: true },
      );
    },
    [setParams, names],
  );
  const close = useCallback(() => {
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        next.delete("panel");
        for (const name of names) next.delete(name);
        return next;
      },
      { preventScrollReset: true },
    );
  }, [setParams, names]);
  return { kind, get: (name: string) => params.get(name), open, close };
}
