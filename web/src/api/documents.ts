import { call, query } from "./http";
import type {
  Doc,
  DocumentHit,
  DocumentStatus,
  DocumentTriple,
  NewDocument,
  Preview,
  TextWindow,
  TripleSource,
} from "./knowledge-types";
import type { Id, Page } from "./types";

type Signal = AbortSignal | undefined;
interface Window {
  limit?: number;
  offset?: number;
}

const get = <T>(path: string, signal?: Signal) => call<T>(path, signal ? { signal } : {});
const post = <T>(path: string, body: unknown = {}) => call<T>(path, { method: "POST", body });

export const documents = {
  list: (params: Window & { status?: DocumentStatus; q?: string }, signal?: Signal) =>
    get<Page<Doc>>(`/documents${query({ ...params })}`, signal),
  get: (id: Id, signal?: Signal) => get<Doc>(`/documents/${id}`, signal),
  create: (body: NewDocument) => post<Doc>("/documents", body),
  update: (id: Id, patch: { title?: string; source_url?: string | null }) =>
    call<Doc>(`/documents/${id}`, { method: "PATCH", body: patch }),
  remove: (id: Id) => call<void>(`/documents/${id}`, { method: "DELETE" }),
  text: (id: Id, from: number, to: number, signal?: Signal) =>
    get<TextWindow>(`/documents/${id}/text${query({ from, to })}`, signal),
  filePath: (id: Id) => `/documents/${id}/file`,
  streamPath: (id: Id) => `/documents/${id}/stream`,
  preview: (id: Id, params: Window, signal?: Signal) =>
    get<Preview>(`/documents/${id}/preview${query({ ...params })}`, signal),
  triples: (id: Id, params: Window, signal?: Signal) =>
    get<Page<DocumentTriple>>(`/documents/${id}/triples${query({ ...params })}`, signal),
  approve: (id: Id, note?: string) => post<Doc>(`/documents/${id}/approve`, note ? { note } : {}),
  reject: (id: Id, reason: string) => post<Doc>(`/documents/${id}/reject`, { reason }),
  retry: (id: Id) => post<Doc>(`/documents/${id}/retry`),
  withdraw: (id: Id, reason?: string) => post<Doc>(`/documents/${id}/withdraw`, reason ? { reason } : {}),
  search: (q: string, limit: number, signal?: Signal) =>
    get<{ items: DocumentHit[] }>(`/documents/search${query({ q, limit })}`, signal),
  sources: (triple: Id, signal?: Signal) =>
    get<{ items: TripleSource[] }>(`/knowledge/triples/${triple}/sources`, signal),
};
