import { useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client";
import { request } from "../../api/http";
import { keys } from "../../app/query";
import { clip } from "../../lib/budget";
import { saveAs } from "../../lib/download";
import { t } from "../../lib/strings";
import { toast, toastError } from "../../ui/Toast";
import { threadStore } from "./model/store";

interface Target {
  id: string;
  title: string | null;
}

export function useConversationActions() {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: keys.conversations });

  const patch = async (
    id: string,
    change: { title?: string; is_archived?: boolean; is_shared?: boolean },
  ) => {
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

  const remove = async (target: Target) => {
    try {
      await api.conversations.remove(target.id);
      await refresh();
      toast({
        text: t.conversations.deleted,
        detail: clip(target.title ?? "", 40),
        action: { label: t.common.undo, run: () => void restore(target.id) },
      });
    } catch (error) {
      toastError(t.conversations.delete.toLowerCase(), error);
    }
  };

  const restore = async (id: string) => {
    try {
      await api.conversations.restore(id);
      await refresh();
      toast({ text: t.conversations.restored });
    } catch (error) {
      toastError(t.common.undo.toLowerCase(), error);
    }
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

function fileName(title: string | null): string {
  const clean = (title ?? "").replace(/[^\p{L}\p{N} ._-]+/gu, "").trim();
  return clean === "" ? "conversation" : clean.slice(0, 80);
}
