import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Where pictures of failed tests go. */
const OUT = resolve(here, "../out");

function executable() {
  const places = [
    process.env.QADRA_CHROMIUM,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  ];
  const found = places.find((place) => place && existsSync(place));
  if (!found) throw new Error("no Chromium found: install it (apt-get install chromium) or set QADRA_CHROMIUM");
  return found;
}

export async function openBrowser() {
  const browser = await chromium.launch({
    executablePath: executable(),
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  return browser;
}

/**
 * A page in a fresh profile that notes what must never happen: script errors, broken content security
 * policy, dialogs, and requests to any other host.
 */
export async function openPage(browser, base, { width = 1440, height = 900, dark = false, expect = [] } = {}) {
  const context = await browser.newContext({
    baseURL: base,
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
  });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  if (process.env.QADRA_WEB_DIST) await serveFrom(page, base, resolve(process.env.QADRA_WEB_DIST));
  const problems = [];
  page.on("pageerror", (error) => problems.push(`script error: ${error.message}`));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    const text = message.text();
    // A failed request is reported by the browser too; tests that provoke one look at the screen.
    if (message.type() === "error" && !text.startsWith("Failed to load resource")) problems.push(`console: ${text}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(base) && !/^(data|blob):/.test(url)) problems.push(`foreign request: ${url}`);
  });
  return {
    page,
    problems: () => problems.filter((one) => !expect.some((known) => one.includes(known))),
    close: () => context.close(),
  };
}

/** Takes the UI's files from a directory instead of the program, so that a change to them needs no Rust build. */
async function serveFrom(page, base, dist) {
  const index = await fetch(base);
  const policy = index.headers.get("content-security-policy") ?? "";
  await page.route(
    (url) => url.href.startsWith(base) && !url.pathname.startsWith("/api/"),
    (route) => {
      const { pathname } = new URL(route.request().url());
      const file = join(dist, pathname);
      const path = pathname !== "/" && file.startsWith(dist) && existsSync(file) ? file : join(dist, "index.html");
      return route.fulfill({ path, headers: { "content-type": TYPES[extname(path)], "content-security-policy": policy } });
    },
  );
}

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** Serious and critical findings of axe on what the page shows now. */
export async function axe(page) {
  // Evaluated over the debugging protocol, so that the page's policy against inline code stays in force.
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id} (${one.impact}): ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`);
}

export async function picture(page, name) {
  mkdirSync(OUT, { recursive: true });
  await page.screenshot({ path: join(OUT, `${name.replace(/\W+/g, "-")}.png`) }).catch(() => undefined);
}
