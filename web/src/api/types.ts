// Shapes of the HTTP API as the screens use them.

export type Id = string;

export interface Page<T> {
  items: T[];
  total: number;
  limit: number;
  offset: number;
}

export type Role = "user" | "admin" | "owner";

export interface User {
  id: Id;
  email: string;
  name: string;
  role?: Role;
  is_super_admin?: boolean;
  created_at?: string;
}

export interface Tenant {
  id: Id;
  name: string;
  slug: string;
}

export interface Membership extends Tenant {
  role: Role;
  is_default: boolean;
}

export interface SessionAnswer {
  token: string;
  refresh_token: string;
  user: User;
  tenant: Tenant;
}

export interface Me {
  user: User;
  tenant: Tenant;
  role: Role;
  tenants: Membership[];
}

export interface ApiKey {
  id: Id;
  name: string;
  prefix: string;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  key?: string;
}

export type ControlType = "retain" | "relinquish_to_parent" | "relinquish_to_start";
export type OutputVisibility = "user_facing" | "internal";

export interface Agent {
  id: Id;
  name: string;
  version: number;
  display_name: string | null;
  avatar_url: string | null;
  description: string | null;
  system_prompt: string;
  control_type: ControlType;
  output_visibility: OutputVisibility;
  max_calls_per_parent_agent: number;
  model: string | null;
  temperature: number | null;
  is_active: boolean;
  created_at: string;
  updated_at: string;
}

export type AgentPatch = Partial<
  Pick<
    Agent,
    | "name"
    | "display_name"
    | "description"
    | "system_prompt"
    | "control_type"
    | "output_visibility"
    | "max_calls_per_parent_agent"
    | "model"
    | "temperature"
    | "is_active"
  >
>;

export interface AgentVersion {
  version: number;
  system_prompt: string;
  model: string | null;
  temperature: number | null;
  created_at: string;
  created_by: Id | null;
}

export interface AgentPreset {
  preset: string;
  display_name: string;
  description: string;
}

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

export interface Conversation {
  id: Id;
  user_id: Id;
  title: string | null;
  is_archived: boolean;
  is_shared: boolean;
  active_branch_id: Id | null;
  message_count: number;
  running_turn_id: Id | null;
  created_at: string;
  updated_at: string;
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

export interface MessageMetadata {
  grounding?: Grounding;
  citations?: { n: number; triple_id: Id }[];
  artifacts?: Artifact[];
  agent?: { name: string; display_name?: string | null; version: number };
  usage?: { prompt_tokens: number; completion_tokens: number; calls: number; estimated: boolean };
  tool_calls?: ToolCall[];
  provider?: string;
  suggested_actions?: unknown;
  [key: string]: unknown;
}

export interface Message {
  id: Id;
  conversation_id: Id;
  parent_id: Id | null;
  branch_id: Id | null;
  position: number;
  role: "user" | "assistant" | "system";
  content: string;
  agent_id: Id | null;
  agent_version: number | null;
  model: string | null;
  token_count: number | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  latency_ms: number | null;
  finish_reason: string | null;
  rating: -1 | 1 | null;
  flow_execution_id: Id | null;
  metadata: MessageMetadata;
  created_at: string;
  siblings: Id[];
}

export interface SendAnswer {
  user_message: Message;
  assistant_message: Message;
  conversation: Conversation;
}

export interface Turn {
  id: Id;
  status: "running" | "completed" | "cancelled" | "failed";
  user_message_id: Id | null;
  assistant_message_id: Id | null;
  error: { code: string; detail: string; hint?: string } | null;
}

export interface TripleObject {
  type: "node" | "text" | "number" | "date" | "boolean";
  value: unknown;
  unit?: string | null;
  node_id?: Id | null;
  label: string;
}

export interface Triple {
  id: Id;
  subject: { id: Id; label: string };
  predicate: string;
  predicate_id: Id;
  object: TripleObject;
  polarity: "+" | "-";
  confidence: number;
  kind: "fact" | "claim";
  source: string | null;
  valid_from: string | null;
  valid_to: string | null;
  retracted_at: string | null;
  created_at: string;
}

export interface NewTriple {
  subject: string;
  predicate: string;
  object: string | number | boolean | { type: string; value: unknown; unit?: string };
  polarity?: "+" | "-";
  confidence?: number;
  source?: string;
  kind?: "fact" | "claim";
  valid_from?: string;
  valid_to?: string;
}

export interface NodeAlias {
  id: Id;
  alias: string;
}

export interface KnowledgeNode {
  id: Id;
  label: string;
  kind: string | null;
  aliases: NodeAlias[];
  created_at: string;
}

export interface KnowledgeNodeDetail extends KnowledgeNode {
  triples: Triple[];
}

export interface Predicate {
  id: Id;
  name: string;
  /** Null lets the data decide. */
  functional: boolean | null;
  symmetric: boolean;
  inverse_of: Id | null;
  exclusive_with: Id | null;
}

export interface Meta {
  version: string;
  llm: { provider: string; model: string | null };
}

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  calls: number;
  by_model: { model: string | null; prompt_tokens: number; completion_tokens: number; calls: number }[];
  by_day: { day: string; prompt_tokens: number; completion_tokens: number; calls: number }[];
}
