import { ApiError, networkError } from "./error";
import type { Doc } from "./knowledge-types";
import { getSession, refreshSession } from "./session";

interface UploadOptions {
  title?: string;
  onProgress: (sent: number, total: number) => void;
  signal: AbortSignal;
}

/** Sends one file as multipart. Over XMLHttpRequest, because fetch does not tell how much has been sent. */
export async function uploadDocument(file: File, options: UploadOptions): Promise<Doc> {
  try {
    return await attempt(file, options);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401 || !(await refreshSession())) throw error;
    return attempt(file, options);
  }
}

function attempt(file: File, { title, onProgress, signal }: UploadOptions): Promise<Doc> {
  return new Promise((resolve, reject) => {
    const aborted = () => new DOMException("cancelled", "AbortError");
    if (signal.aborted) {
      reject(aborted());
      return;
    }
    const body = new FormData();
    // Parts arrive in this order; the file last, so that a reader knows the rest when it comes.
    if (title !== undefined) body.append("title", title);
    body.append("file", file, file.name);

    const xhr = new XMLHttpRequest();
    const stop = () => xhr.abort();
    signal.addEventListener("abort", stop, { once: true });
    xhr.onloadend = () => signal.removeEventListener("abort", stop);
    xhr.upload.onprogress = (event) =>
      onProgress(event.loaded, event.lengthComputable ? event.total : file.size);
    xhr.onerror = () => reject(networkError());
    xhr.onabort = () => reject(aborted());
    xhr.onload = () => {
      try {
        if (xhr.status >= 200 && xhr.status < 300) resolve(JSON.parse(xhr.responseText) as Doc);
        else reject(problem(xhr));
      } catch {
        reject(problem(xhr));
      }
    };
    xhr.open("POST", "/api/documents");
    xhr.setRequestHeader("accept", "application/json");
    const { token } = getSession();
    if (token !== null) xhr.setRequestHeader("authorization", `Bearer ${token}`);
    xhr.send(body);
  });
}

function problem(xhr: XMLHttpRequest): ApiError {
  let body: Record<string, unknown> = {};
  try {
    body = JSON.parse(xhr.responseText) as Record<string, unknown>;
  } catch {
    // The status still tells what happened.
  }
  const text = (key: string) => (typeof body[key] === "string" ? (body[key] as string) : null);
  return new ApiError({
    status: xhr.status,
    code: text("code") ?? `HTTP_${xhr.status}`,
    detail: text("detail") ?? text("title") ?? `${xhr.status}`,
    hint: text("hint"),
    requestId: text("request_id") ?? xhr.getResponseHeader("x-request-id"),
  });
}
