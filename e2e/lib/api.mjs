// Requests of a program, for what a test needs to be there before a person comes.

import assert from "node:assert/strict";
import { PASSWORD } from "./app.mjs";

/** Signs in with an account that the page registered, and gives a function that asks the API. */
export async function asked(app, email) {
  const base = app.qadra.url;
  const json = { "content-type": "application/json" };
  const login = await fetch(`${base}/api/auth/login`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  assert.equal(login.status, 200, "signed in");
  const { token } = await login.json();
  return async (method, path, body) => {
    const answer = await fetch(`${base}/api${path}`, {
      method,
      headers: { ...json, authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    return text === "" ? null : JSON.parse(text);
  };
}
