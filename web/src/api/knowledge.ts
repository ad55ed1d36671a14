import { call, query } from "./http";
import type {
  Ball,
  BallDetail,
  Curvature,
  Disagreement,
  Memory,
  MemoryPatch,
  Merge,
  MergeStatus,
  NewBall,
  NewMemory,
  NodeEvent,
  NodeGraph,
  TriplePatch,
} from "./knowledge-types";
import type { Id, KnowledgeNode, Page, Triple } from "./types";

type Signal = AbortSignal | undefined;
interface Window {
  limit?: number;
  offset?: number;
}

const get = <T>(path: string, signal?: Signal) => call<T>(path, signal ? { signal } : {});
const send = <T>(method: string, path: string, body?: unknown) => call<T>(path, { method, body });

export const merges = {
  list: (params: Window & { status: MergeStatus }, signal?: Signal) =>
    get<Page<Merge>>(`/knowledge/merges${query({ ...params })}`, signal),
  accept: (id: Id, keep: "a" | "b") => send<unknown>("POST", `/knowledge/merges/${id}/accept`, { keep }),
  reject: (id: Id) => send<unknown>("POST", `/knowledge/merges/${id}/reject`, {}),
};

export const entities = {
  merge: (id: Id, into: Id) => send<KnowledgeNode>("POST", `/knowledge/nodes/${id}/merge`, { into }),
  split: (id: Id, body: { label: string; triple_ids: Id[]; alias_ids?: Id[] }) =>
    send<KnowledgeNode>("POST", `/knowledge/nodes/${id}/split`, body),
  events: (id: Id, params: Window, signal?: Signal) =>
    get<Page<NodeEvent>>(`/knowledge/nodes/${id}/events${query({ ...params })}`, signal),
  undo: (id: Id, event: Id) => send<KnowledgeNode>("POST", `/knowledge/nodes/${id}/events/${event}/undo`, {}),
  graph: (id: Id, params: { hops: 1 | 2; limit: number; curvature: Curvature }, signal?: Signal) =>
    get<NodeGraph>(`/knowledge/nodes/${id}/graph${query({ ...params })}`, signal),
  qualify: (id: Id, patch: TriplePatch) => send<Triple>("PATCH", `/knowledge/triples/${id}`, patch),
  contradictions: (params: Window & { node?: Id }, signal?: Signal) =>
    get<Page<Disagreement>>(`/knowledge/contradictions${query({ ...params })}`, signal),
};

export const balls = {
  list: (params: Window, signal?: Signal) =>
    get<Page<Ball>>(`/knowledge/balls${query({ ...params })}`, signal),
  get: (id: Id, signal?: Signal) => get<BallDetail>(`/knowledge/balls/${id}`, signal),
  create: (body: NewBall) => send<Ball>("POST", "/knowledge/balls", body),
  update: (id: Id, patch: Partial<NewBall>) => send<Ball>("PATCH", `/knowledge/balls/${id}`, patch),
  remove: (id: Id) => send<void>("DELETE", `/knowledge/balls/${id}`),
  refresh: (id: Id) => send<Ball>("POST", `/knowledge/balls/${id}/refresh`, {}),
};

export const memory = {
  list: (params: Window & { agent_id?: Id; q?: string }, signal?: Signal) =>
    get<Page<Memory>>(`/memory${query({ ...params })}`, signal),
  create: (body: NewMemory) => send<Memory>("POST", "/memory", body),
  update: (id: Id, patch: MemoryPatch) => send<Memory>("PATCH", `/memory/${id}`, patch),
  remove: (id: Id) => send<void>("DELETE", `/memory/${id}`),
};
