// Shapes of documents, the merge queue, contradictions, the graph, neighbourhoods and memory, written by hand
// until the OpenAPI document has them.

import type { Id, KnowledgeNode, Page, Triple } from "./types";

/** First and last (exclusive) code point of a passage in a document's text. */
export type Span = [number, number];

export type DocumentStatus =
  | "pending_approval"
  | "approved"
  | "processing"
  | "completed"
  | "failed"
  | "rejected"
  | "withdrawn";

export type DocumentStage = "reading" | "splitting" | "extracting" | "linking" | "embedding" | "saving";

export interface IngestionResult {
  triples_added?: number;
  triples_supported?: number;
  chunks?: number;
  merges_queued?: number;
  sentences?: number;
  skipped?: number;
  warnings?: string[];
  error?: { code: string; detail: string } | null;
}

export interface DocumentAnalysis {
  status: "pending" | "running" | "done" | "failed";
  error?: { code: string; detail: string } | null;
  triples: number;
  conflicts: number;
  known: number;
  new: number;
}

export interface DocumentProgress {
  stage: DocumentStage;
  done: number;
  total: number;
}

export interface Doc {
  id: Id;
  title: string;
  content_type: string;
  source_url: string | null;
  source_type: "upload" | "web" | "api" | "research" | "agent";
  filename: string | null;
  size_bytes: number;
  char_count: number | null;
  ingestion_status: DocumentStatus;
  ingestion_result: IngestionResult | null;
  progress: DocumentProgress | null;
  analysis: DocumentAnalysis | null;
  proposed_by: Id | null;
  proposed_by_agent: Id | null;
  approved_by: Id | null;
  approved_at: string | null;
  rejected_by: Id | null;
  rejected_at: string | null;
  rejection_reason: string | null;
  withdrawn_by: Id | null;
  withdrawn_at: string | null;
  withdrawal_reason?: string | null;
  created_at: string;
  processed_at: string | null;
  attempts: number;
}

export interface NewDocument {
  title?: string;
  content: string;
  content_type?: "text/plain" | "text/markdown" | "text/html";
  source_url?: string;
  source_type?: "upload" | "web" | "api";
}

export interface TextWindow {
  text: string;
  from: number;
  to: number;
  total: number;
}

export type PreviewStatus = "new" | "known" | "conflict";

/** A part of a statement as the preview has it: a word, or the thing it stands for. */
export type PreviewTerm =
  | string
  | number
  | boolean
  | { id?: Id | null; label?: string; value?: unknown; unit?: string | null };

export interface PreviewItem {
  subject: PreviewTerm;
  predicate: string;
  object: PreviewTerm;
  polarity: string;
  span: Span;
  sentence: string;
  status: PreviewStatus;
  conflicts?: { triple: Triple; reason: string }[];
}

export type Preview = Page<PreviewItem> & { conflicts?: number };

export interface DocumentTriple {
  triple: Triple;
  span: Span;
  sentence: string;
  chunk_id: Id | null;
}

export interface DocumentHit {
  document_id: Id;
  title: string;
  chunk_id: Id;
  span: Span;
  snippet: string;
  score: number;
}

export interface TripleSource {
  document_id: Id;
  title: string;
  span: Span;
  sentence: string;
  chunk_id: Id | null;
  source_url: string | null;
  created_at: string;
}

export type MergeStatus = "pending" | "accepted" | "rejected";

export interface Merge {
  id: Id;
  a: KnowledgeNode;
  b: KnowledgeNode;
  score: number;
  reasons: string[];
  document_id: Id | null;
  status: MergeStatus;
  decided_by: Id | null;
  decided_at: string | null;
  created_at: string;
}

/** A merge or a split of a name. */
export interface NodeEvent {
  id: Id;
  kind: "merge" | "split";
  /** The name that stayed. */
  node_id: Id;
  /** The name that was merged into it, or split off. */
  other: { id: Id; label: string };
  triples: number;
  aliases: number;
  collapsed: number;
  actor_id: Id | null;
  created_at: string;
  undone_at: string | null;
}

export interface Disagreement {
  a: Triple;
  b: Triple;
  reason: string;
}

export interface TriplePatch {
  valid_from?: string | null;
  valid_to?: string | null;
  confidence?: number;
  kind?: "fact" | "claim";
}

export type Curvature = "balanced" | "augmented";

export interface GraphNode {
  id: Id;
  label: string;
  kind: string | null;
  degree: number;
  hop: number;
}

export interface GraphEdge {
  id: Id;
  subject: Id;
  object: Id;
  predicate: string;
  label: string;
  polarity: "+" | "-";
  kind: "fact" | "claim";
  confidence: number;
  curvature: number | null;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  truncated: boolean;
}

export type NodeGraph = Graph & { center: { id: Id; label: string } };

export interface BallFilters {
  predicates?: string[];
  kinds?: ("fact" | "claim")[];
  min_confidence?: number | null;
  polarity?: "+" | "-" | null;
}

/** A saved neighbourhood. */
export interface Ball {
  id: Id;
  name: string;
  centers: { id: Id; label: string }[];
  radius: number;
  filters: BallFilters;
  node_count: number;
  edge_count: number;
  truncated: boolean;
  refreshed_at: string | null;
  created_by: Id | null;
  created_at: string;
}

export type BallDetail = Ball & { nodes: GraphNode[]; edges: GraphEdge[] };

export interface NewBall {
  name: string;
  centers: Id[];
  radius: number;
  filters: BallFilters;
}

export interface Memory {
  id: Id;
  agent_id: Id | null;
  user_id: Id | null;
  scope: "tenant" | "agent";
  key: string | null;
  value: unknown;
  note: string | null;
  expires_at: string | null;
  source: "person" | "agent";
  created_at: string;
  updated_at: string;
}

export interface NewMemory {
  agent_id?: Id;
  key?: string;
  value?: unknown;
  note?: string;
  ttl_seconds?: number;
}

export interface MemoryPatch {
  key?: string | null;
  value?: unknown;
  note?: string | null;
  ttl_seconds?: number | null;
}
