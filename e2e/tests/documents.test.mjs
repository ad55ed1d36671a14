// From a file to facts: a document is proposed, looked through, approved, read, and leads back to its sentences.

import assert from "node:assert/strict";
import { suite, until } from "../lib/app.mjs";
import { asked } from "../lib/api.mjs";

const it = suite();

const REPORT =
  "Globex Corporation was founded in 1998. Globex Corporation is headquartered in Oslo.\n\n" +
  "The weather was fine. Globex Corporation owns Fjord Shipping. Globex Corporation does not own Contoso.\n";

async function paste(page, title, text) {
  await page.goto("/documents?add=1");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Paste text" }).click();
  await dialog.getByLabel("Title").fill(title);
  await dialog.getByLabel("Text", { exact: true }).fill(text);
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await page.waitForURL(/\/documents\/[0-9a-f-]{36}/);
}

function status(page, text) {
  return page.locator(".doc-head .badge", { hasText: text });
}

async function inView(page, inner, outer) {
  return page.evaluate(
    ([a, b]) => {
      const one = document.querySelector(a)?.getBoundingClientRect();
      const box = document.querySelector(b)?.getBoundingClientRect();
      return one !== undefined && box !== undefined && one.top >= box.top - 1 && one.top < box.bottom;
    },
    [inner, outer],
  );
}

it("a document is proposed, approved and recorded, and each fact leads to its sentence and back", async (app) => {
  const { page } = app;
  await app.register();
  await page.goto("/documents");
  await page.getByText("No documents yet").waitFor();
  await paste(page, "Annual report", REPORT);
  await status(page, "Waiting for review").waitFor();
  await page.getByRole("heading", { name: "What approval would add" }).waitFor();
  await page.locator(".doc-fact").first().waitFor();
  await page.locator(".doc-mark").first().waitFor();
  await app.noFindings("a document to review");

  await page.getByRole("button", { name: "Approve" }).click();
  await status(page, "Recorded").waitFor();
  await page.getByRole("heading", { name: /Recorded from this document/ }).waitFor();
  const fact = page.locator(".doc-fact-line", { hasText: "Oslo" }).first();
  await fact.click();
  await page.waitForURL(/triple=/);
  assert.match(await page.locator("[data-focus-start]").innerText(), /headquartered in Oslo/);
  await app.noFindings("a recorded document");

  const sentence = page.locator(".doc-mark", { hasText: "founded in 1998" }).first();
  await sentence.click();
  await page.waitForURL(/span=/);
  await page.locator('.doc-fact[data-current="true"]', { hasText: "1998" }).first().waitFor();

  // From the fact in the knowledge room to the passage.
  await page.getByRole("link", { name: "Open the fact" }).first().click();
  const panel = page.getByRole("complementary", { name: "Fact" });
  await panel.locator(".passage", { hasText: "Annual report" }).click();
  await page.waitForURL(/\/documents\/.*span=\d+-\d+/);
  await page.locator("[data-focus-start]", { hasText: "Globex" }).waitFor();
});

