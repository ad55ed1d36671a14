// What a person does in the app, in the words of the screen.

import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { axe, openBrowser, openPage, picture } from "./browser.mjs";
import { startProxy } from "./proxy.mjs";
import { startQadra } from "./qadra.mjs";

let counter = 0;

export const PASSWORD = "a long sentence to remember";

/** One server and one browser for a test file; gives `it(name, work)` for tests that get a page of their own. */
export function suite({ env, args, setUp } = {}) {
  const shared = {};
  before(
    async () => {
      Object.assign(shared, (await setUp?.()) ?? {});
      const extra = typeof env === "function" ? env(shared) : (env ?? {});
      // One after the other, so that a failure of one leaves nothing behind that nobody closes.
      shared.qadra = await startQadra({ env: extra, args });
      shared.browser = await openBrowser();
    },
    { timeout: 120_000 },
  );
  after(
    async () => {
      await shared.browser?.close();
      await shared.qadra?.stop();
      await shared.model?.close();
    },
    { timeout: 60_000 },
  );

  /** @param {object} [view] width, height, dark; `wire`: through a connection that can be cut; `expect`: problems that
   *   the test provokes. */
  function it(name, work, view = {}) {
    test(name, async () => {
      const wire = view.wire ? await startProxy(shared.qadra.url) : null;
      const opened = await openPage(shared.browser, wire?.url ?? shared.qadra.url, view);
      const app = new App(opened.page, shared);
      app.wire = wire;
      try {
        await work(app);
        assert.deepEqual(opened.problems(), [], "nothing went wrong in the page");
      } catch (error) {
        await picture(opened.page, name);
        throw error;
      } finally {
        await opened.close();
        await wire?.close();
      }
    });
  }
  return it;
}

export class App {
  constructor(page, shared) {
    this.page = page;
    this.qadra = shared.qadra;
    this.model = shared.model;
  }

  async register({ team = "Northwind" } = {}) {
    counter += 1;
    const email = `ada${counter}-${process.pid}@example.com`;
    const { page } = this;
    await page.goto("/register");
    await page.getByLabel("Your name").fill("Ada Lovelace");
    await page.getByLabel("Team name").fill(team);
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByRole("button", { name: "Create an account" }).click();
    await page.waitForURL(/\/conversations/);
    return email;
  }

  async addFact(subject, relation, value) {
    const { page } = this;
    await page.goto("/knowledge?panel=add");
    const form = page.getByRole("complementary", { name: "Add facts" });
    await form.getByLabel("About").fill(subject);
    await form.getByLabel("Relation").fill(relation);
    await form.getByLabel("Value").fill(value);
    await form.getByRole("button", { name: "Add fact" }).click();
    await page.locator(".toast", { hasText: "Fact added" }).first().waitFor();
    // The field is emptied for the next fact once this one is stored.
    await until(() => form.getByLabel("Value").inputValue(), (text) => text === "");
  }

  composer() {
    return this.page.locator(".composer textarea");
  }

  /** Sends a message in the open thread, or in a new one. */
  async send(text) {
    await this.composer().fill(text);
    await this.composer().press("Enter");
  }

  async ask(text) {
    await this.page.goto("/conversations/new");
    await this.page.getByRole("button", { name: /Choose the agent: \w/ }).waitFor();
    await this.send(text);
    await this.page.waitForURL(/\/conversations\/[0-9a-f-]{36}/);
  }

  /** Waits until no answer is being written, and gives the last one. */
  async settled() {
    const { page } = this;
    await page.locator(".msg.answer:not(.live)").last().waitFor();
    await page.locator(".msg.live").waitFor({ state: "detached" });
    return page.locator(".msg.answer").last();
  }

  /** Waits for an answer with these words. */
  says(text) {
    return this.page.locator(".msg.answer .md", { hasText: text }).waitFor();
  }

  live() {
    return this.page.locator(".msg.live .md");
  }

  async noFindings(where) {
    assert.deepEqual(await axe(this.page), [], `axe on ${where}`);
  }
}

/** Waits until a value read from the page is as wanted; says what it was when it never is. */
export async function until(read, wanted, ms = 60_000) {
  const end = Date.now() + ms;
  let value;
  do {
    value = await read();
    if (wanted(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 40));
  } while (Date.now() < end);
  assert.fail(`never as wanted, last seen: ${JSON.stringify(value)}`);
}
