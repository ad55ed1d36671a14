import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { documents } from "../../api/documents";
import { request } from "../../api/http";
import type { Doc } from "../../api/knowledge-types";
import { readEvents } from "../../api/sse";
import type { Id } from "../../api/types";
import { keys } from "../../app/query";
import { isAnalysing, isBusy } from "./facts";

const POLL_MS = 2_000;
/** While the stream is open it is only made sure that nothing was missed. */
const SLOW_MS = 15_000;
/** Pauses before the stream is opened again; asking takes over meanwhile. */
const AGAIN_MS = [500, 1_000, 2_000, 5_000, 10_000];

/** One document, kept up to date: by its event stream while it is read, by asking again where that fails. */
export function useDocument(id: Id) {
  const client = useQueryClient();
  const [live, setLive] = useState(false);
  const query = useQuery({
    queryKey: keys.document(id),
    queryFn: ({ signal }) => documents.get(id, signal),
    refetchInterval: ({ state }) => {
      const doc = state.data;
      if (!doc) return false;
      if (!isAnalysing(doc) && !isBusy(doc)) return false;
      return live ? SLOW_MS : POLL_MS;
    },
  });
  const doc = query.data;
  const moving = doc !== undefined && (isBusy(doc) || isAnalysing(doc));
  const analysis = doc?.analysis?.status;
  const status = doc?.ingestion_status;

  useEffect(() => {
    if (!moving) return;
    return follow(id, {
      onDocument: (next) => {
        setLive(true);
        client.setQueryData<Doc>(keys.document(id), (before) => ({ ...before, ...next }));
      },
      onLost: () => setLive(false),
    });
  }, [moving, id, client]);

  // What other screens show changes with its state.
  const before = useRef(status);
  useEffect(() => {
    const was = before.current;
    before.current = status;
    if (was === undefined || status === undefined || was === status) return;
    void client.invalidateQueries({ queryKey: [...keys.documents, "list"] });
    if (status !== "completed" && status !== "withdrawn") return;
    void client.invalidateQueries({ queryKey: [...keys.document(id), "triples"] });
    void client.invalidateQueries({ queryKey: keys.knowledge });
  }, [status, id, client]);
  useEffect(() => {
    if (analysis === "done") void client.invalidateQueries({ queryKey: [...keys.document(id), "preview"] });
  }, [analysis, id, client]);

  return query;
}

/** Reads a document's event stream until it says that it is done; opens it again when it breaks. */
function follow(id: Id, to: { onDocument: (doc: Doc) => void; onLost: () => void }): () => void {
  const control = new AbortController();
  const { signal } = control;
  const run = async () => {
    let done = false;
    let tries = 0;
    while (!signal.aborted) {
      try {
        const response = await request(documents.streamPath(id), {
          headers: { accept: "text/event-stream" },
          signal,
        });
        if (response.body)
          await readEvents(
            response.body,
            (event) => {
              tries = 0;
              if (event.event === "done") done = true;
              if (event.event !== "document" || signal.aborted) return;
              to.onDocument(documentOf(JSON.parse(event.data)));
            },
            { signal },
          );
      } catch {
        // Asking again takes over until the stream can be opened.
      }
      if (signal.aborted) return;
      to.onLost();
      if (done) return;
      const pause = AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)];
      tries += 1;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  };
  void run();
  return () => control.abort();
}

/** The document in an event, which may carry it with the number of its state. */
function documentOf(data: Doc | { document: Doc }): Doc {
  return "document" in data ? data.document : data;
}
