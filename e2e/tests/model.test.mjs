// The loop with a model: a scripted server stands in for it.

import assert from "node:assert/strict";
import { PASSWORD, suite, until } from "../lib/app.mjs";
import { startModel } from "../lib/model.mjs";

const it = suite({
  setUp: async () => ({ model: await startModel() }),
  env: ({ model }) => ({
    QADRA_LLM_PROVIDER: "openai",
    QADRA_LLM_BASE_URL: model.url,
    QADRA_LLM_API_KEY: "not-a-secret",
    QADRA_LLM_MODEL: "scripted",
  }),
});

const STORY = Array.from({ length: 120 }, (_, n) => `word${n}`).join(" ");

it("words appear as they are sent, nothing above them moves, and the whole text stays", async (app) => {
  const { page } = app;
  app.model.on("short story", { text: "One two three four five six seven eight nine ten.", delay: 60 });
  await app.register();
  await app.ask("Tell a short story");
  const seen = new Set();
  const tops = new Set();
  await until(
    async () => {
      const state = await page.evaluate(() => {
        const text = document.querySelector(".msg.answer .md");
        return {
          text: text?.textContent ?? "",
          top: text ? Math.round(text.getBoundingClientRect().top) : null,
          bubble: Math.round(document.querySelector(".bubble")?.getBoundingClientRect().top ?? -1),
          live: document.querySelector(".msg.live") !== null,
        };
      });
      if (state.text !== "") {
        seen.add(state.text.length);
        tops.add(`${state.top}/${state.bubble}`);
      }
      return state;
    },
    (state) => !state.live && state.text.endsWith("ten."),
  );
  assert.ok(seen.size >= 4, `the text grew in ${seen.size} steps`);
  assert.equal(tops.size, 1, `the text stayed in place: ${[...tops].join(", ")}`);
  const details = page.getByRole("button", { name: "Details" });
  await details.click();
  const panel = page.getByRole("complementary", { name: "How this answer was made" });
  await panel.getByText("scripted").waitFor();
  assert.match(await panel.innerText(), /Tokens read\s*21/);
});

it("stop ends the answer and the call to the model, and keeps what was said", async (app) => {
  const { page } = app;
  app.model.on("long story", { text: STORY, delay: 50 });
  await app.register();
  await app.ask("Tell a long story");
  await until(() => app.live().innerText().catch(() => ""), (text) => text.includes("word5"));
  const before = app.model.aborted;
  await app.composer().press("Escape");
  await page.getByText("Stopped before the end").waitFor();
  const text = await (await app.settled()).locator(".md").innerText();
  assert.ok(text.startsWith("word0 word1") && !text.includes("word119"), text.slice(-40));
  await until(() => app.model.aborted, (count) => count > before);
  await page.reload();
  await page.getByText("Stopped before the end").waitFor();
  assert.equal(await (await app.settled()).locator(".md").innerText(), text);
});

it("a page refreshed in mid-answer shows the answer going on", async (app) => {
  const { page } = app;
  app.model.on("refresh story", { text: STORY, delay: 40 });
  await app.register();
  await app.ask("Tell a refresh story");
  await until(() => app.live().innerText().catch(() => ""), (text) => text.includes("word10"));
  await page.reload();
  const early = await until(() => app.live().innerText().catch(() => ""), (text) => text.includes("word10"));
  assert.ok(!early.includes("word119"), "still being written after the reload");
  const text = await (await app.settled()).locator(".md").innerText();
  assert.equal(text, STORY);
});

it(
  "an answer survives connections that are cut, without a word lost or doubled",
  async (app) => {
    app.model.on("rough line", { text: STORY, delay: 30 });
    await app.register();
    await app.ask("Tell it over a rough line");
    for (const word of ["word10", "word35", "word60"]) {
      await until(() => app.live().innerText().catch(() => ""), (text) => text.includes(word));
      app.wire.cut();
    }
    assert.equal(await (await app.settled()).locator(".md").innerText(), STORY);
  },
  { wire: true },
);

