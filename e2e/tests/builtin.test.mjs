// The loop with nothing configured: the built-in provider answers from recorded facts.

import assert from "node:assert/strict";
import { PASSWORD, suite, until } from "../lib/app.mjs";

const it = suite();

it("a stranger registers, finds agents, records a fact and gets it back with its source", async (app) => {
  const { page } = app;
  await app.register();
  await page.getByRole("link", { name: "Agents" }).click();
  for (const name of ["Scarlet", "Ayana", "Eliza", "Reagan"])
    await page.locator(".agent-item", { hasText: name }).waitFor();

  await app.addFact("Apple", "founded_in_year", "1976");
  await app.ask("When was Apple founded?");
  const answer = await app.settled();
  assert.match(await answer.locator(".md").innerText(), /1976/);

  await answer.locator(".chip").click();
  const panel = page.getByRole("complementary", { name: "What we know" });
  await panel.getByText("founded in year").first().waitFor();
  assert.match(await panel.innerText(), /Apple founded in year 1976/);
  assert.match(page.url(), /panel=facts/);
  await page.reload();
  await panel.getByText("1976").first().waitFor();

  await page.keyboard.press("Escape");
  const cite = page.locator(".msg.answer .cite").first();
  await cite.click();
  await panel.locator('.fact[data-focused="true"]', { hasText: "1976" }).waitFor();
});

it("says so when nothing is known", async (app) => {
  await app.register();
  await app.ask("What is the airspeed of a swallow?");
  const answer = await app.settled();
  assert.match((await answer.locator(".md").innerText()).toLowerCase(), /know|no recorded|not recorded/);
});

it("a reload keeps the person signed in; signing out asks for the password again", async (app) => {
  const { page } = app;
  const email = await app.register();
  await page.reload();
  await page.getByRole("heading", { name: "Conversations", exact: true }).waitFor();
  await page.getByRole("button", { name: /Your account/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL(/\/sign-in/);
  await page.goto("/agents");
  await page.waitForURL(/\/sign-in\?next=%2Fagents/);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill("not the password");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/\/agents$/);
});

it("the agent editor saves with Ctrl+S, makes a version, restores and renames", async (app) => {
  const { page } = app;
  await app.register();
  await page.goto("/agents");
  await page.locator(".agent-item", { hasText: "Scarlet" }).click();
  const prompt = page.getByLabel("System prompt");
  const first = await prompt.inputValue();
  assert.ok(first.length > 20, "the persona has instructions");
  await prompt.fill("You answer in one sentence.");
  await page.getByText("Unsaved changes").waitFor();
  await prompt.press("Control+s");
  await page.getByText(/Saved · Version 2/).waitFor();

  await page.getByRole("button", { name: "Version history" }).click();
  const panel = page.getByRole("complementary", { name: "Version history" });
  await panel.getByRole("button", { name: /Version 1/ }).click();
  await panel.getByText(first.split("\n")[0]).waitFor();
  await panel.getByRole("button", { name: "Restore this version" }).click();
  await until(() => prompt.inputValue(), (value) => value === first);
  await page.getByText(/Version 3/).first().waitFor();

  await page.getByRole("button", { name: /Rename the agent/ }).click();
  await page.getByLabel("Agent name").fill("scarlet-two");
  await page.keyboard.press("Enter");
  await page.getByText(/^Saved/).waitFor();
  await page.reload();
  await page.getByRole("button", { name: /scarlet-two/ }).waitFor();
  assert.equal(await prompt.inputValue(), first);
});

it("facts: search, other names, conflicts, retract and undo", async (app) => {
  const { page } = app;
  await app.register();
  await app.addFact("Acme Corp", "ceo", "John Smith");
  await app.addFact("Acme Corp", "founded_in_year", "1990");
  await page.goto("/knowledge");
  await page.getByRole("searchbox", { name: "Search facts" }).fill("founded");
  await until(() => page.locator(".grid-table tbody tr").count(), (count) => count === 1);
  await page.getByRole("button", { name: "Acme Corp", exact: true }).click();
  const panel = page.getByRole("complementary", { name: "Acme Corp" });
  await panel.getByLabel("Other name").fill("Acme");
  await panel.getByRole("button", { name: "Add name" }).click();
  await panel.locator(".alias", { hasText: "Acme" }).waitFor();

  await app.ask("Who is the CEO of Acme?");
  assert.match(await (await app.settled()).innerText(), /John Smith/);

  await page.goto("/knowledge?q=ceo");
  await page.getByRole("button", { name: /^Fact: Acme Corp ceo/ }).click();
  const fact = page.getByRole("complementary", { name: "Fact" });
  await fact.getByRole("button", { name: "Retract" }).click();
  await until(() => page.locator(".grid-table tbody tr").count(), (count) => count === 0);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("row", { name: /John Smith/ }).waitFor();
});

it("an API key is shown once and can be revoked", async (app) => {
  const { page } = app;
  await app.register();
  await page.goto("/settings/keys");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByLabel("What is it for?").fill("nightly");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  const key = await page.getByLabel("Key", { exact: true }).inputValue();
  assert.ok(key.length > 20);
  const works = await fetch(`${app.qadra.url}/api/agents`, { headers: { "x-api-key": key } });
  assert.equal(works.status, 200);
  await page.getByRole("button", { name: "I have copied it" }).click();
  assert.equal(await page.getByText(key).count(), 0);
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.locator(".toast", { hasText: "Key revoked" }).waitFor();
  const refused = await fetch(`${app.qadra.url}/api/agents`, { headers: { "x-api-key": key } });
  assert.equal(refused.status, 401);
});

it("threads: rename, search, archive, delete and undo, export", async (app) => {
  const { page } = app;
  await app.register();
  await app.ask("Tell me about zebras");
  await app.settled();
  await page.getByRole("button", { name: /Rename the conversation/ }).click();
  await page.getByLabel("Conversation title").fill("Striped horses");
  await page.keyboard.press("Enter");
  const item = page.locator(".list-item", { hasText: "Striped horses" });
  await item.waitFor();

  const menu = () => page.locator(".thread").getByRole("button", { name: "More actions" }).click();
  await menu();
  const download = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Export as Markdown" }).click();
  assert.match((await download).suggestedFilename(), /^Striped horses\.md$/);

  await page.getByRole("searchbox", { name: "Search titles and messages" }).fill("zebras");
  await item.waitFor();
  await page.getByRole("searchbox", { name: "Search titles and messages" }).fill("nothing like this");
  await page.getByText("Nothing found for").waitFor();
  await page.getByRole("button", { name: "Clear" }).click();

  await menu();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await item.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await item.waitFor();

  await menu();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.locator(".toast", { hasText: "Conversation deleted" }).waitFor();
  await item.waitFor({ state: "detached" });
  await page.locator(".toast", { hasText: "Conversation deleted" }).getByRole("button", { name: "Undo" }).click();
  await item.waitFor();
});

it("keys: palette, rooms, search, list of keys", async (app) => {
  const { page } = app;
  await app.register();
  await page.goto("/settings");
  await page.getByText("Ada Lovelace").first().waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("k");
  await page.waitForURL(/\/knowledge/);
  await page.getByRole("searchbox", { name: "Search facts" }).waitFor();
  await page.keyboard.press("/");
  await until(() => page.evaluate(() => document.activeElement?.getAttribute("type")), (type) => type === "search");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("Reagan");
  await page.getByRole("option", { name: /Reagan/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/agents\/[0-9a-f-]{36}/);
});
