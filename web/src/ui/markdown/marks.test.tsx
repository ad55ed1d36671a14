import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Markdown } from "./Markdown";
import { type Mark, places } from "./marks";

function marked(text: string, ...words: string[]): string {
  const marks: Mark[] = words.map((word, index) => {
    const start = text.indexOf(word);
    return { start, end: start + word.length, id: String(index), kind: "grounded" };
  });
  const html = renderToStaticMarkup(<Markdown text={text} marks={marks} citations={new Set([1])} />);
  return [...html.matchAll(/<mark[^>]*data-mark="(\d+)"[^>]*>(.*?)<\/mark>/g)]
    .map((match) => `${match[1]}:${match[2]}`)
    .join(" | ");
}

describe("marks in Markdown", () => {
  it("are where the source says", () => {
    expect(marked("Apple was founded in 1976. It is rich.", "Apple was founded in 1976.")).toBe(
      "0:Apple was founded in 1976.",
    );
  });

  it("go across emphasis and blocks", () => {
    expect(marked("One **two** three.\n\nFour five.", "two** three.\n\nFour")).toBe(
      "0:two | 0: three. | 0:Four",
    );
  });

  it("stop at citations, which are buttons themselves", () => {
    expect(marked("Apple grew [1] fast.", "Apple grew [1] fast.")).toBe("0:Apple grew  | 0: fast.");
  });

  it("count escapes and entities as the source does", () => {
    expect(marked("AT\\&T &amp; co grew. More.", "grew.")).toBe("0:grew.");
    expect(places("a&b", "a&amp;b", 10)).toEqual([10, 11, 16]);
    expect(places("a*b", "a\\*b", 0)).toEqual([0, 2, 3]);
  });

  it("are in lists and tables too", () => {
    expect(marked("- Founded: 1976\n- Seat: Cupertino", "Seat: Cupertino")).toBe("0:Seat: Cupertino");
    expect(marked("| a | b |\n|---|---|\n| x | 12 |", "12")).toBe("0:12");
  });

  it("leave code alone", () => {
    expect(marked("Run `make run` now.", "make run")).toBe("");
  });

  it("make one stop of a claim", () => {
    const text = "One **two** three.";
    const html = renderToStaticMarkup(
      <Markdown text={text} marks={[{ start: 0, end: text.length, id: "0", kind: "contradicted" }]} />,
    );
    expect(html.match(/role="button"/g)).toHaveLength(1);
  });
});
