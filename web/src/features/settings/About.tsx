import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client";
import { keys } from "../../app/query";
import { t } from "../../lib/strings";
import { ErrorState, SkeletonRows } from "../../ui/states";

export function About() {
  const meta = useQuery({ queryKey: keys.meta, queryFn: api.meta });
  const usage = useQuery({ queryKey: keys.usage, queryFn: api.usage });
  return (
    <div className="stack">
      {meta.isPending ? (
        <SkeletonRows rows={3} />
      ) : meta.isError ? (
        <ErrorState what={t.settings.aboutList} error={meta.error} onRetry={() => void meta.refetch()} />
      ) : (
        <dl className="facts-dl">
          <div className="dl-row">
            <dt>{t.settings.version}</dt>
            <dd>{meta.data.version}</dd>
          </div>
          <div className="dl-row">
            <dt>{t.settings.provider}</dt>
            <dd>{meta.data.llm.provider === "builtin" ? t.settings.builtin : meta.data.llm.provider}</dd>
          </div>
          {meta.data.llm.model && meta.data.llm.provider !== "builtin" ? (
            <div className="dl-row">
              <dt>{t.settings.model}</dt>
              <dd className="mono">{meta.data.llm.model}</dd>
            </div>
          ) : null}
          <div className="dl-row">
            <dt>{t.settings.api}</dt>
            <dd>
              <a className="link" href="/api/openapi.json" target="_blank" rel="noopener noreferrer">
                openapi.json
              </a>
            </dd>
          </div>
        </dl>
      )}
      <section>
        <h2 className="section-title">{t.settings.usage}</h2>
        {usage.isPending ? (
          <SkeletonRows rows={3} />
        ) : usage.isError ? (
          <ErrorState
            what={t.settings.usage.toLowerCase()}
            error={usage.error}
            onRetry={() => void usage.refetch()}
          />
        ) : usage.data.by_model.length === 0 ? (
          <p className="muted">{t.settings.usageEmpty}</p>
        ) : (
          <div className="md-table">
            <table className="data-table">
              <thead>
                <tr>
                  <th scope="col">{t.settings.model}</th>
                  <th scope="col">{t.settings.calls}</th>
                  <th scope="col">{t.settings.tokensIn}</th>
                  <th scope="col">{t.settings.tokensOut}</th>
                </tr>
              </thead>
              <tbody>
                {usage.data.by_model.map((row) => (
                  <tr key={row.model ?? ""}>
                    <td className="mono">{row.model ?? "–"}</td>
                    <td>{row.calls.toLocaleString()}</td>
                    <td>{row.prompt_tokens.toLocaleString()}</td>
                    <td>{row.completion_tokens.toLocaleString()}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </section>
    </div>
  );
}
