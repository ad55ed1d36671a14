import { Eye, EyeOff } from "lucide-react";
import { type FormEvent, useEffect, useState } from "react";
import { Link, Navigate, useNavigate, useSearchParams } from "react-router";
import { api } from "../../api/client";
import { type ApiError, asApiError } from "../../api/error";
import { adoptSession, currentRefreshToken, refreshSession } from "../../api/session";
import { useSession } from "../../app/useSession";
import { t } from "../../lib/strings";
import { Button, IconButton } from "../../ui/Button";
import { Field, Input } from "../../ui/Field";
import { RequestId, sentence } from "../../ui/states";
import { safeNext } from "./next";

export function SignInPage({ mode }: { mode: "sign-in" | "register" }) {
  const register = mode === "register";
  const session = useSession();
  const navigate = useNavigate();
  const [params] = useSearchParams();
  const next = safeNext(params.get("next"));
  const [shown, setShown] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);

  useEffect(() => {
    if (session.status === "unknown" && currentRefreshToken() !== null)
      refreshSession().catch(() => undefined);
  }, [session.status]);

  if (session.status === "signed-in") return <Navigate to={next} replace />;

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const value = (name: string) => String(form.get(name) ?? "").trim();
    const password = String(form.get("password") ?? "");
    setBusy(true);
    setError(null);
    try {
      const answer = register
        ? await api.auth.register({
            email: value("email"),
            password,
            name: value("name"),
            tenant_name: value("tenant_name"),
          })
        : await api.auth.login({ email: value("email"), password });
      adoptSession(answer);
      navigate(next, { replace: true });
    } catch (problem) {
      setError(asApiError(problem));
      setBusy(false);
    }
  };

  return (
    <main className="sign-in">
      <title>{`${register ? t.auth.register : t.auth.signIn} – ${t.app.name}`}</title>
      <form className="sign-in-card" onSubmit={submit} aria-labelledby="sign-in-title">
        <div className="row">
          <img src="/favicon.svg" width={28} height={28} alt="" />
          <span className="sign-in-brand">{t.app.name}</span>
        </div>
        <div>
          <h1 id="sign-in-title">{register ? t.auth.register : t.auth.signIn}</h1>
          <p className="muted">{t.auth.welcome}</p>
        </div>
        {register ? (
          <>
            <Field label={t.auth.name}>
              <Input name="name" autoComplete="name" required maxLength={200} />
            </Field>
            <Field label={t.auth.team} hint={t.auth.teamHint}>
              <Input name="tenant_name" autoComplete="organization" required maxLength={200} />
            </Field>
          </>
        ) : null}
        <Field label={t.auth.email}>
          <Input
            name="email"
            type="email"
            autoComplete="email"
            required
            autoCapitalize="none"
            spellCheck={false}
          />
        </Field>
        <div className="password">
          <Field label={t.auth.password} hint={register ? t.auth.passwordHint : undefined}>
            <Input
              name="password"
              type={shown ? "text" : "password"}
              autoComplete={register ? "new-password" : "current-password"}
              required
              minLength={register ? 8 : undefined}
            />
          </Field>
          <IconButton
            size="s"
            className="password-eye"
            label={shown ? t.auth.hide : t.auth.show}
            icon={shown ? <EyeOff size={15} /> : <Eye size={15} />}
            onClick={() => setShown(!shown)}
          />
        </div>
        {error ? (
          <div className="notice" data-tone="danger" role="alert">
            <div className="grow">
              {sentence(error.detail)} {error.hint ? sentence(error.hint) : null}
              {error.requestId && error.status >= 500 ? <RequestId id={error.requestId} /> : null}
            </div>
          </div>
        ) : null}
        <Button kind="primary" type="submit" disabled={busy}>
          {busy
            ? register
              ? t.auth.registering
              : t.auth.signingIn
            : register
              ? t.auth.register
              : t.auth.signIn}
        </Button>
        <p className="muted">
          {register ? t.auth.hasAccount : t.auth.noAccount}{" "}
          <Link
            className="link"
            to={`/${register ? "sign-in" : "register"}${params.size > 0 ? `?${params}` : ""}`}
          >
            {register ? t.auth.signIn : t.auth.register}
          </Link>
        </p>
      </form>
    </main>
  );
}
