import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { api } from "../../api/client";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { SwitchRow } from "../../ui/bits";
import { Field } from "../../ui/Field";
import { Panel } from "../../ui/Panel";
import { Select } from "../../ui/Select";
import { EmptyState, ErrorState, SkeletonRows } from "../../ui/states";
import { toastError } from "../../ui/Toast";
import { predicateText } from "../conversations/grounding";

const NONE = "";

export function PredicatePanel({ id, onClose }: { id: string; onClose: () => void }) {
  const client = useQueryClient();
  const query = useQuery({ queryKey: keys.predicates, queryFn: api.knowledge.predicates });
  const items = query.data?.items ?? [];
  const one = items.find((item) => item.id === id);
  const update = useMutation({
    mutationFn: (patch: Parameters<typeof api.knowledge.updatePredicate>[1]) =>
      api.knowledge.updatePredicate(id, patch),
    onSettled: () => client.invalidateQueries({ queryKey: keys.predicates }),
    onError: (error) => toastError(t.common.save.toLowerCase(), error),
  });
  const others = [
    { value: NONE, label: t.common.none },
    ...items
      .filter((item) => item.id !== id)
      .map((item) => ({ value: item.id, label: predicateText(item.name) })),
  ];
  return (
    <Panel title={one ? predicateText(one.name) : t.knowledge.settings} onClose={onClose}>
      {query.isPending ? (
        <SkeletonRows rows={4} />
      ) : query.isError ? (
        <ErrorState
          what={t.knowledge.predicateList}
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      ) : one === undefined ? (
        <EmptyState title={t.errors.notFound} />
      ) : (
        <>
          <Link className="link" to={`/knowledge?predicate=${encodeURIComponent(one.name)}`}>
            {t.knowledge.factsWith}
          </Link>
          <Field label={t.knowledge.functional} hint={t.knowledge.functionalHint}>
            <Select
              value={one.functional === null ? "auto" : one.functional ? "yes" : "no"}
              options={[
                { value: "auto", label: t.knowledge.auto },
                { value: "yes", label: t.common.yes },
                { value: "no", label: t.common.no },
              ]}
              onChange={(value) => update.mutate({ functional: value === "auto" ? null : value === "yes" })}
            />
          </Field>
          <SwitchRow
            label={t.knowledge.symmetric}
            hint={t.knowledge.symmetricHint}
            checked={one.symmetric === true}
            onChange={(symmetric) => update.mutate({ symmetric })}
          />
          <Field label={t.knowledge.inverse} hint={t.knowledge.inverseHint}>
            <Select
              value={one.inverse_of ?? NONE}
              options={others}
              onChange={(other) => update.mutate({ inverse_of: other === NONE ? null : other })}
            />
          </Field>
          <Field label={t.knowledge.exclusive} hint={t.knowledge.exclusiveHint}>
            <Select
              value={one.exclusive_with ?? NONE}
              options={others}
              onChange={(other) => update.mutate({ exclusive_with: other === NONE ? null : other })}
            />
          </Field>
        </>
      )}
    </Panel>
  );
}
