import { useQuery } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import { Link } from "react-router";
import { documents } from "../../api/documents";
import { asApiError } from "../../api/error";
import type { TripleSource } from "../../api/knowledge-types";
import type { Id } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Bone, Delayed, sentence } from "../../ui/states";

export function useSources(triple: Id, enabled = true) {
  return useQuery({
    queryKey: keys.sources(triple),
    queryFn: ({ signal }) => documents.sources(triple, signal),
    enabled,
    staleTime: 60_000,
  });
}

/** The sentences of documents that say what a fact says. */
export function Sources({ triple, enabled = true }: { triple: Id; enabled?: boolean }) {
  const query = useSources(triple, enabled);
  if (query.isPending)
    return (
      <Delayed>
        <div className="passages" role="status" aria-label={t.app.loading}>
          <Bone width="60%" />
          <Bone width="90%" />
        </div>
      </Delayed>
    );
  if (query.isError)
    return (
      <p className="small muted">
        {t.errors.loadFailed(t.documents.sourcesOf)}. {sentence(asApiError(query.error).detail)}{" "}
        <Button size="s" onClick={() => void query.refetch()}>
          {t.common.retry}
        </Button>
      </p>
    );
  const items = query.data.items;
  if (items.length === 0) return <p className="muted small">{t.documents.noSources}</p>;
  return (
    <ul className="passages">
      {items.map((source) => (
        <li key={`${source.document_id} ${source.span[0]}`}>
          <Passage source={source} />
        </li>
      ))}
    </ul>
  );
}

export function passageLink(source: TripleSource): string {
  return `/documents/${source.document_id}?span=${source.span[0]}-${source.span[1]}`;
}

export function Passage({ source }: { source: TripleSource }) {
  return (
    <Link className="passage" to={passageLink(source)}>
      <span className="passage-doc small">
        <FileText size={13} aria-hidden />
        <span className="truncate">{source.title}</span>
      </span>
      <q className="passage-text">{source.sentence}</q>
    </Link>
  );
}
