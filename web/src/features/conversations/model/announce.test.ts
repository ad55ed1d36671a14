import { describe, expect, it } from "vitest";
import { nextAnnouncement } from "./announce";

describe("nextAnnouncement", () => {
  it("waits for the end of a sentence", () => {
    expect(nextAnnouncement("Apple was founded", 0, false)).toEqual({ say: "", upTo: 0 });
    expect(nextAnnouncement("It was 1976. Then", 0, false)).toEqual({ say: "It was 1976.", upTo: 12 });
    expect(nextAnnouncement("Grew 3.5 percent", 0, false).say).toBe("");
  });

  it("says each part once, and the rest at the end", () => {
    const text = "One. Two **bold** [1]. Three";
    let upTo = 0;
    const said: string[] = [];
    for (let length = 1; length <= text.length; length += 1) {
      const next = nextAnnouncement(text.slice(0, length), upTo, false);
      if (next.say !== "") said.push(next.say);
      upTo = next.upTo;
    }
    said.push(nextAnnouncement(text, upTo, true).say);
    expect(said).toEqual(["One.", "Two bold .", "Three"]);
  });

  it("leaves out what only the eye needs", () => {
    expect(nextAnnouncement("# Title\n```js\nx\n```\n[a](https://b.c)\n", 0, true).say).toBe("Title x a");
  });
});
