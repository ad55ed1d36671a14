import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import {
  createBrowserRouter,
  Navigate,
  Outlet,
  RouterProvider,
  useLocation,
  useRouteError,
} from "react-router";
import { refreshSession, watchOtherTabs } from "../api/session";
import { SignInPage } from "../features/auth/SignInPage";
import { ConversationsRoom } from "../features/conversations/ConversationsRoom";
import { t } from "../lib/strings";
import { Button } from "../ui/Button";
import { Delayed, EmptyState } from "../ui/states";
import { Toasts } from "../ui/Toast";
import { TipProvider } from "../ui/Tooltip";
import { KeysDialog } from "./KeysDialog";
import { Palette } from "./Palette";
import { queryClient } from "./query";
import { Rail } from "./Rail";
import { useShortcuts } from "./shortcuts";
import { useSession } from "./useSession";

const AgentsRoom = lazy(() => import("../features/agents/AgentsRoom"));
const DocumentsRoom = lazy(() => import("../features/documents/DocumentsRoom"));
const KnowledgeRoom = lazy(() => import("../features/knowledge/KnowledgeRoom"));
const SettingsRoom = lazy(() => import("../features/settings/SettingsRoom"));

const router = createBrowserRouter([
  { path: "/sign-in", element: <SignInPage mode="sign-in" />, errorElement: <Crash /> },
  { path: "/register", element: <SignInPage mode="register" />, errorElement: <Crash /> },
  {
    path: "/",
    element: <Frame />,
    errorElement: <Crash />,
    children: [
      { index: true, element: <Navigate to="/conversations" replace /> },
      {
        errorElement: <Crash />,
        children: [
          { path: "conversations/:id?", element: <ConversationsRoom /> },
          { path: "agents/:id?", element: <AgentsRoom /> },
          { path: "documents/:id?", element: <DocumentsRoom /> },
          { path: "knowledge/:tab?/:item?", element: <KnowledgeRoom /> },
          { path: "settings/:section?", element: <SettingsRoom /> },
          { path: "*", element: <NotFound /> },
        ],
      },
    ],
  },
]);

export function App() {
  useEffect(watchOtherTabs, []);
  return (
    <QueryClientProvider client={queryClient}>
      <TipProvider delayDuration={400} skipDelayDuration={200}>
        <RouterProvider router={router} />
        <Toasts />
      </TipProvider>
    </QueryClientProvider>
  );
}

function Frame() {
  const session = useSession();
  const location = useLocation();
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const actions = useMemo(
    () => ({ palette: () => setPalette((open) => !open), help: () => setHelp(true) }),
    [],
  );
  useShortcuts(actions);

  if (session.status === "unknown") return <Restoring />;
  if (session.status === "signed-out") {
    const from = location.pathname + location.search;
    const next = from === "/" || from === "/conversations" ? "" : `?next=${encodeURIComponent(from)}`;
    return <Navigate to={`/sign-in${next}`} replace />;
  }
  return (
    <div className="frame" key={session.tenant?.id}>
      <a className="skip" href="#main">
        {t.app.skip}
      </a>
      <Rail onPalette={actions.palette} onKeys={actions.help} />
      <main className="main" id="main" tabIndex={-1}>
        <Suspense
          fallback={
            <Delayed>
              {
                <div className="center">
                  <span className="spinner" />
                </div>
              }
            </Delayed>
          }
        >
          <Outlet />
        </Suspense>
      </main>
      <Palette open={palette} onClose={() => setPalette(false)} />
      <KeysDialog open={help} onClose={() => setHelp(false)} />
    </div>
  );
}

/** Renews the session on a page load; keeps trying while the server is away, and says so. */
function Restoring() {
  const [failures, setFailures] = useState(0);
  useEffect(() => {
    let live = true;
    const timer = setTimeout(
      () => {
        refreshSession().catch(() => {
          if (live) setFailures((count) => count + 1);
        });
      },
      failures === 0 ? 0 : Math.min(5000, 500 * 2 ** failures),
    );
    return () => {
      live = false;
      clearTimeout(timer);
    };
  }, [failures]);
  return (
    <main className="center" style={{ height: "100dvh" }}>
      <Delayed>
        <div className="row" role="status">
          <span className="spinner" />
          {failures > 0 ? t.auth.reconnecting : t.app.loading}
        </div>
      </Delayed>
    </main>
  );
}

function NotFound() {
  return (
    <div className="center">
      <EmptyState title={t.errors.notFound} hint={t.errors.notFoundHint}>
        <Button onClick={() => router.navigate("/conversations")}>{t.errors.goHome}</Button>
      </EmptyState>
    </div>
  );
}

function Crash() {
  const error = useRouteError();
  useEffect(() => console.error(error), [error]);
  return (
    <main className="center" style={{ minHeight: "60vh" }}>
      <EmptyState title={t.errors.unexpected} hint={t.errors.unexpectedHint}>
        <Button onClick={() => location.reload()}>{t.common.retry}</Button>
        <Button kind="ghost" onClick={() => location.assign("/conversations")}>
          {t.errors.goHome}
        </Button>
      </EmptyState>
    </main>
  );
}
