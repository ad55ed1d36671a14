import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState, useSyncExternalStore } from "react";
import { documents } from "../../api/documents";
import { asApiError } from "../../api/error";
import { request } from "../../api/http";
import type { Doc } from "../../api/knowledge-types";
import type { Id } from "../../api/types";
import { keys } from "../../app/query";
import { useRole } from "../../app/useRole";
import { saveAs } from "../../lib/download";
import { Later } from "../../lib/later";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Field, Textarea } from "../../ui/Field";
import { toast, toastError } from "../../ui/Toast";

const removals = new Later();

/** Documents whose removal can still be undone; lists leave them out. */
export function useRemoved(): ReadonlySet<Id> {
  return useSyncExternalStore(removals.subscribe, removals.ids);
}

export interface Allowed {
  decide: boolean;
  retry: boolean;
  withdraw: boolean;
  remove: boolean;
  rename: boolean;
}

export function useAllowed(doc: Doc | undefined): Allowed {
  const { me, mayDecide } = useRole();
  const status = doc?.ingestion_status;
  const mine = doc !== undefined && doc.proposed_by === me;
  return {
    decide: mayDecide && status === "pending_approval",
    retry: mayDecide && status === "failed",
    withdraw: mayDecide && status === "completed",
    remove: mayDecide || (mine && (status === "pending_approval" || status === "rejected")),
    rename: mayDecide || mine,
  };
}

export function useDocumentActions() {
  const client = useQueryClient();
  const store = (next: Doc) => {
    client.setQueryData<Doc>(keys.document(next.id), (before) => ({ ...before, ...next }));
    void client.invalidateQueries({ queryKey: [...keys.documents, "list"] });
  };
  const act = async (what: string, id: Id, work: () => Promise<Doc>, done: string) => {
    try {
      store(await work());
      toast({ text: done });
      return true;
    } catch (error) {
      if (asApiError(error).code === "DOCUMENT_STATE") {
        // Somebody was faster; show what they made of it.
        toast({ text: t.documents.updated });
        void client.invalidateQueries({ queryKey: keys.document(id) });
        void client.invalidateQueries({ queryKey: [...keys.documents, "list"] });
      } else toastError(what.toLowerCase(), error);
      return false;
    }
  };
  return {
    approve: (id: Id) => act(t.documents.approve, id, () => documents.approve(id), t.documents.approved),
    reject: (id: Id, reason: string) =>
      act(t.documents.reject, id, () => documents.reject(id, reason), t.documents.rejected),
    retry: (id: Id) => act(t.documents.retry, id, () => documents.retry(id), t.documents.retried),
    withdraw: (id: Id, reason: string) =>
      act(t.documents.withdraw, id, () => documents.withdraw(id, reason || undefined), t.documents.withdrawn),
    rename: async (id: Id, title: string) => {
      try {
        store(await documents.update(id, { title }));
      } catch (error) {
        toastError(t.common.rename.toLowerCase(), error);
      }
    },
    remove: (doc: Doc) => {
      removals.add(
        doc.id,
        async () => {
          await documents.remove(doc.id);
          void client.invalidateQueries({ queryKey: [...keys.documents, "list"] });
          void client.invalidateQueries({ queryKey: keys.knowledge });
        },
        (error) => toastError(t.documents.delete.toLowerCase(), error),
      );
      toast({
        text: t.documents.deleted,
        action: { label: t.common.undo, run: () => removals.undo(doc.id) },
      });
    },
    download: async (doc: Doc) => {
      try {
        const response = await request(documents.filePath(doc.id));
        saveAs(await response.blob(), doc.filename ?? doc.title);
      } catch (error) {
        toastError(t.documents.download.toLowerCase(), error);
      }
    },
  };
}

/** Asks for the reason of a rejection or a withdrawal. */
export function ReasonDialog({
  kind,
  open,
  onClose,
  onSubmit,
}: {
  kind: "reject" | "withdraw";
  open: boolean;
  onClose: () => void;
  onSubmit: (reason: string) => void;
}) {
  const text = t.documents;
  return (
    <Dialog open={open} onClose={onClose} title={kind === "reject" ? text.rejectTitle : text.withdrawTitle}>
      <p className="muted">{kind === "reject" ? text.rejectHint : text.withdrawHint}</p>
      <ReasonForm kind={kind} onClose={onClose} onSubmit={onSubmit} />
    </Dialog>
  );
}

function ReasonForm({
  kind,
  onClose,
  onSubmit,
}: {
  kind: "reject" | "withdraw";
  onClose: () => void;
  onSubmit: (reason: string) => void;
}) {
  const [reason, setReason] = useState("");
  const [missing, setMissing] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (kind === "reject" && reason.trim() === "") {
      setMissing(true);
      return;
    }
    onSubmit(reason.trim());
    onClose();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <Field
        label={t.documents.reason}
        optional={kind === "withdraw"}
        error={missing ? t.documents.reasonMissing : null}
      >
        <Textarea
          rows={3}
          value={reason}
          maxLength={2000}
          placeholder={t.documents.reasonEx}
          onChange={(event) => {
            setReason(event.target.value);
            setMissing(false);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit(event);
          }}
        />
      </Field>
      <div className="dialog-foot">
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button kind="danger" type="submit">
          {kind === "reject" ? t.documents.reject : t.documents.withdraw}
        </Button>
      </div>
    </form>
  );
}
