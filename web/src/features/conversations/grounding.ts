import type { Grounding, GroundingTriple, Message } from "../../api/types";
import { groupDigits } from "../../lib/numbers";

/** A fact in the words of the graph, whatever shape it travelled in. */
export interface FactLine {
  id: string;
  subject: string;
  subjectId: string | null;
  predicate: string;
  object: string;
  negative: boolean;
  kind: string | null;
  confidence: number | null;
  source: string | null;
}

export function factLine(triple: GroundingTriple): FactLine {
  const { subject, object } = triple;
  return {
    id: triple.id,
    subject: typeof subject === "string" ? subject : subject.label,
    subjectId: typeof subject === "string" ? null : (subject.id ?? null),
    predicate: triple.predicate,
    object: objectText(object),
    negative: triple.polarity === "-" || triple.polarity === "negative",
    kind: triple.kind ?? null,
    confidence: triple.confidence ?? null,
    source: triple.source ?? null,
  };
}

function objectText(object: GroundingTriple["object"]): string {
  if (object === null || typeof object !== "object") return groupDigits(String(object));
  const value = object.label ?? String(object.value ?? "");
  return groupDigits(object.unit && !value.includes(object.unit) ? `${value} ${object.unit}` : value);
}

/** founded_in_year reads as "founded in year". */
export function predicateText(name: string): string {
  return name.replace(/_/g, " ");
}

export function groundingOf(message: Message): Grounding | null {
  return message.metadata.grounding ?? null;
}

/** The fact or the passage behind each citation number of an answer. */
export function citedIds(message: Message): Map<number, string> {
  return new Map(
    (message.metadata.citations ?? []).map((one) => [one.n, one.triple_id ?? one.chunk_id ?? ""]),
  );
}

export function counts(grounding: Grounding | null): { facts: number; gaps: number; conflicts: number } {
  return {
    facts: grounding?.triples?.length ?? 0,
    gaps: grounding?.gaps?.length ?? 0,
    conflicts: grounding?.contradictions?.length ?? 0,
  };
}
