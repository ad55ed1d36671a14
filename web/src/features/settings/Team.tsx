import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client";
import { keys } from "../../app/query";
import { useTenantSwitch } from "../../app/Rail";
import { useSession } from "../../app/useSession";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Avatar, Badge } from "../../ui/bits";
import { ErrorState, SkeletonRows } from "../../ui/states";

export function Team() {
  const me = useQuery({ queryKey: keys.me, queryFn: api.auth.me });
  const { tenant } = useSession();
  const change = useTenantSwitch();
  if (me.isPending) return <SkeletonRows rows={3} />;
  if (me.isError)
    return (
      <ErrorState what={t.settings.teams.toLowerCase()} error={me.error} onRetry={() => void me.refetch()} />
    );
  return (
    <div className="stack">
      <div>
        <h2>{t.settings.teams}</h2>
        <p className="muted">{t.settings.teamHint}</p>
      </div>
      <ul className="rows">
        {me.data.tenants.map((one) => (
          <li key={one.id} className="rows-item">
            <Avatar name={one.name} shape="square" size={32} />
            <div className="grow">
              <div className="truncate">{one.name}</div>
              <div className="muted small">{t.settings.roles[one.role] ?? one.role}</div>
            </div>
            {one.id === tenant?.id ? (
              <Badge tone="accent">{t.settings.currentTeam}</Badge>
            ) : (
              <Button size="s" onClick={() => void change(one.id, one.name)}>
                {t.settings.switch}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
