import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client";
import type { NewTriple, Triple } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { toast, toastError } from "../../ui/Toast";

/** Retracts a fact, and offers to take that back. */
export function useRetract({
  done = t.knowledge.retractedToast,
  onRetracted,
  onRestored,
}: {
  done?: string;
  onRetracted?: (fact: Triple) => void;
  onRestored?: (fact: Triple) => void;
} = {}) {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: keys.knowledge });
  return useMutation({
    mutationFn: (fact: Triple) => api.knowledge.retract(fact.id),
    onSuccess: async (_, fact) => {
      onRetracted?.(fact);
      await refresh();
      toast({
        text: done,
        action: {
          label: t.common.undo,
          run: () => {
            // Retracting keeps the history, so undoing it records the same fact again.
            api.knowledge
              .add([again(fact)])
              .then(() => {
                onRestored?.(fact);
                toast({ text: t.knowledge.restoredToast });
                return refresh();
              })
              .catch((error) => toastError(t.common.undo.toLowerCase(), error));
          },
        },
      });
    },
    onError: (error) => toastError(t.knowledge.retract.toLowerCase(), error),
  });
}

function again(fact: Triple): NewTriple {
  const { object } = fact;
  const plain =
    typeof object.value === "string" || typeof object.value === "number" || typeof object.value === "boolean";
  return {
    subject: fact.subject.label,
    predicate: fact.predicate,
    object:
      object.type === "node" || !plain
        ? object.label
        : { type: object.type, value: object.value, ...(object.unit ? { unit: object.unit } : {}) },
    polarity: fact.polarity,
    confidence: fact.confidence,
    kind: fact.kind,
    ...(fact.source === null ? {} : { source: fact.source }),
    ...(fact.valid_from === null ? {} : { valid_from: fact.valid_from }),
    ...(fact.valid_to === null ? {} : { valid_to: fact.valid_to }),
  };
}
