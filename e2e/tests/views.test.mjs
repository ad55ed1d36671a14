// Every page at three widths, light and dark: axe has no serious finding and nothing is cut off.

import assert from "node:assert/strict";
import { suite, until } from "../lib/app.mjs";

const it = suite({ args: ["--demo"] });

const views = [
  { name: "wide, light", width: 1440, height: 900, dark: false },
  { name: "medium, dark", width: 1024, height: 768, dark: true },
  { name: "phone, light", width: 390, height: 844, dark: false },
  { name: "phone, dark", width: 390, height: 844, dark: true },
];

const pages = [
  "/conversations",
  "/conversations/new",
  "/agents",
  "/agents?create=1",
  "/knowledge",
  "/knowledge?panel=add",
  "/knowledge/names",
  "/knowledge/relations",
  "/knowledge/graph",
  "/knowledge/contradictions",
  "/knowledge/merges",
  "/knowledge/neighbourhoods",
  "/knowledge/neighbourhoods?new=1",
  "/documents",
  "/documents?add=1",
  "/documents/review",
  "/settings/profile",
  "/settings/keys",
  "/settings/memory",
  "/settings/team",
  "/settings/about",
];

async function noOverflow(page, where) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(wide <= 0, `${where} is ${wide} px wider than the window`);
}

for (const view of views)
  it(
    `pages: ${view.name}`,
    async (app) => {
      const { page } = app;
      for (const path of ["/sign-in", "/register"]) {
        await page.goto(path);
        await page.getByRole("button", { name: /Sign in|Create an account/ }).waitFor();
        await app.noFindings(path);
      }
      await app.register();
      await app.addFact("Apple", "founded_in_year", "1976");
      await app.addFact("Apple", "headquartered_in", "Cupertino");
      await app.ask("When was Apple founded?");
      const answer = await app.settled();
      await app.noFindings("a thread");
      await noOverflow(page, "a thread");
      const thread = page.url();
      await answer.locator(".chip").click();
      await page.getByRole("complementary", { name: "What we know" }).waitFor();
      await app.noFindings("the facts panel");
      await noOverflow(page, "the facts panel");
      await page.goto(thread);
      await app.settled();
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").waitFor();
      await app.noFindings("the palette");

      for (const path of pages) {
        await page.goto(path);
        await page.locator("main h1, main h2").first().waitFor({ state: "attached" });
        await page.waitForLoadState("networkidle");
        await app.noFindings(path);
        await noOverflow(page, path);
      }
      await page.goto("/agents");
      await page.locator(".agent-item").first().click();
      await page.getByLabel("System prompt").waitFor();
      await app.noFindings("the agent editor");
      await noOverflow(page, "the agent editor");
    },
    view,
  );

it(
  "a phone gets along with one column and a bar at the bottom",
  async (app) => {
    const { page } = app;
    await app.register();
    const bar = await page.getByRole("navigation", { name: "Rooms" }).boundingBox();
    assert.ok(bar.y > 700, `the rooms are at the bottom (${bar.y})`);
    await app.addFact("Apple", "founded_in_year", "1976");
    await app.ask("When was Apple founded?");
    const answer = await app.settled();
    assert.match(await answer.innerText(), /1976/);
    await answer.locator(".chip").click();
    await page.getByRole("complementary", { name: "What we know" }).waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Back" }).click();
    await page.getByRole("heading", { name: "Conversations" }).waitFor();
    await page.locator(".list-item", { hasText: "When was Apple founded" }).waitFor();
  },
  { width: 390, height: 844 },
);

it("the theme follows the system, and a choice outlives a reload", async (app) => {
  const { page } = app;
  await app.register();
  // The browser reports a changed preference when it draws the next frame.
  const theme = () =>
    page.evaluate(async () => {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      return document.documentElement.dataset.theme;
    });
  assert.equal(await theme(), "light");
  await page.emulateMedia({ colorScheme: "dark" });
  await until(theme, (value) => value === "dark");
  await page.getByRole("button", { name: /Your account/ }).click();
  await page.getByRole("menuitem", { name: "Light" }).click();
  await until(theme, (value) => value === "light");
  await page.reload();
  assert.equal(await theme(), "light");
});

it("an address that leads nowhere says so", async (app) => {
  const { page } = app;
  await app.register();
  await page.goto("/no/such/page");
  await page.getByText("There is nothing at this address.").waitFor();
  await page.goto("/conversations/00000000-0000-7000-8000-000000000000");
  await page.getByText("There is nothing at this address.").waitFor();
});
