import { ApiError, errorFrom, networkError } from "./error";
import { takeTurns } from "./turns";
import type { SessionAnswer, Tenant, User } from "./types";

// Where the tokens live, and why. The access token (15 minutes) is kept in memory only, so a script that
// reads storage finds nothing it can call the API with. The refresh token is kept in localStorage, because
// without it every reload would ask for the password; it rotates at each use and the server revokes the
// whole family when an old one is used again, so a copied token is of use once and is noticed. The page
// allows no inline or foreign script (content security policy), which is what guards localStorage here.
// A cookie would need CSRF protection and would bind the API to one origin.

const KEY = "qadra.session";

interface Stored {
  refresh: string;
  tenant: string;
}

export interface Session {
  token: string | null;
  user: User | null;
  tenant: Tenant | null;
  status: "unknown" | "signed-in" | "signed-out";
}

let session: Session = { token: null, user: null, tenant: null, status: "unknown" };
const listeners = new Set<() => void>();

export function getSession(): Session {
  return session;
}

export function onSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: Session) {
  session = next;
  for (const listener of listeners) listener();
}

function readStored(): Stored | null {
  try {
    const parsed: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null");
    if (parsed !== null && typeof parsed === "object" && "refresh" in parsed) return parsed as Stored;
  } catch {
    // Blocked or foreign content reads as signed out.
  }
  return null;
}

function writeStored(value: Stored | null) {
  try {
    if (value === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(value));
  } catch {
    // Storage may be blocked; the session then lasts until the page is closed.
  }
}

let memoryRefresh: string | null = null;

export function adoptSession(answer: SessionAnswer) {
  memoryRefresh = answer.refresh_token;
  writeStored({ refresh: answer.refresh_token, tenant: answer.tenant.id });
  set({ token: answer.token, user: answer.user, tenant: answer.tenant, status: "signed-in" });
}

export function patchSessionUser(user: User) {
  set({ ...session, user: { ...session.user, ...user } });
}

export function dropSession() {
  memoryRefresh = null;
  writeStored(null);
  set({ token: null, user: null, tenant: null, status: "signed-out" });
}

export function currentRefreshToken(): string | null {
  return readStored()?.refresh ?? memoryRefresh;
}

// Two tabs must not use one refresh token at the same time: the server would take the second use for theft.
// The lock makes them take turns, and each reads the newest token once it holds the lock.
function exclusive<T>(work: () => Promise<T>): Promise<T> {
  if (typeof navigator !== "undefined" && "locks" in navigator)
    return navigator.locks.request("qadra.refresh", work) as Promise<T>;
  return takeTurns(work);
}

let inFlight: Promise<boolean> | null = null;

/** Renews the access token; callers that come while one renewal runs share it. True when signed in. */
export function refreshSession(): Promise<boolean> {
  inFlight ??= exclusive(refreshNow).finally(() => {
    inFlight = null;
  });
  return inFlight;
}

async function refreshNow(): Promise<boolean> {
  const refresh = currentRefreshToken();
  if (refresh === null) {
    dropSession();
    return false;
  }
  let response: Response;
  try {
    response = await fetch("/api/auth/refresh", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ refresh_token: refresh }),
    });
  } catch {
    throw networkError();
  }
  if (response.ok) {
    adoptSession((await response.json()) as SessionAnswer);
    return true;
  }
  const error = await errorFrom(response);
  // Only an answer about the token ends the session; a failing server must not sign people out.
  if (error.status === 401 || error.status === 403 || error.status === 400 || error.status === 422) {
    dropSession();
    return false;
  }
  throw error;
}

/** Follows what another tab does: signing out there signs out here, another team there reloads here. */
export function watchOtherTabs() {
  window.addEventListener("storage", (event) => {
    if (event.key !== KEY) return;
    const stored = readStored();
    if (stored === null) {
      if (session.status === "signed-in") dropSession();
    } else if (session.tenant !== null && stored.tenant !== session.tenant.id) {
      location.assign("/");
    }
  });
}

export function isSignInError(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}
