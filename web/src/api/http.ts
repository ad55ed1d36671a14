import { ApiError, errorFrom, networkError } from "./error";
import { getSession, refreshSession } from "./session";

export interface RequestOptions {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Sign-in calls carry no token and must not trigger a renewal. */
  anonymous?: boolean;
}

/** One request with the bearer token; renews an expired token once and repeats the request. */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const first = await attempt(path, options);
  if (first.ok) return first;
  const error = await errorFrom(first);
  if (options.anonymous || error.status !== 401) throw error;
  if (!(await refreshSession())) throw error;
  const second = await attempt(path, options);
  if (second.ok) return second;
  throw await errorFrom(second);
}

async function attempt(path: string, options: RequestOptions): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json", ...options.headers };
  const { token } = getSession();
  if (token !== null && !options.anonymous) headers.authorization = `Bearer ${token}`;
  if (options.body !== undefined) headers["content-type"] = "application/json";
  try {
    return await fetch(`/api${path}`, {
      method: options.method ?? "GET",
      headers,
      body: options.body === undefined ? null : JSON.stringify(options.body),
      signal: options.signal ?? null,
    });
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw networkError();
  }
}

export async function call<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await request(path, options);
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  if (text === "") return undefined as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ApiError({
      status: response.status,
      code: "BAD_ANSWER",
      detail: "the server's answer is not JSON",
    });
  }
}

/** Builds a query string, leaving out what is not set. */
export function query(params: Record<string, string | number | boolean | null | undefined>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(params))
    if (value !== null && value !== undefined && value !== "") search.set(key, String(value));
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}
