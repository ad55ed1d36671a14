import { useQueryClient } from "@tanstack/react-query";
import { ApiError } from "../../api/error";
import { entities } from "../../api/knowledge";
import type { NodeEvent } from "../../api/knowledge-types";
import type { Id } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { toast, toastError } from "../../ui/Toast";

interface Named {
  id: Id;
  label: string;
}

/** The newest merge or split between two names that still stands. */
export function standing(events: NodeEvent[], kind: NodeEvent["kind"], other: Id): NodeEvent | null {
  return events.find((one) => one.kind === kind && one.other.id === other && one.undone_at === null) ?? null;
}

/** Merging and splitting names, each with a way back. */
export function useMerging() {
  const client = useQueryClient();
  const words = t.knowledge.entity;
  const refresh = () => client.invalidateQueries({ queryKey: keys.knowledge });

  const undoEvent = async (node: Id, event: NodeEvent, onUndone?: () => void) => {
    try {
      await entities.undo(node, event.id);
      toast({ text: event.kind === "merge" ? words.mergeUndone : words.splitUndone });
      onUndone?.();
      await refresh();
    } catch (error) {
      toastError(t.common.undo.toLowerCase(), error);
    }
  };

  const undo = async (kind: NodeEvent["kind"], node: Id, other: Id, onUndone?: () => void) => {
    try {
      const { items } = await entities.events(node, { limit: 100 });
      const event = standing(items, kind, other);
      if (event === null) throw new ApiError({ status: 409, code: "CONFLICT", detail: words.undoneAlready });
      await undoEvent(node, event, onUndone);
    } catch (error) {
      toastError(t.common.undo.toLowerCase(), error);
    }
  };

  const merge = async (from: Named, into: Named, work: () => Promise<unknown>, onUndone?: () => void) => {
    try {
      await work();
    } catch (error) {
      toastError(words.mergeDo.toLowerCase(), error);
      return false;
    }
    toast({
      text: words.merged(from.label, into.label),
      action: { label: t.common.undo, run: () => void undo("merge", into.id, from.id, onUndone) },
    });
    await refresh();
    return true;
  };

  return {
    undoEvent,
    /** `work` may be another request that merges, such as the acceptance of a proposed pair. */
    merge: (
      from: Named,
      into: Named,
      {
        work = () => entities.merge(from.id, into.id),
        onUndone,
      }: {
        work?: () => Promise<unknown>;
        onUndone?: () => void;
      } = {},
    ) => merge(from, into, work, onUndone),
    split: async (from: Id, body: { label: string; triple_ids: Id[]; alias_ids: Id[] }) => {
      try {
        const made = await entities.split(from, body);
        toast({
          text: words.splitDone(made.label),
          action: { label: t.common.undo, run: () => void undo("split", from, made.id) },
        });
        await refresh();
      } catch (error) {
        toastError(words.splitAction, error);
      }
    },
  };
}
