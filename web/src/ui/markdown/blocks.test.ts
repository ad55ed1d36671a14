import { describe, expect, it } from "vitest";
import { repairEnd, splitBlocks } from "./blocks";

const DOCUMENT = `Intro **bold** text.

# Title

- one

- two

  still two
- three

1. first

   \`\`\`js
   code()

   more()
   \`\`\`

2. second

\`\`\`
fence

with blank
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

    indented

    code

> quote

End.`;

describe("splitBlocks", () => {
  it("gives the text back", () => {
    expect(splitBlocks(DOCUMENT).join("")).toBe(DOCUMENT);
    expect(splitBlocks("")).toEqual([]);
    expect(splitBlocks("\n\nx")).toEqual(["\n\n", "x"]);
  });

  it("keeps lists, fences and indented code whole", () => {
    const blocks = splitBlocks(DOCUMENT).map((block) => block.trim().split("\n")[0]);
    expect(blocks).toEqual([
      "Intro **bold** text.",
      "# Title",
      "- one",
      "```",
      "| a | b |",
      "> quote",
      "End.",
    ]);
  });

  it("never changes a finished block when text is added", () => {
    let before: string[] = [];
    for (let length = 0; length <= DOCUMENT.length; length += 1) {
      const now = splitBlocks(DOCUMENT.slice(0, length));
      const finished = before.slice(0, -1);
      expect(now.slice(0, finished.length), `at ${length}`).toEqual(finished);
      before = now;
    }
  });

  it("leaves a text with link definitions whole", () => {
    expect(splitBlocks("[a][1]\n\n[1]: https://x.y\n")).toHaveLength(1);
  });
});

describe("repairEnd", () => {
  const cases: [string, string][] = [
    ["plain", "plain"],
    ["some **bold", "some **bold**"],
    ["some **bold** and *it", "some **bold** and *it*"],
    ["nested **a *b", "nested **a *b***"],
    ["some **", "some "],
    ["2 * 3 * 4", "2 * 3 * 4"],
    ["call `fn(", "call `fn(`"],
    ["call `", "call "],
    ["~~gone", "~~gone~~"],
    ["see [the fil", "see the fil"],
    ["see [the filing](https://exa", "see the filing"],
    ["see ![pic](http", "see pic"],
    ["cited [1", "cited [1"],
    ["escaped \\*star", "escaped \\*star"],
    ["text\n#", "text"],
    ["text\n- ", "text"],
    ["text\n```", "text\n```"],
    ["| a | b |", ""],
    ["intro\n| a | b |\n|--", "intro"],
    ["| a | b |\n|---|---|", "| a | b |\n|---|---|"],
    ["```js\nlet a = `x", "```js\nlet a = `x"],
    ["bold ** not", "bold ** not"],
    ["**bold ", "**bold** "],
  ];
  for (const [input, output] of cases)
    it(JSON.stringify(input), () => {
      expect(repairEnd(input)).toBe(output);
    });
});
