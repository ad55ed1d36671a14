// Starts the real program on a data directory of its own and a free port.

import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

export function binary() {
  const target = process.env.CARGO_TARGET_DIR ?? resolve(here, "../../target");
  const path = process.env.QADRA_BIN ?? join(target, "debug", "qadra");
  if (!existsSync(path))
    throw new Error(`no program at ${path}: build it with "cargo build -p qadra" or set QADRA_BIN`);
  return path;
}

/** @param {{env?: Record<string, string>, args?: string[]}} [options] */
export async function startQadra({ env = {}, args = [] } = {}) {
  const data = mkdtempSync(join(tmpdir(), "qadra-e2e-"));
  // A start as root hands the database to an unprivileged user, who must be able to get in.
  chmodSync(data, 0o755);
  const listen = `127.0.0.1:${await freePort()}`;
  // Settings of the person who runs the tests must not change what is tested.
  const clean = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^(QADRA|FLYQUERY)_/.test(key)));
  const child = spawn(binary(), ["up", "--data-dir", join(data, "d"), "--listen", listen, ...args], {
    env: { ...clean, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk) => {
    log = (log + chunk).slice(-20_000);
  });
  const url = await new Promise((ready, fail) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      fail(new Error(`qadra was not ready within 90 s\n${log}`));
    }, 90_000);
    let out = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
      const found = /^qadra ready (http:\S+)$/m.exec(out);
      if (!found) return;
      clearTimeout(timer);
      ready(found[1]);
    });
    child.on("error", (error) => {
      clearTimeout(timer);
      fail(error);
    });
    child.on("exit", (code) => {
      clearTimeout(timer);
      fail(new Error(`qadra ended with ${code} before it was ready\n${log}`));
    });
  });
  return {
    url,
    get log() {
      return log;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((done) => child.once("exit", done));
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
      await gone;
      clearTimeout(timer);
      rmSync(data, { recursive: true, force: true });
    },
  };
}

function freePort() {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once("error", fail);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}
