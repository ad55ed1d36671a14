import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client";
import { keys } from "../../app/query";
import { setTheme, type ThemeChoice, useTheme } from "../../app/theme";
import { signOut } from "../../app/useSession";
import { t } from "../../lib/strings";
import { Button } from "../../ui/Button";
import { Avatar, Time } from "../../ui/bits";
import { Field } from "../../ui/Field";
import { Select } from "../../ui/Select";
import { ErrorState, SkeletonRows } from "../../ui/states";

export function Profile() {
  const me = useQuery({ queryKey: keys.me, queryFn: api.auth.me });
  const theme = useTheme();
  if (me.isPending) return <SkeletonRows rows={4} />;
  if (me.isError)
    return (
      <ErrorState
        what={t.settings.profile.toLowerCase()}
        error={me.error}
        onRetry={() => void me.refetch()}
      />
    );
  const { user, role } = me.data;
  return (
    <div className="stack settings-form">
      <div className="row">
        <Avatar name={user.name} size={40} />
        <div className="grow">
          <h2>{user.name}</h2>
          <div className="muted">{user.email}</div>
        </div>
      </div>
      <dl className="facts-dl">
        <div className="dl-row">
          <dt>{t.settings.role}</dt>
          <dd>{t.settings.roles[role] ?? role}</dd>
        </div>
        {user.created_at ? (
          <div className="dl-row">
            <dt>{t.settings.memberSince}</dt>
            <dd>
              <Time at={user.created_at} style="exact" />
            </dd>
          </div>
        ) : null}
      </dl>
      <Field label={t.settings.appearance}>
        <Select<ThemeChoice>
          value={theme.choice}
          options={[
            { value: "system", label: t.nav.system },
            { value: "light", label: t.nav.light },
            { value: "dark", label: t.nav.dark },
          ]}
          onChange={setTheme}
        />
      </Field>
      <div>
        <Button onClick={() => void signOut()}>{t.nav.signOut}</Button>
      </div>
    </div>
  );
}
