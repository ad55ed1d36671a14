import { t } from "../lib/strings";

/** What a failed request says: problem+json from the server, or a network failure in the same shape. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly hint: string | null;
  readonly requestId: string | null;

  constructor(init: {
    status: number;
    code: string;
    detail: string;
    hint?: string | null;
    requestId?: string | null;
  }) {
    super(init.detail);
    this.name = "ApiError";
    this.status = init.status;
    this.code = init.code;
    this.detail = init.detail;
    this.hint = init.hint ?? null;
    this.requestId = init.requestId ?? null;
  }
}

export function networkError(): ApiError {
  return new ApiError({ status: 0, code: "NETWORK", detail: t.errors.network, hint: t.errors.networkHint });
}

/** Reads an error answer; a body that is not problem+json (a proxy's page) becomes a plain sentence. */
export async function errorFrom(response: Response): Promise<ApiError> {
  const requestId = response.headers.get("x-request-id");
  let body: Record<string, unknown> = {};
  try {
    const parsed: unknown = await response.json();
    if (parsed !== null && typeof parsed === "object") body = parsed as Record<string, unknown>;
  } catch {
    // The status still tells what happened.
  }
  const text = (key: string) => (typeof body[key] === "string" ? (body[key] as string) : null);
  return new ApiError({
    status: response.status,
    code: text("code") ?? `HTTP_${response.status}`,
    detail: text("detail") ?? text("title") ?? t.errors.status(response.status),
    hint: text("hint"),
    requestId: text("request_id") ?? requestId,
  });
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError({ status: 0, code: "UNEXPECTED", detail: t.errors.unexpected });
}
