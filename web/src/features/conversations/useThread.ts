import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { keys } from "../../app/query";
import { type ThreadStore, threadStore } from "./model/store";
import type { ThreadState } from "./model/thread";

export function useThread(id: string): { store: ThreadStore; state: ThreadState } {
  const store = threadStore(id);
  const state = useSyncExternalStore(store.subscribe, store.getState);
  const client = useQueryClient();
  useEffect(() => {
    store.onChange = () => void client.invalidateQueries({ queryKey: keys.conversations });
    void store.open();
  }, [store, client]);
  return { store, state };
}
