import { call, query } from "./http";
import type {
  Agent,
  AgentPatch,
  AgentPreset,
  AgentVersion,
  ApiKey,
  Conversation,
  ConversationSummary,
  Id,
  KnowledgeNode,
  KnowledgeNodeDetail,
  Me,
  Message,
  Meta,
  NewTriple,
  NodeAlias,
  Page,
  Predicate,
  SessionAnswer,
  Triple,
  Turn,
  Usage,
} from "./types";

type Window = {
  limit?: number;
  offset?: number;
};

type Signal = AbortSignal | undefined;
const get = <T>(path: string, signal?: Signal) => call<T>(path, signal ? { signal } : {});
const send = <T>(method: string, path: string, body?: unknown) => call<T>(path, { method, body });

export const api = {
  auth: {
    register: (body: { email: string; password: string; name: string; tenant_name: string }) =>
      call<SessionAnswer>("/auth/register", { method: "POST", body, anonymous: true }),
    login: (body: { email: string; password: string }) =>
      call<SessionAnswer>("/auth/login", { method: "POST", body, anonymous: true }),
    logout: (refresh_token: string) => send<void>("POST", "/auth/logout", { refresh_token }),
    me: () => get<Me>("/auth/me"),
    switchTenant: (tenant_id: Id) => send<SessionAnswer>("POST", "/auth/switch-tenant", { tenant_id }),
  },
  apiKeys: {
    list: () => get<Page<ApiKey>>("/api-keys?limit=100"),
    create: (body: { name: string; scopes?: string[]; expires_at?: string }) =>
      send<ApiKey>("POST", "/api-keys", body),
    revoke: (id: Id) => send<void>("DELETE", `/api-keys/${id}`),
  },
  agents: {
    list: () => get<Page<Agent>>("/agents?limit=100"),
    get: (id: Id) => get<Agent>(`/agents/${id}`),
    create: (body: (AgentPatch & { name: string }) | { preset: string; name?: string }) =>
      send<Agent>("POST", "/agents", body),
    update: (id: Id, patch: AgentPatch) => send<Agent>("PATCH", `/agents/${id}`, patch),
    remove: (id: Id) => send<void>("DELETE", `/agents/${id}`),
    versions: (id: Id) => get<{ items: AgentVersion[]; total: number }>(`/agents/${id}/versions`),
    restore: (id: Id, version: number) => send<Agent>("POST", `/agents/${id}/versions/${version}/restore`),
    presets: () => get<{ items: AgentPreset[] }>("/agents/presets"),
  },
  conversations: {
    list: (params: Window & { q?: string; archived?: boolean; shared?: boolean }, signal?: Signal) =>
      get<Page<ConversationSummary>>(`/conversations${query(params)}`, signal),
    create: (body: { title?: string } = {}) => send<Conversation>("POST", "/conversations", body),
    get: (id: Id) => get<Conversation>(`/conversations/${id}`),
    update: (id: Id, patch: { title?: string; is_archived?: boolean; is_shared?: boolean }) =>
      send<Conversation>("PATCH", `/conversations/${id}`, patch),
    remove: (id: Id) => send<void>("DELETE", `/conversations/${id}`),
    restore: (id: Id) => send<Conversation>("POST", `/conversations/${id}/restore`),
    messages: (id: Id, params: Window & { order?: "asc" | "desc" }) =>
      get<Page<Message>>(`/conversations/${id}/messages${query(params)}`),
    rate: (id: Id, message: Id, rating: 1 | -1 | null) =>
      send<Message>("POST", `/conversations/${id}/messages/${message}/rate`, { rating }),
    select: (id: Id, message: Id) =>
      send<Conversation>("POST", `/conversations/${id}/messages/${message}/select`),
    turn: (id: Id, turn: Id) => get<Turn>(`/conversations/${id}/turns/${turn}`),
    cancel: (id: Id, turn: Id) => send<unknown>("POST", `/conversations/${id}/turns/${turn}/cancel`),
    exportPath: (id: Id, format: "md" | "json") => `/conversations/${id}/export?format=${format}`,
  },
  knowledge: {
    triples: (
      params: Window & {
        q?: string;
        subject?: string;
        predicate?: string;
        object?: string;
        include_retracted?: boolean;
      },
      signal?: Signal,
    ) => get<Page<Triple>>(`/knowledge/triples${query(params)}`, signal),
    triple: (id: Id) => get<Triple>(`/knowledge/triples/${id}`),
    add: (body: NewTriple[]) => send<{ items: Triple[] }>("POST", "/knowledge/triples", body),
    retract: (id: Id) => send<void>("DELETE", `/knowledge/triples/${id}`),
    nodes: (params: Window & { q?: string }, signal?: Signal) =>
      get<Page<KnowledgeNode>>(`/knowledge/nodes${query(params)}`, signal),
    node: (id: Id) => get<KnowledgeNodeDetail>(`/knowledge/nodes/${id}`),
    addAlias: (body: { node: string; alias: string }) => send<NodeAlias>("POST", "/knowledge/aliases", body),
    removeAlias: (id: Id) => send<void>("DELETE", `/knowledge/aliases/${id}`),
    predicates: () => get<Page<Predicate>>("/knowledge/predicates?limit=100"),
    updatePredicate: (
      id: Id,
      patch: {
        functional?: boolean | null;
        symmetric?: boolean;
        inverse_of?: string | null;
        exclusive_with?: string | null;
      },
    ) => send<Predicate>("PATCH", `/knowledge/predicates/${id}`, patch),
  },
  meta: () => call<Meta>("/meta", { anonymous: true }),
  usage: () => get<Usage>("/usage"),
};