it("a rejected document keeps its reason, and nothing is recorded from it", async (app) => {
  const { page } = app;
  const email = await app.register();
  await paste(page, "Rumours", REPORT);
  await page.getByRole("button", { name: "Reject" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Reject" }).click();
  await dialog.getByText("Say why").waitFor();
  await dialog.getByLabel("Reason").fill("Not a source we trust.");
  await dialog.getByRole("button", { name: "Reject" }).click();
  await status(page, "Rejected").waitFor();
  await page.getByText("Not a source we trust.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0);
  const api = await asked(app, email);
  assert.equal((await api("GET", "/knowledge/triples")).total, 0);
});

it("several files are uploaded at once, and one that cannot be read says why", async (app) => {
  const { page } = app;
  await app.register();
  await page.goto("/documents?add=1");
  await page.locator("input[type=file]").setInputFiles([
    { name: "one.txt", mimeType: "text/plain", buffer: Buffer.from(REPORT) },
    { name: "two.md", mimeType: "text/markdown", buffer: Buffer.from(`# Two\n\n${REPORT}`) },
    { name: "empty.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) },
    { name: "picture.png", mimeType: "image/png", buffer: Buffer.from("89504e470d0a1a0a0000000d49484452", "hex") },
  ]);
  await until(() => page.locator('.upload-state[data-state="done"]').count(), (n) => n === 2);
  await until(() => page.locator('.upload-state[data-state="failed"]').count(), (n) => n === 2);
  await page.getByText("The file is empty.").waitFor();
  await app.noFindings("uploads");
  await page.getByRole("button", { name: "Done" }).click();
  await until(() => page.locator(".doc-title").count(), (n) => n === 2);
});

it("the queue is worked through with the keyboard", async (app) => {
  const { page } = app;
  const email = await app.register();
  const api = await asked(app, email);
  for (const title of ["First", "Second", "Third"]) await api("POST", "/documents", { title, content: REPORT });
  await page.goto("/documents/review");
  const items = page.locator(".review-list .list-item");
  const current = () => page.locator('.review-list [aria-current="page"]').innerText();
  await until(() => items.count(), (n) => n === 3);
  const first = await current();
  await page.keyboard.press("j");
  await until(current, (text) => text !== first);
  await page.keyboard.press("k");
  await until(current, (text) => text === first);
  await page.locator(".doc-head").getByRole("button", { name: "Approve" }).waitFor();
  await page.keyboard.press("a");
  await until(() => items.count(), (n) => n === 2);
  await page.locator(".doc-head").getByRole("button", { name: "Reject" }).waitFor();
  await page.keyboard.press("r");
  await page.getByRole("dialog").getByLabel("Reason").fill("Twice the same");
  await page.getByRole("dialog").getByRole("button", { name: "Reject" }).click();
  await until(() => items.count(), (n) => n === 1);
  await app.noFindings("the queue");
  await until(
    async () => (await api("GET", "/documents?status=completed")).total,
    (n) => n === 1,
  );
});

it("a deleted document comes back with undo, and is gone without", async (app) => {
  const { page } = app;
  const email = await app.register();
  const api = await asked(app, email);
  await paste(page, "Old price list", REPORT);
  const remove = async () => {
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.waitForURL(/\/documents$/);
  };
  await remove();
  await page.getByText("No documents yet").waitFor();
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await page.locator(".doc-title", { hasText: "Old price list" }).click();
  await remove();
  await until(
    async () => (await api("GET", "/documents")).total,
    (n) => n === 0,
  );
});

it("a text of 200 pages is shown where it is asked for, and only there", async (app) => {
  const { page } = app;
  const email = await app.register();
  const api = await asked(app, email);
  const filler = "Demand grew in most markets 🌍, while prices stayed where they were. ".repeat(7);
  const before = Array.from({ length: 900 }, (_, i) => `${i + 1}. ${filler}\n\n`).join("");
  const wanted = "Northwind is headquartered in Oslo.";
  const content = `${before}${wanted}\n\n${`${filler}\n\n`.repeat(300)}`;
  const doc = await api("POST", "/documents", { title: "Long", content });
  // The file may be read a moment later, and its white space is not kept as it was.
  const count = await until(
    async () => (await api("GET", `/documents/${doc.id}`)).char_count,
    (n) => n > 100_000,
  );
  let from = -1;
  for (let at = 0; at < count && from < 0; at += 90_000) {
    const { text } = await api("GET", `/documents/${doc.id}/text?from=${at}&to=${Math.min(at + 100_000, count)}`);
    const found = text.indexOf(wanted);
    if (found >= 0) from = at + Array.from(text.slice(0, found)).length;
  }
  assert.ok(from > 100_000);
  await page.goto(`/documents/${doc.id}?span=${from}-${from + wanted.length}`);
  await page.locator("[data-focus-start]").waitFor();
  await until(() => inView(page, "[data-focus-start]", ".doc-text"), (seen) => seen);
  const shown = await page.locator("[data-focus]").allInnerTexts();
  assert.equal(shown.join(""), wanted);
  const size = await page.evaluate(() => document.querySelector(".doc-text").innerText.length);
  assert.ok(size < 40_000, `only a part of the text is on the page (${size} characters)`);
});
