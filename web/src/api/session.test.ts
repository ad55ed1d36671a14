import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "./error";
import { call } from "./http";
import { adoptSession, dropSession, getSession } from "./session";
import type { SessionAnswer } from "./types";

function answer(n: number): SessionAnswer {
  return {
    token: `access-${n}`,
    refresh_token: `refresh-${n}`,
    user: { id: "u", email: "a@b.c", name: "A" },
    tenant: { id: "t", name: "T", slug: "t" },
  };
}

function problem(status: number, code: string): Response {
  return Response.json({ code, detail: "the token has expired", request_id: "r-1" }, { status });
}

interface Seen {
  path: string;
  token: string | null;
  body: string | null;
}

let seen: Seen[] = [];

function serve(handler: (request: Seen) => Response | Promise<Response>) {
  seen = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    const request = { path, token: headers.get("authorization"), body: (init.body as string | null) ?? null };
    seen.push(request);
    return handler(request);
  });
}

beforeEach(() => {
  const store = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => store.get(key) ?? null,
    setItem: (key: string, value: string) => store.set(key, value),
    removeItem: (key: string) => store.delete(key),
  });
  adoptSession(answer(1));
});

afterEach(() => {
  dropSession();
  vi.unstubAllGlobals();
});

describe("renewing the session", () => {
  it("renews once for many requests that meet an expired token", async () => {
    serve((request) => {
      if (request.path === "/api/auth/refresh") return Response.json(answer(2));
      return request.token === "Bearer access-2"
        ? Response.json({ ok: true })
        : problem(401, "TOKEN_EXPIRED");
    });
    const results = await Promise.all([call("/a"), call("/b"), call("/c")]);
    expect(results).toEqual([{ ok: true }, { ok: true }, { ok: true }]);
    expect(seen.filter((one) => one.path === "/api/auth/refresh")).toHaveLength(1);
    expect(getSession().token).toBe("access-2");
  });

  it("uses the rotated refresh token the next time", async () => {
    let n = 1;
    serve((request) => {
      if (request.path === "/api/auth/refresh") {
        n += 1;
        return Response.json(answer(n));
      }
      return request.token === `Bearer access-${n}` && n % 2 === 0
        ? Response.json({ n })
        : n === 3 && request.token === "Bearer access-3"
          ? Response.json({ n })
          : problem(401, "TOKEN_EXPIRED");
    });
    expect(await call("/a")).toEqual({ n: 2 });
    n = 2;
    serve((request) => {
      if (request.path === "/api/auth/refresh") return Response.json(answer(3));
      return request.token === "Bearer access-3" ? Response.json({ n: 3 }) : problem(401, "TOKEN_EXPIRED");
    });
    expect(await call("/a")).toEqual({ n: 3 });
    expect(seen.find((one) => one.path === "/api/auth/refresh")?.body).toBe('{"refresh_token":"refresh-2"}');
  });

  it("signs out when the refresh token is refused", async () => {
    serve((request) =>
      request.path === "/api/auth/refresh"
        ? problem(401, "REFRESH_TOKEN_REUSED")
        : problem(401, "TOKEN_EXPIRED"),
    );
    await expect(call("/a")).rejects.toMatchObject({ status: 401, code: "TOKEN_EXPIRED", requestId: "r-1" });
    expect(getSession().status).toBe("signed-out");
  });

  it("stays signed in while the server is broken", async () => {
    serve((request) =>
      request.path === "/api/auth/refresh" ? problem(503, "UNAVAILABLE") : problem(401, "TOKEN_EXPIRED"),
    );
    await expect(call("/a")).rejects.toBeInstanceOf(ApiError);
    expect(getSession().status).toBe("signed-in");
  });

  it("does not renew for a sign-in that fails", async () => {
    serve(() => problem(401, "BAD_CREDENTIALS"));
    await expect(call("/auth/login", { method: "POST", body: {}, anonymous: true })).rejects.toMatchObject({
      code: "BAD_CREDENTIALS",
    });
    expect(seen).toHaveLength(1);
    expect(seen[0]?.token).toBeNull();
  });

  it("keeps the access token out of storage", () => {
    expect(localStorage.getItem("qadra.session")).toBe('{"refresh":"refresh-1","tenant":"t"}');
  });
});

describe("errors", () => {
  it("turns an answer that is not problem+json into a sentence", async () => {
    serve(() => new Response("<html>bad gateway</html>", { status: 502 }));
    await expect(call("/a")).rejects.toMatchObject({
      status: 502,
      code: "HTTP_502",
      detail: "The server answered with status 502.",
    });
  });

  it("says that the server cannot be reached", async () => {
    serve(() => {
      throw new TypeError("fetch failed");
    });
    await expect(call("/a")).rejects.toMatchObject({ status: 0, code: "NETWORK" });
  });
});
