// A model server that speaks the OpenAI chat completions protocol and says what a test tells it to.

import { createServer } from "node:http";

/**
 * @typedef {object} Script
 * @property {string} [text] What the model says, sent word by word.
 * @property {number} [delay] Milliseconds between two words.
 * @property {{name: string, arguments: object}} [tool] A tool call instead of text.
 * @property {{status: number, message: string}} [fail] An error answer.
 * @property {boolean} [hang] Accept the request and never answer.
 */

export async function startModel() {
  /** @type {{pattern: string, scripts: Script[]}[]} */
  const rules = [];
  const requests = [];
  let aborted = 0;

  const server = createServer(async (request, response) => {
    if (request.url?.endsWith("/models")) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ object: "list", data: [{ id: "scripted", object: "model" }] }));
      return;
    }
    let body = "";
    for await (const chunk of request) body += chunk;
    const call = JSON.parse(body || "{}");
    requests.push(call);
    let finished = false;
    response.on("close", () => {
      if (!finished) aborted += 1;
    });
    await play(next(rules, call), call, response);
    finished = true;
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();

  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    /** How many requests were given up by the caller before their end. */
    get aborted() {
      return aborted;
    },
    /** The answers to questions that contain the pattern, one after another; the last one repeats. */
    on(pattern, ...scripts) {
      rules.unshift({ pattern, scripts: [...scripts] });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function next(rules, call) {
  const last = call.messages?.at(-1);
  const question = call.messages?.findLast((message) => message.role === "user");
  const rule = rules.find((one) => textOf(question).includes(one.pattern));
  if (!rule) return { text: "I have nothing to say to that." };
  // The round after a tool call is told apart by the tool's result at its end.
  if (last?.role === "tool") {
    const after = rule.scripts.findIndex((script) => !script.tool);
    if (after > 0) rule.scripts.splice(0, after);
  }
  return rule.scripts.length > 1 ? rule.scripts.shift() : rule.scripts[0];
}

function textOf(message) {
  const content = message?.content ?? "";
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

async function play(script, call, response) {
  if (script.hang) {
    await new Promise((resolve) => response.on("close", resolve));
    return;
  }
  if (script.fail) {
    response.writeHead(script.fail.status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: script.fail.message, type: "scripted", code: null } }));
    return;
  }
  if (!call.stream) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(whole(script)));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta, finish = null, usage) =>
    response.write(
      `data: ${JSON.stringify({
        id: "x",
        object: "chat.completion.chunk",
        created: 1,
        model: "scripted",
        choices: usage ? [] : [{ index: 0, delta, finish_reason: finish }],
        ...(usage ? { usage } : {}),
      })}\n\n`,
    );
  send({ role: "assistant", content: "" });
  if (script.tool) {
    send({ tool_calls: [toolCall(script.tool)] });
    send({}, "tool_calls");
  } else {
    for (const word of script.text?.match(/\s*\S+|\s+$/g) ?? []) {
      if (response.destroyed) return;
      send({ content: word });
      if (script.delay) await pause(script.delay, response);
    }
    send({}, "stop");
  }
  send({}, null, usageOf(script));
  response.end("data: [DONE]\n\n");
}

function whole(script) {
  const message = script.tool
    ? { role: "assistant", content: null, tool_calls: [toolCall(script.tool)] }
    : { role: "assistant", content: script.text };
  return {
    id: "x",
    object: "chat.completion",
    created: 1,
    model: "scripted",
    choices: [{ index: 0, message, finish_reason: script.tool ? "tool_calls" : "stop" }],
    usage: usageOf(script),
  };
}

function toolCall(tool) {
  return {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: tool.name, arguments: JSON.stringify(tool.arguments) },
  };
}

function usageOf(script) {
  const completion = (script.text ?? "").split(/\s+/).length;
  return { prompt_tokens: 21, completion_tokens: completion, total_tokens: 21 + completion };
}

function pause(ms, response) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      response.off("close", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    response.once("close", done);
  });
}
