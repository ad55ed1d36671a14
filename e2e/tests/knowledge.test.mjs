// What is done with knowledge once it is there: names, contradictions, the graph, neighbourhoods, memory.

import assert from "node:assert/strict";
import { suite, until } from "../lib/app.mjs";
import { asked } from "../lib/api.mjs";

const it = suite();

async function withFacts(app, triples) {
  const email = await app.register();
  const api = await asked(app, email);
  const { items } = await api("POST", "/knowledge/triples", triples);
  return { api, items };
}

function toast(page, text) {
  return page.locator(".toast", { hasText: text }).first();
}

async function more(page, item) {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

const NOVO = [
  { subject: "Novo Nordisk", predicate: "led_by", object: "Lars Sørensen", valid_from: "2000-11-01", valid_to: "2017-01-01" },
  { subject: "Novo Nordisk", predicate: "led_by", object: "Lars Jørgensen", valid_from: "2017-01-01", valid_to: "2025-08-07" },
  { subject: "Novo Nordisk", predicate: "headquartered_in", object: "Bagsværd" },
  { subject: "Ozempic", predicate: "made_by", object: "Novo Nordisk" },
];

it("a name has a page with its facts over time, other names, and what leads to it", async (app) => {
  const { page } = app;
  const { items } = await withFacts(app, NOVO);
  await page.goto(`/knowledge/entities/${items[0].subject.id}`);
  await page.getByRole("heading", { name: "Novo Nordisk" }).waitFor();
  await page.getByRole("figure", { name: "led by over time" }).waitFor();
  assert.equal(await page.locator(".timeline-bar").count(), 2);
  await page.getByText("Others about it").waitFor();
  await page.getByPlaceholder("AAPL").fill("NOVO-B");
  await page.getByRole("button", { name: "Add name" }).click();
  await page.locator(".alias", { hasText: "NOVO-B" }).waitFor();
  await page.getByRole("button", { name: "Remove: NOVO-B" }).click();
  await page.locator(".alias", { hasText: "NOVO-B" }).waitFor({ state: "detached" });
  await app.noFindings("a name's page");
});

it("a merge and a split are undone", async (app) => {
  const { page } = app;
  const { items, api } = await withFacts(app, [
    { subject: "Apple Computer", predicate: "makes", object: "Macintosh" },
    { subject: "Apple Computer", predicate: "founded_in_year", object: 1976 },
    { subject: "Apple Inc.", predicate: "makes", object: "iPhone" },
  ]);
  const old = items[0].subject.id;
  const inc = items[2].subject.id;
  await page.goto(`/knowledge/entities/${old}`);
  await page.getByRole("heading", { name: "Apple Computer" }).waitFor();
  await more(page, "Merge into…");
  await page.getByRole("combobox").fill("Apple Inc");
  await page.getByRole("option", { name: /Apple Inc/ }).first().waitFor();
  await page.getByRole("combobox").press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await page.getByRole("heading", { name: "Apple Inc." }).waitFor();
  await page.locator(".entity-fact", { hasText: "Macintosh" }).waitFor();
  await toast(page, "is now part of").getByRole("button", { name: "Undo" }).click();
  await toast(page, "Merge undone").waitFor();
  await until(
    async () => (await api("GET", `/knowledge/nodes/${inc}`)).triples.length,
    (n) => n === 1,
  );

  await page.goto(`/knowledge/entities/${old}`);
  await page.locator(".entity-fact").first().waitFor();
  await more(page, "Split…");
  const dialog = page.getByRole("dialog");
  await dialog.locator(".choose-row", { hasText: "Macintosh" }).locator("input").check();
  await dialog.getByLabel("The new name").fill("Macintosh division");
  await dialog.getByRole("button", { name: "Move 1 fact" }).click();
  await page.locator(".entity-fact", { hasText: "Macintosh" }).waitFor({ state: "detached" });
  await page.locator(".rows-item", { hasText: "was split off" }).getByRole("button", { name: "Undo" }).click();
  await page.locator(".entity-fact", { hasText: "Macintosh" }).waitFor();
});

it("a contradiction is settled by choosing, or by saying when each holds", async (app) => {
  const { page } = app;
  const { api } = await withFacts(app, [
    { subject: "Contoso", predicate: "headquartered_in", object: "Oslo" },
    { subject: "Contoso", predicate: "headquartered_in", object: "Bergen" },
    { subject: "Fabrikam", predicate: "headquartered_in", object: "Lund" },
    { subject: "Fabrikam", predicate: "headquartered_in", object: "Kalmar" },
  ]);
  const { items: predicates } = await api("GET", "/knowledge/predicates");
  await api("PATCH", `/knowledge/predicates/${predicates.find((one) => one.name === "headquartered_in").id}`, {
    functional: true,
  });
  await page.goto("/knowledge/contradictions");
  const clashes = page.locator(".clash");
  await until(() => clashes.count(), (n) => n === 2);
  await app.noFindings("contradictions");
  const contoso = page.locator(".clash", { hasText: "Contoso" });
  await contoso.locator(".clash-side", { hasText: "Oslo" }).getByRole("button", { name: /This one is right/ }).click();
  await until(() => clashes.count(), (n) => n === 1);
  const facts = (await api("GET", "/knowledge/triples?subject=Contoso")).items;
  assert.deepEqual(facts.map((one) => one.object.label), ["Oslo"]);

  await clashes.getByRole("button", { name: "Both, at different times" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("True until").first().fill("2010-01-01");
  await dialog.getByLabel("True from").nth(1).fill("2010-01-01");
  await dialog.getByRole("button", { name: "Save the dates" }).click();
  await page.getByText("No contradictions").waitFor();
});

it("the graph is walked with the keyboard, grows, and has a list with the same content", async (app) => {
  const { page } = app;
  const { items } = await withFacts(app, [
    { subject: "Hub", predicate: "owns", object: "East" },
    { subject: "Hub", predicate: "owns", object: "West" },
    { subject: "East", predicate: "supplies", object: "Farther" },
    { subject: "Farther", predicate: "supplies", object: "Farthest" },
  ]);
  const foot = page.locator(".graph-foot");
  await page.goto("/knowledge/graph");
  await page.getByRole("combobox", { name: "Find a name" }).fill("Hub");
  await page.getByRole("option", { name: "Hub" }).click();
  await page.waitForURL(new RegExp(`center=${items[0].subject.id}`));
  const canvas = page.getByRole("application");
  await page.locator('canvas[role=application][data-ready="true"]').waitFor();
  await foot.getByText("3 names, 2 relations").waitFor();
  await app.noFindings("the graph");
  await page.goto(`${page.url().replace(/&selected=[^&]*/, "")}&selected=${items[2].subject.id}`);
  await page.locator('canvas[role=application][data-ready="true"]').waitFor();
  await page.getByRole("complementary", { name: "East" }).waitFor();
  await canvas.focus();
  await canvas.press("Enter");
  await foot.getByText("4 names, 3 relations").waitFor();
  await canvas.press("Escape");
  await page.getByRole("complementary", { name: "East" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "List" }).click();
  await page.locator(".edge-row", { hasText: "Farther" }).waitFor();
  await app.noFindings("the graph as a list");
});

it("a neighbourhood is saved, looked at, refreshed and deleted", async (app) => {
  const { page } = app;
  const { api } = await withFacts(app, [
    { subject: "Hub", predicate: "owns", object: "East" },
    { subject: "Hub", predicate: "owns", object: "West" },
  ]);
  await page.goto("/knowledge/neighbourhoods");
  await page.getByText("No neighbourhoods yet").waitFor();
  await page.getByRole("button", { name: "New neighbourhood" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("Around the hub");
  await dialog.getByRole("combobox").fill("Hub");
  await dialog.getByRole("option", { name: "Hub" }).click();
  await app.noFindings("a new neighbourhood");
  await dialog.getByRole("button", { name: "Create" }).click();
  await page.waitForURL(/neighbourhoods\/[0-9a-f-]{36}/);
  await page.locator(".graph-foot").getByText("3 names, 2 relations").waitFor();
  await api("POST", "/knowledge/triples", [
    { subject: "Hub", predicate: "owns", object: "North" },
  ]);
  await page.getByRole("button", { name: "Refresh" }).click();
  await page.locator(".graph-foot").getByText("4 names, 3 relations").waitFor();
  await more(page, "Delete the neighbourhood");
  await page.getByText("No neighbourhoods yet").waitFor();
  await until(
    async () => (await api("GET", "/knowledge/balls")).total,
    (n) => n === 0,
  );
});

it("memory is added, changed and deleted", async (app) => {
  const { page } = app;
  await app.register();
  await page.goto("/settings/memory");
  await page.getByText("Nothing is remembered yet").waitFor();
  await page.getByRole("button", { name: "Add a memory" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("preferred_currency");
  await dialog.getByLabel("Value").fill("DKK");
  await dialog.getByLabel("Forget it").click();
  await page.getByRole("menuitemradio", { name: "In a day" }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  const row = page.locator(".rows-item", { hasText: "preferred_currency" });
  await row.getByText("DKK").waitFor();
  await row.getByText(/Forgotten in 23 hours|Forgotten in 1 day/).waitFor();
  await app.noFindings("memory");
  await row.getByRole("button", { name: "Edit the memory: preferred_currency" }).click();
  await dialog.getByLabel("Value").fill('{"code": "EUR"}');
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.getByText('{"code":"EUR"}').waitFor();
  await row.getByRole("button", { name: "Remove: preferred_currency" }).click();
  await page.getByText("Nothing is remembered yet").waitFor();
  await toast(page, "Memory deleted").getByRole("button", { name: "Undo" }).click();
  await row.waitFor();
});
