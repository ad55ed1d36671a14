import { describe, expect, it } from "vitest";
import type { Doc, DocumentTriple, PreviewItem } from "../../api/knowledge-types";
import { fromPreview, fromTriple, isAnalysing, isBusy, isRecorded } from "./facts";

describe("a fact of a document", () => {
  it("reads from the preview whatever shape its parts have", () => {
    const item: PreviewItem = {
      subject: "Northwind",
      predicate: "revenue",
      object: { label: "12", value: 12, unit: "MEUR" },
      polarity: "-",
      span: [3, 9],
      sentence: "…",
      status: "conflict",
    };
    expect(fromPreview(item)).toMatchObject({
      subject: "Northwind",
      object: "12 MEUR",
      negative: true,
      tone: "conflict",
      tripleId: null,
      conflicts: [],
    });
    expect(fromPreview({ ...item, object: true, polarity: "+" })).toMatchObject({
      object: "true",
      negative: false,
    });
  });

  it("reads from what was recorded, with its names", () => {
    const item = {
      triple: {
        id: "t",
        subject: { id: "s", label: "Northwind" },
        predicate: "owns",
        object: { type: "node", node_id: "o", label: "Contoso", value: "Contoso" },
        polarity: "+",
      },
      span: [0, 5],
    } as unknown as DocumentTriple;
    expect(fromTriple(item)).toMatchObject({
      tripleId: "t",
      subjectId: "s",
      objectId: "o",
      tone: "recorded",
    });
  });
});

describe("the state of a document", () => {
  const doc = (ingestion_status: string, analysis = "done") =>
    ({ ingestion_status, analysis: { status: analysis } }) as Doc;
  it("tells what is going on", () => {
    expect(isBusy(doc("approved"))).toBe(true);
    expect(isBusy(doc("completed"))).toBe(false);
    expect(isAnalysing(doc("pending_approval", "running"))).toBe(true);
    // A rejected one is not waited for.
    expect(isAnalysing(doc("rejected", "running"))).toBe(false);
    expect(isRecorded(doc("withdrawn"))).toBe(true);
  });
});
