import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Copy, KeyRound } from "lucide-react";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client";
import { asApiError } from "../../api/error";
import type { ApiKey } from "../../api/types";
import { keys } from "../../app/query";
import { copyText } from "../../lib/clipboard";
import { t } from "../../lib/strings";
import { Button, IconButton } from "../../ui/Button";
import { Badge, Time } from "../../ui/bits";
import { Dialog } from "../../ui/Dialog";
import { Field, Input } from "../../ui/Field";
import { Select } from "../../ui/Select";
import { EmptyState, ErrorState, SkeletonRows, sentence } from "../../ui/states";
import { toast, toastError } from "../../ui/Toast";

export function ApiKeys() {
  const query = useQuery({ queryKey: keys.apiKeys, queryFn: api.apiKeys.list });
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const items = query.data?.items ?? [];
  return (
    <div className="stack">
      <div className="row">
        <div className="grow">
          <h2>{t.settings.keys}</h2>
          <p className="muted">{t.settings.keysHint}</p>
        </div>
        <Button kind="primary" onClick={() => setCreating(true)}>
          {t.settings.newKey}
        </Button>
      </div>
      {query.isPending ? (
        <SkeletonRows rows={3} />
      ) : query.isError ? (
        <ErrorState what={t.settings.keysList} error={query.error} onRetry={() => void query.refetch()} />
      ) : items.length === 0 ? (
        <EmptyState
          icon={<KeyRound size={24} aria-hidden />}
          title={t.settings.keysEmpty}
          hint={t.settings.keysEmptyHint}
        />
      ) : (
        <ul className="rows">
          {items.map((one) => (
            <li key={one.id} className="rows-item">
              <div className="grow">
                <div className="row">
                  <strong className="truncate">{one.name}</strong>
                  {one.revoked_at ? <Badge>{t.settings.revoked}</Badge> : null}
                </div>
                <div className="muted small key-meta">
                  <span className="mono">{one.prefix}…</span>
                  <span>{accessOf(one.scopes)}</span>
                  <span>
                    {t.settings.created} <Time at={one.created_at} />
                  </span>
                  <span>
                    {t.settings.lastUsed}{" "}
                    {one.last_used_at ? <Time at={one.last_used_at} /> : t.common.never.toLowerCase()}
                  </span>
                  {one.expires_at ? (
                    <span>
                      {t.settings.expires} <Time at={one.expires_at} style="exact" />
                    </span>
                  ) : null}
                </div>
              </div>
              {one.revoked_at ? null : (
                <Button size="s" kind="danger" onClick={() => setRevoking(one)}>
                  {t.settings.revoke}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      <CreateDialog open={creating} onClose={() => setCreating(false)} />
      <RevokeDialog target={revoking} onClose={() => setRevoking(null)} />
    </div>
  );
}

type Access = keyof typeof t.settings.accesses;
const SCOPES: Record<Access, string[]> = { read: ["read"], write: ["read", "write"], admin: ["admin"] };

type Expiry = keyof typeof t.settings.expiry;
const DAYS: Record<Expiry, number | null> = { never: null, d30: 30, d90: 90, d365: 365 };

function CreateDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title={t.settings.newKey}>
      <CreateBody onClose={onClose} />
    </Dialog>
  );
}

function CreateBody({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [expiry, setExpiry] = useState<Expiry>("d90");
  const [access, setAccess] = useState<Access>("write");
  const create = useMutation({
    mutationFn: () => {
      const days = DAYS[expiry];
      return api.apiKeys.create({
        name: name.trim(),
        scopes: SCOPES[access],
        ...(days === null ? {} : { expires_at: new Date(Date.now() + days * 86_400_000).toISOString() }),
      });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: keys.apiKeys }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== "") create.mutate();
  };
  if (create.data?.key) {
    const secret = create.data.key;
    return (
      <>
        <p>{t.settings.keyOnce}</p>
        <div className="row">
          <Input
            className="mono"
            readOnly
            value={secret}
            aria-label={t.settings.prefix}
            onFocus={(e) => e.target.select()}
          />
          <IconButton
            label={t.common.copy}
            icon={<Copy size={16} />}
            onClick={() =>
              void copyText(secret).then((done) => (done ? toast({ text: t.common.copied }) : undefined))
            }
          />
        </div>
        <div className="dialog-foot">
          <Button kind="primary" onClick={onClose}>
            {t.settings.keyDone}
          </Button>
        </div>
      </>
    );
  }
  return (
    <form className="stack" onSubmit={submit}>
      <Field
        label={t.settings.keyName}
        error={create.isError ? sentence(asApiError(create.error).detail) : null}
      >
        <Input
          value={name}
          maxLength={100}
          placeholder={t.settings.keyNameEx}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <Field label={t.settings.access}>
        <Select<Access>
          value={access}
          options={(Object.keys(SCOPES) as Access[]).map((value) => ({
            value,
            label: t.settings.accesses[value],
          }))}
          onChange={setAccess}
        />
      </Field>
      <Field label={t.settings.expires}>
        <Select<Expiry>
          value={expiry}
          options={(Object.keys(DAYS) as Expiry[]).map((value) => ({
            value,
            label: t.settings.expiry[value],
          }))}
          onChange={setExpiry}
        />
      </Field>
      <div className="dialog-foot">
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button kind="primary" type="submit" disabled={name.trim() === "" || create.isPending}>
          {t.common.create}
        </Button>
      </div>
    </form>
  );
}

function RevokeDialog({ target, onClose }: { target: ApiKey | null; onClose: () => void }) {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: (id: string) => api.apiKeys.revoke(id),
    onSuccess: async () => {
      onClose();
      toast({ text: t.settings.revokedToast });
      await client.invalidateQueries({ queryKey: keys.apiKeys });
    },
    onError: (error) => toastError(t.settings.revoke.toLowerCase(), error),
  });
  return (
    <Dialog open={target !== null} onClose={onClose} title={t.settings.revokeTitle}>
      <p>{t.settings.revokeHint(target?.name ?? "")}</p>
      <div className="dialog-foot">
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button kind="danger" disabled={revoke.isPending} onClick={() => target && revoke.mutate(target.id)}>
          {t.settings.revoke}
        </Button>
      </div>
    </Dialog>
  );
}

function accessOf(scopes: string[]): string {
  if (scopes.includes("admin")) return t.settings.accesses.admin;
  return scopes.includes("write") ? t.settings.accesses.write : t.settings.accesses.read;
}