it("a long thread opens at its end, loads upwards, and a search hit is found in it", async (app) => {
  const { page } = app;
  app.model.on("remember", { text: "Noted." });
  const email = await app.register();
  const call = async (path, body, token) => {
    const response = await fetch(`${app.qadra.url}/api${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) },
      body: JSON.stringify(body),
    });
    assert.ok(response.ok, `${path} answered ${response.status}`);
    return response.json();
  };
  const { token } = await call("/auth/login", { email, password: PASSWORD });
  const agents = await fetch(`${app.qadra.url}/api/agents`, { headers: { authorization: `Bearer ${token}` } });
  const [agent] = (await agents.json()).items;
  const { id } = await call("/conversations", { title: "A long thread" }, token);
  for (let n = 0; n < 80; n += 1)
    await call(
      `/conversations/${id}/messages`,
      { agent_id: agent.id, content: n === 7 ? "remember the zebra" : `remember number ${n}` },
      token,
    );

  await page.goto(`/conversations/${id}`);
  await page.getByText("remember number 79").waitFor();
  assert.equal(await page.locator(".msg").count(), 50);
  const scroller = page.locator(".thread-scroll");
  const box = await scroller.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await until(
    async () => {
      await page.mouse.wheel(0, -3000);
      return page.getByText("Start of the conversation").count();
    },
    (count) => count === 1,
  );
  const rows = await page.locator("[data-row]").evaluateAll((all) => all.map((one) => Number(one.dataset.row)));
  assert.deepEqual(rows, Array.from({ length: 160 }, (_, n) => n + 1));

  await page.goto("/conversations?q=zebra");
  await page.locator(".list-item", { hasText: "A long thread" }).click();
  const hit = page.locator('[data-marked="true"]');
  await hit.waitFor();
  assert.match(await hit.innerText(), /zebra/);
  await until(() => hit.evaluate((one) => one.getBoundingClientRect().top), (top) => top > 0 && top < 900);
  await page.getByRole("button", { name: "Jump to latest" }).click();
  await page.getByText("remember number 79").waitFor();
});

it("another thread can be opened meanwhile, and the answer is there on the way back", async (app) => {
  const { page } = app;
  app.model.on("background story", { text: STORY, delay: 25 });
  await app.register();
  await app.ask("Tell a background story");
  await app.live().waitFor();
  const url = page.url();
  await page.getByRole("link", { name: "Knowledge" }).click();
  await page.getByText("Nothing is recorded yet").waitFor();
  await page.goBack();
  assert.equal(page.url(), url);
  assert.equal(await (await app.settled()).locator(".md").innerText(), STORY);
});

it("regenerate and edit make branches that can be switched", async (app) => {
  const { page } = app;
  app.model.on("a number", { text: "First answer." }, { text: "Second answer." }, { text: "Third answer." });
  app.model.on("a letter", { text: "Letter answer." });
  await app.register();
  await app.ask("Say a number");
  await app.says("First answer.");
  await app.settled();
  await page.getByRole("button", { name: "Write another answer" }).click();
  await app.says("Second answer.");
  const answer = await app.settled();
  await answer.getByText("2/2").waitFor();
  await answer.getByRole("button", { name: "Previous version" }).click();
  await app.says("First answer.");
  await answer.getByRole("button", { name: "Next version" }).click();
  await app.says("Second answer.");

  await app.composer().press("ArrowUp");
  await page.getByLabel("Edit your message").fill("Say a letter");
  await page.keyboard.press("Enter");
  await app.says("Letter answer.");
  await app.settled();
  const question = page.locator(".msg.user");
  await question.getByText("2/2").waitFor();
  assert.equal(await page.locator(".msg.answer").count(), 1);
  await question.getByRole("button", { name: "Previous version" }).click();
  await app.says("Second answer.");
  await page.reload();
  await app.says("Second answer.");
});

it("a rating is kept and can be taken back", async (app) => {
  const { page } = app;
  app.model.on("rate me", { text: "Please do." });
  await app.register();
  await app.ask("rate me");
  await app.settled();
  const good = page.getByRole("button", { name: "Good answer" });
  await good.click();
  await until(() => good.getAttribute("aria-pressed"), (value) => value === "true");
  await page.reload();
  await until(() => good.getAttribute("aria-pressed"), (value) => value === "true");
  await good.click();
  await until(() => good.getAttribute("aria-pressed"), (value) => value === "false");
});

it("a chart comes as a card and opens in the side panel, without anything that could run", async (app) => {
  const { page } = app;
  const chart_config = {
    title: { text: "Revenue", link: "javascript:document.title='owned'" },
    tooltip: { trigger: "axis", formatter: "<img src=x onerror=\"document.title='owned'\">" },
    xAxis: { type: "category", data: ["2023", "2024"] },
    yAxis: { type: "value" },
    series: [{ name: "Apple", type: "bar", data: [383, 391] }],
  };
  app.model.on(
    "draw",
    { tool: { name: "generate_chart", arguments: { chart_name: "Revenue by year", chart_config } } },
    { text: "Revenue rose a little." },
  );
  await app.register();
  await app.ask("Please draw the revenue");
  await app.says("Revenue rose a little.");
  await app.settled();
  await page.getByRole("button", { name: /^Revenue by year/ }).click();
  const panel = page.getByRole("complementary", { name: "Revenue by year" });
  await panel.locator("canvas").waitFor();
  await panel.getByRole("cell", { name: "391" }).waitFor();
  await panel.locator("canvas").hover({ position: { x: 120, y: 200 } });
  await page.reload();
  await panel.locator("canvas").waitFor();
  assert.match(await page.title(), /Qadra/);
});

it("a model that fails leaves the message, says what happened, and Retry works", async (app) => {
  const { page } = app;
  app.model.on(
    "fragile",
    { fail: { status: 401, message: "the key is not valid" } },
    { fail: { status: 401, message: "the key is not valid" } },
    { text: "Recovered." },
  );
  await app.register();
  await app.ask("A fragile question");
  const problem = page.locator(".turn-problem");
  await problem.waitFor();
  assert.match(await problem.innerText(), /The answer failed/);
  await page.locator(".bubble", { hasText: "A fragile question" }).waitFor();
  await page.reload();
  await page.getByText("This message has no answer").waitFor();
  await problem.getByRole("button", { name: "Retry" }).click();
  await problem.getByText("The answer failed").waitFor();
  await problem.getByRole("button", { name: "Retry" }).click();
  await app.says("Recovered.");
  await app.settled();
  assert.equal(await problem.count(), 0);
  assert.equal(await page.locator(".msg.user").count(), 1);
});

it("a model that never answers can be stopped, and the thread goes on", async (app) => {
  const { page } = app;
  app.model.on("silence", { hang: true });
  app.model.on("hello", { text: "Hello yourself." });
  await app.register();
  await app.ask("silence");
  await page.getByRole("button", { name: "Stop" }).waitFor();
  const before = app.model.requests.length;
  await until(() => app.model.requests.length, (count) => count >= before && count > 0);
  await app.composer().press("Escape");
  await page.getByRole("button", { name: "Send" }).waitFor();
  await app.send("hello");
  await app.says("Hello yourself.");
});

it("markup and links in an answer stay inert", async (app) => {
  const { page } = app;
  app.model.on("attack", {
    text: [
      "Start.",
      "<script>document.title='owned'</script>",
      "<img src=x onerror=\"document.title='owned'\">",
      "[click](javascript:document.title='owned')",
      "![pixel](https://evil.example/pixel.png)",
      "<iframe src='https://evil.example'></iframe>",
      "",
      "| a |",
      "|---|",
      "| <svg onload=\"document.title='owned'\"> |",
      "",
      "[good](https://example.com/) End.",
    ].join("\n\n"),
    delay: 5,
  });
  await app.register();
  await app.ask("attack");
  const answer = await app.settled();
  await answer.getByText("End.").waitFor();
  await answer.getByText("click").click();
  const found = await answer.locator(".md").evaluate((root) => ({
    tags: [...root.querySelectorAll("script,img,iframe,svg[onload],object,embed")].length,
    handlers: [...root.querySelectorAll("*")].filter((one) => one.getAttributeNames().some((name) => name.startsWith("on")))
      .length,
    links: [...root.querySelectorAll("a")].map((link) => [link.getAttribute("href"), link.rel]),
  }));
  assert.deepEqual(found, {
    tags: 0,
    handlers: 0,
    links: [["https://example.com/", "noopener noreferrer nofollow"]],
  });
  assert.match(await page.title(), /Qadra/);
});

it("the agent is chosen by @, the picker follows the last speaker", async (app) => {
  const { page } = app;
  app.model.on("who speaks", { text: "I do." });
  await app.register();
  await page.goto("/conversations/new");
  const picker = page.getByRole("button", { name: /Choose the agent/ });
  await page.getByRole("button", { name: /Choose the agent: \w/ }).waitFor();
  await app.composer().pressSequentially("@rea");
  await page.getByRole("option", { name: /Reagan/ }).waitFor();
  await page.keyboard.press("Enter");
  await until(() => picker.innerText(), (text) => text.includes("Reagan"));
  await app.send("who speaks");
  await app.says("I do.");
  await app.settled();
  await page.locator(".msg.answer strong", { hasText: "Reagan" }).waitFor();
  await page.reload();
  await until(() => picker.innerText(), (text) => text.includes("Reagan"));
});

it("the view follows only while the reader is at the end", async (app) => {
  const { page } = app;
  app.model.on("essay", { text: Array.from({ length: 60 }, (_, n) => `Paragraph ${n} says a little more than nothing.\n\n`).join(""), delay: 4 });
  await app.register();
  await app.ask("essay one");
  await app.settled();
  await app.send("essay two");
  await app.live().waitFor();
  const scroller = page.locator(".thread-scroll");
  const box = await scroller.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, -900);
  await page.getByRole("button", { name: "Jump to latest" }).waitFor();
  const place = await scroller.evaluate((one) => one.scrollTop);
  await app.settled();
  assert.equal(await scroller.evaluate((one) => one.scrollTop), place);
  await page.getByRole("button", { name: "Jump to latest" }).click();
  await until(
    () => scroller.evaluate((one) => one.scrollHeight - one.clientHeight - one.scrollTop),
    (rest) => rest < 40,
  );
});

it("a draft is kept per thread", async (app) => {
  const { page } = app;
  app.model.on("draft", { text: "Noted." });
  await app.register();
  await app.ask("draft one");
  await app.settled();
  await app.composer().fill("half a thought");
  await page.goto("/conversations/new");
  await until(() => app.composer().inputValue(), (text) => text === "");
  await page.goBack();
  await until(() => app.composer().inputValue(), (text) => text === "half a thought");
});
