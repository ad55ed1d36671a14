// Shapes of the HTTP API as the screens use them. They come from the generated schema.ts; written by hand is
// only what the OpenAPI document leaves open: lists, and what stands in a message's metadata.

import type { components } from "./schema";

type Schemas = components["schemas"];

/** An answer as it arrives: a field that may be absent in the schema is sent as null. */
type Full<T> = { [K in keyof T]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K] };

export type Id = string;

export interface Page<T> {
  items: T[];
  total: number;
  limit: number;
  offset: number;
}

export type User = Pick<Schemas["User"], "id" | "email" | "name"> & Partial<Schemas["User"]>;
export type Tenant = Schemas["Tenant"];
export type Membership = Schemas["Membership"];
export type SessionAnswer = Pick<Schemas["Session"], "token" | "refresh_token" | "tenant"> & { user: User };
export type Me = Schemas["Me"];
export type ApiKey = Full<Schemas["ApiKey"]> & { key?: string };
export type Scope = Schemas["Scope"];

export type Agent = Full<Schemas["Agent"]>;
export type AgentPatch = Partial<Omit<Agent, "id" | "version" | "created_at" | "updated_at" | "avatar_url">>;
export type AgentVersion = Full<Schemas["AgentVersion"]>;
export type AgentPreset = Schemas["AgentPreset"];
export type ControlType = Schemas["ControlType"];
export type OutputVisibility = Schemas["OutputVisibility"];

export type Conversation = Full<Schemas["Conversation"]>;
export type Turn = Full<Schemas["Turn"]>;
export type Message = Omit<Full<Schemas["Message"]>, "metadata" | "rating"> & {
  metadata: MessageMetadata;
  rating: 1 | -1 | null;
};
export interface SendAnswer {
  user_message: Message;
  assistant_message: Message;
  conversation: Conversation;
}

export type TripleObject = Schemas["TripleObject"];
export type Triple = Omit<Full<Schemas["Triple"]>, "polarity" | "kind" | "object"> & {
  polarity: "+" | "-";
  kind: "fact" | "claim";
  object: TripleObject;
};
export type NewTriple = Schemas["CreateTriple"];
export type NodeAlias = Schemas["NodeAlias"];
export type KnowledgeNode = Full<Schemas["Node"]>;
export type KnowledgeNodeDetail = KnowledgeNode & { triples: Triple[] };
export type Predicate = Full<Schemas["Predicate"]>;

export type Meta = Schemas["Meta"];
export type Usage = Schemas["Usage"];

export interface ConversationSummary {
  id: Id;
  title: string | null;
  is_archived: boolean;
  is_shared: boolean;
  user_id: Id;
  created_at: string;
  updated_at: string;
  message_count: number;
  last_message_preview: string | null;
  last_agent_id: Id | null;
  running_turn_id: Id | null;
  match?: { message_id: Id | null; snippet: string } | null;
}

/** A fact as it travels in an answer's metadata. */
export interface GroundingTriple {
  id: Id;
  subject: string | { id?: Id; label: string };
  predicate: string;
  object: string | number | boolean | { label?: string; value?: unknown; unit?: string | null };
  polarity?: string;
  kind?: string;
  confidence?: number;
  source?: string | null;
}

export interface Contradiction {
  a: GroundingTriple;
  b: GroundingTriple;
  reason?: string;
}

export interface Gap {
  text: string;
  reason?: string;
}

export type Competence = "competent" | "partial" | "out_of_scope";

export interface Grounding {
  competence?: Competence;
  triples?: GroundingTriple[];
  contradictions?: Contradiction[];
  gaps?: Gap[];
}

export interface Artifact {
  id: Id;
  type: string;
  name: string;
  content: string;
}

export interface ToolCall {
  name: string;
  arguments?: unknown;
  ok?: boolean;
  status?: "started" | "completed" | "failed";
  summary?: string | null;
}

export type Verdict = "grounded" | "contradicted" | "contested" | "ungrounded";

/** A claim of an answer and what the graph says of it; `span` counts Unicode code points of the answer. */
export interface ClaimVerdict {
  text: string;
  span: [number, number];
  subject: string;
  predicate: string;
  object: string | null;
  polarity: "+" | "-";
  modality: "asserted" | "hedged" | "conditional" | "reported" | "question";
  verdict: Verdict;
  triple_ids: Id[];
  against?: Id[];
  /** Numbers of `metadata.passages`. */
  passages?: number[];
  passages_against?: number[];
  confidence: number;
  margin?: number | null;
  reason?: string | null;
}

export interface Belnap {
  passed: boolean;
  counts: Partial<Record<Verdict, number>>;
  claims: ClaimVerdict[];
}

/** What the rule-based gate found, and which statement bears which claim with what weight. */
export interface Verification {
  passed: boolean;
  fidelity: number;
  faithfulness: number;
  attributions: { claim: string; claim_index: number; triple_id: Id; weight: number }[];
  ungrounded_claims: { text: string; reason?: string }[];
  reason?: string | null;
}

/** A passage of a document that the answer was given. */
export interface AnswerPassage {
  n: number;
  document_id: Id;
  chunk_id: Id;
  title: string | null;
  span: [number, number];
  text: string;
}

export interface Citation {
  n: number;
  triple_id?: Id;
  chunk_id?: Id;
  document_id?: Id;
}

export interface MessageMetadata {
  grounding?: Grounding;
  citations?: Citation[];
  belnap?: Belnap;
  verification?: Verification;
  passages?: AnswerPassage[];
  artifacts?: Artifact[];
  agent?: { name: string; display_name?: string | null; version: number };
  usage?: { prompt_tokens: number; completion_tokens: number; calls: number; estimated: boolean };
  tool_calls?: ToolCall[];
  provider?: string;
  suggested_actions?: unknown;
  [key: string]: unknown;
}

export type { TripleSource } from "./knowledge-types";
