import { documents } from "../../api/documents";
import type { Doc, DocumentTriple, Preview, PreviewItem, PreviewTerm, Span } from "../../api/knowledge-types";
import type { Id, Page, Triple } from "../../api/types";
import { keys } from "../../app/query";
import { useAllPages } from "../../lib/useAllPages";
import { objectText } from "../knowledge/FactRow";
import type { Tone } from "./model/marks";

/** A fact of a document, whether approval would add it or has added it. */
export interface DocFact {
  span: Span;
  subject: string;
  subjectId: Id | null;
  predicate: string;
  object: string;
  objectId: Id | null;
  negative: boolean;
  tone: Tone;
  tripleId: Id | null;
  conflicts: { triple: Triple; reason: string }[];
}

function termText(term: PreviewTerm): string {
  if (term === null || typeof term !== "object") return String(term);
  const text = term.label ?? String(term.value ?? "");
  return term.unit && !text.includes(term.unit) ? `${text} ${term.unit}` : text;
}

function termId(term: PreviewTerm): Id | null {
  return term !== null && typeof term === "object" ? (term.id ?? null) : null;
}

export function fromPreview(item: PreviewItem): DocFact {
  return {
    span: item.span,
    subject: termText(item.subject),
    subjectId: termId(item.subject),
    predicate: item.predicate,
    object: termText(item.object),
    objectId: termId(item.object),
    negative: item.polarity === "-" || item.polarity === "negative",
    tone: item.status,
    tripleId: null,
    conflicts: item.conflicts ?? [],
  };
}

export function fromTriple({ triple, span }: DocumentTriple): DocFact {
  return {
    span,
    subject: triple.subject.label,
    subjectId: triple.subject.id,
    predicate: triple.predicate,
    object: objectText(triple.object),
    objectId: triple.object.node_id ?? null,
    negative: triple.polarity === "-",
    tone: "recorded",
    tripleId: triple.id,
    conflicts: [],
  };
}

export function isRecorded(doc: Doc): boolean {
  return doc.ingestion_status === "completed" || doc.ingestion_status === "withdrawn";
}

export function isBusy(doc: Doc): boolean {
  return doc.ingestion_status === "approved" || doc.ingestion_status === "processing";
}

export function isAnalysing(doc: Doc): boolean {
  return (
    doc.ingestion_status === "pending_approval" &&
    (doc.analysis?.status === "pending" || doc.analysis?.status === "running")
  );
}

type Part = Page<DocFact>;

/** Every fact of a document, read page after page: recorded ones after approval, expected ones before. */
export function useDocFacts(doc: Doc) {
  const recorded = isRecorded(doc);
  const ready = recorded || (!isAnalysing(doc) && doc.analysis?.status !== "failed");
  return useAllPages<DocFact>(
    [...keys.document(doc.id), recorded ? "triples" : "preview"],
    async (window, signal): Promise<Part> => {
      if (recorded) {
        const page = await documents.triples(doc.id, window, signal);
        return { ...page, items: page.items.map(fromTriple) };
      }
      const page: Preview = await documents.preview(doc.id, window, signal);
      return { ...page, items: page.items.map(fromPreview) };
    },
    ready,
  );
}
