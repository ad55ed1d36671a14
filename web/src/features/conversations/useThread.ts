import { useEffect, useSyncExternalStore } from "react";
import { keys, queryClient } from "../../app/query";
import { onThreadChange, type ThreadStore, threadStore } from "./model/store";
import type { ThreadState } from "./model/thread";

onThreadChange(() => void queryClient.invalidateQueries({ queryKey: keys.conversations }));

export function useThread(id: string): { store: ThreadStore; state: ThreadState } {
  const store = threadStore(id);
  const state = useSyncExternalStore(store.subscribe, store.getState);
  useEffect(() => {
    void store.open();
  }, [store]);
  return { store, state };
}
