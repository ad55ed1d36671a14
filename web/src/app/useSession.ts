import { useSyncExternalStore } from "react";
import { api } from "../api/client";
import {
  adoptSession,
  currentRefreshToken,
  dropSession,
  getSession,
  onSession,
  type Session,
} from "../api/session";
import type { Id } from "../api/types";
import { clearThreads } from "../features/conversations/model/store";
import { clearDrafts } from "../lib/drafts";
import { queryClient } from "./query";

export function useSession(): Session {
  return useSyncExternalStore(onSession, getSession);
}

export async function signOut() {
  const refresh = currentRefreshToken();
  // Signing out of this browser must work even when the server cannot be told.
  if (refresh !== null) await api.auth.logout(refresh).catch(() => undefined);
  clearThreads();
  clearDrafts();
  dropSession();
  queryClient.clear();
}

export async function switchTenant(id: Id) {
  const answer = await api.auth.switchTenant(id);
  clearThreads();
  adoptSession(answer);
  queryClient.clear();
}
