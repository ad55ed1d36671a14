import { useMutation, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client";
import type { NodeAlias } from "../../api/types";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { Button, IconButton } from "../../ui/Button";
import { Input } from "../../ui/Field";
import { toastError } from "../../ui/Toast";

/** The other names of a thing, to add to and to take from. */
export function Aliases({
  nodeId,
  label,
  aliases,
  heading: Heading = "h3",
}: {
  nodeId: string;
  label: string;
  aliases: NodeAlias[];
  heading?: "h2" | "h3";
}) {
  const client = useQueryClient();
  const [text, setText] = useState("");
  const refresh = () => client.invalidateQueries({ queryKey: keys.nodes });
  const add = useMutation({
    mutationFn: (alias: string) => api.knowledge.addAlias({ node: nodeId, alias }),
    onSuccess: () => {
      setText("");
      return refresh();
    },
    onError: (error) => toastError(t.knowledge.addAlias.toLowerCase(), error),
  });
  const remove = useMutation({
    mutationFn: (id: string) => api.knowledge.removeAlias(id),
    onSuccess: refresh,
    onError: (error) => toastError(t.common.remove.toLowerCase(), error),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") add.mutate(text.trim());
  };
  const rows = aliases.filter((one) => one.alias !== label);
  return (
    <section className="side-section">
      <Heading>{t.knowledge.aliases}</Heading>
      {rows.length === 0 ? <p className="muted small">{t.knowledge.noAliases}</p> : null}
      <ul className="alias-list">
        {rows.map((one) => (
          <li key={one.id} className="alias">
            {one.alias}
            <IconButton
              size="s"
              label={`${t.common.remove}: ${one.alias}`}
              icon={<X size={12} />}
              onClick={() => remove.mutate(one.id)}
            />
          </li>
        ))}
      </ul>
      <form className="row" onSubmit={submit}>
        <Input
          aria-label={t.knowledge.alias}
          placeholder={t.knowledge.aliasEx}
          value={text}
          maxLength={300}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" disabled={text.trim() === "" || add.isPending}>
          {t.knowledge.addAlias}
        </Button>
      </form>
    </section>
  );
}
