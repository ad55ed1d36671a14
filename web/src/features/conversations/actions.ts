import { useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client";
import { request } from "../../api/http";
import { keys } from "../../app/query";
import { saveAs } from "../../lib/download";
import { clip } from "../../lib/budget";
import { t } from "../../lib/strings";
import { toast, toastError } from "../../ui/Toast";
import { threadStore } from "./model/store";

interface Target {
  id: string;
  title: string | null;
}

const UNDO_MS = 8000;
const leaving = new Map<string, ReturnType<typeof setTimeout>>();

/** Threads that were deleted a moment ago and can still be brought back; lists leave them out. */
export function isLeaving(id: string): boolean {
  return leaving.has(id);
}

export function useConversationActions() {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: keys.conversations });

  const patch = async (id: string, change: { title?: string; is_archived?: boolean; is_shared?: boolean }) => {
    const conversation = await api.conversations.update(id, change);
    threadStore(id).dispatch({ type: "conversation", conversation });
    await refresh();
  };

  const setArchived = async (target: Target, archived: boolean) => {
    try {
      await patch(target.id, { is_archived: archived });
      toast({
        text: archived ? t.conversations.archivedToast : t.conversations.unarchivedToast,
        action: { label: t.common.undo, run: () => void patch(target.id, { is_archived: !archived }) },
      });
    } catch (error) {
      toastError(t.conversations.archive.toLowerCase(), error);
    }
  };

  const rename = async (target: Target, title: string) => {
    const clean = title.trim();
    if (clean === "" || clean === target.title) return;
    try {
      await patch(target.id, { title: clean });
    } catch (error) {
      toastError(t.common.rename.toLowerCase(), error);
    }
  };

  const share = async (target: Target, shared: boolean) => {
    try {
      await patch(target.id, { is_shared: shared });
      toast({ text: shared ? t.conversations.sharedHint : t.conversations.private });
    } catch (error) {
      toastError(t.conversations.share.toLowerCase(), error);
    }
  };

  // The server has no way back from a deletion, so it is told only when the time to undo has passed.
  const remove = (target: Target) => {
    const commit = async () => {
      leaving.delete(target.id);
      try {
        await api.conversations.remove(target.id);
      } catch (error) {
        toastError(t.conversations.delete.toLowerCase(), error);
      }
      await refresh();
    };
    leaving.set(
      target.id,
      setTimeout(() => void commit(), UNDO_MS),
    );
    void refresh();
    toast({
      text: t.conversations.deleted,
      detail: clip(target.title ?? "", 40),
      action: {
        label: t.common.undo,
        run: () => {
          clearTimeout(leaving.get(target.id));
          leaving.delete(target.id);
          void refresh();
        },
      },
    });
  };

  const download = async (target: Target, format: "md" | "json") => {
    try {
      const response = await request(api.conversations.exportPath(target.id, format));
      saveAs(await response.blob(), `${fileName(target.title)}.${format}`);
    } catch (error) {
      toastError(t.conversations.exportMd.toLowerCase(), error);
    }
  };

  return { setArchived, rename, share, remove, download, refresh };
}

/** Deletions that wait for their undo time must not be lost when the page is closed. */
export function flushDeletions() {
  for (const [id, timer] of leaving) {
    clearTimeout(timer);
    void request(`/conversations/${id}`, { method: "DELETE", keepalive: true }).catch(() => undefined);
  }
  leaving.clear();
}

function fileName(title: string | null): string {
  const clean = (title ?? "").replace(/[^\p{L}\p{N} ._-]+/gu, "").trim();
  return clean === "" ? "conversation" : clean.slice(0, 80);
}
