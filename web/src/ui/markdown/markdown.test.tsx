import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { TipProvider } from "../Tooltip";
import { splitCitations } from "./citations";
import { safeHref } from "./links";
import { Markdown } from "./Markdown";

function html(text: string, citations: number[] = [], streaming = false): string {
  return renderToStaticMarkup(
    <TipProvider>
      <Markdown text={text} streaming={streaming} citations={new Set(citations)} />
    </TipProvider>,
  );
}

/** Tags and attributes of a piece of HTML that this renderer made. */
function parts(markup: string): { tags: string[]; attributes: [string, string][] } {
  const tags: string[] = [];
  const attributes: [string, string][] = [];
  for (const match of markup.matchAll(/<([a-zA-Z][\w-]*)((?:\s+[\w:-]+(?:="[^"]*")?)*)\s*\/?>/g)) {
    tags.push((match[1] ?? "").toLowerCase());
    for (const one of (match[2] ?? "").matchAll(/([\w:-]+)(?:="([^"]*)")?/g))
      attributes.push([(one[1] ?? "").toLowerCase(), one[2] ?? ""]);
  }
  return { tags, attributes };
}

const XSS = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg/onload=alert(1)>",
  "<iframe src='javascript:alert(1)'></iframe>",
  "<a href='javascript:alert(1)'>x</a>",
  "<details open ontoggle=alert(1)>",
  "<style>@import 'https://evil.example/x.css'</style>",
  "<math><mtext></mtext><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
  "<form action='https://evil.example'><button>go</button></form>",
  "<base href='https://evil.example/'>",
  "<meta http-equiv=refresh content='0;url=https://evil.example'>",
  "text <b onclick=alert(1)>bold</b>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](java\nscript:alert(1))",
  "[x](&#106;avascript:alert(1))",
  "[x](javascript&colon;alert(1))",
  "[x](\u0001javascript:alert(1))",
  "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
  "[x](vbscript:msgbox(1))",
  "[x](file:///etc/passwd)",
  "[x](//evil.example)",
  "[x](/api/auth/logout)",
  "[x][1]\n\n[1]: javascript:alert(1)",
  "<javascript:alert(1)>",
  "![x](javascript:alert(1))",
  "![x](https://evil.example/track.png)",
  "![x](data:image/svg+xml,<svg onload=alert(1)>)",
  '![" onerror="alert(1)](x)',
  '[a](https://ok.example "t\\" onmouseover=\\"alert(1)")',
  "`<script>alert(1)</script>`",
  "```html\n<script>alert(1)</script>\n```",
  '```"><img src=x onerror=alert(1)>\ncode\n```',
  "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
  "# <img src=x onerror=alert(1)>",
  "- [ ] <input onfocus=alert(1) autofocus>",
  "x[^1]\n\n[^1]: <script>alert(1)</script>",
  "<!--><img src=x onerror=alert(1)>-->",
  "<![CDATA[<img src=x onerror=alert(1)>]]>",
  "<x-cite data-n=1 onclick=alert(1)>",
  "<cite data-n='1'>1</cite>",
];

describe("markdown from a model stays inert", () => {
  for (const [index, attack] of XSS.entries())
    it(`case ${index}: ${JSON.stringify(attack).slice(0, 60)}`, () => {
      for (const streaming of [false, true])
        for (const text of [attack, `before ${attack} after`, `para\n\n${attack}\n\npara`]) {
          const { tags, attributes } = parts(html(text, [1], streaming));
          const foreign = [
            "script",
            "img",
            "iframe",
            "style",
            "object",
            "embed",
            "form",
            "base",
            "meta",
            "math",
            "link",
          ];
          expect(tags.filter((tag) => foreign.includes(tag))).toEqual([]);
          expect(attributes.filter(([name]) => name.startsWith("on"))).toEqual([]);
          for (const [name, value] of attributes) {
            if (name === "href") expect(value).toMatch(/^(https?:\/\/|mailto:|#user-content)/);
            expect(["srcdoc", "formaction", "action", "style"]).not.toContain(name);
            if (name === "src") expect.unreachable(`src="${value}"`);
          }
        }
    });

  it("survives the corpus cut at every character", () => {
    for (const attack of XSS)
      for (let cut = 0; cut <= attack.length; cut += 1) {
        const { tags, attributes } = parts(html(`say ${attack.slice(0, cut)}`, [], true));
        expect(tags).not.toContain("script");
        expect(tags).not.toContain("img");
        expect(attributes.filter(([name]) => name.startsWith("on"))).toEqual([]);
      }
  }, 60_000);

  it("shows the text of dropped HTML's surroundings", () => {
    expect(html("a <b>x</b> c")).toContain("a x c");
    expect(html("`<b>`")).toContain("<code>&lt;b&gt;</code>");
  });
});

describe("links", () => {
  it("opens allowed ones without handing over the page", () => {
    expect(html("[x](https://a.example/p?q=1)")).toContain(
      '<a class="link" href="https://a.example/p?q=1" target="_blank" rel="noopener noreferrer nofollow">x</a>',
    );
    expect(html("[m](mailto:a@b.example)")).toContain('href="mailto:a@b.example"');
  });

  it("shows the text of others", () => {
    expect(html("[x](javascript:alert(1))")).toContain("<span>x</span>");
  });

  it("knows the three schemes", () => {
    expect(safeHref("https://a.example")).toBe("https://a.example/");
    expect(safeHref(" HTTP://a.example ")).toBe("http://a.example/");
    expect(safeHref("java\tscript:alert(1)")).toBeNull();
    expect(safeHref("ftp://a.example")).toBeNull();
    expect(safeHref("relative/path")).toBeNull();
    expect(safeHref(undefined)).toBeNull();
  });
});

describe("citations", () => {
  it("makes buttons of known numbers only", () => {
    const out = html("Founded in 1976 [1], a[2] and [3].", [1, 3]);
    expect(out.match(/class="cite"/g)).toHaveLength(2);
    expect(out).toContain("a[2]");
    expect(out).toContain('aria-label="Fact 3"');
  });

  it("leaves code alone", () => {
    expect(html("`a[1]`", [1])).not.toContain('class="cite"');
  });

  it("splits a text at its markers", () => {
    expect(splitCitations("a [1][2] b", new Set([1, 2]))).toEqual(["a ", { n: 1 }, { n: 2 }, " b"]);
    expect(splitCitations("[9]", new Set([1]))).toEqual(["[9]"]);
  });
});

describe("tables and code", () => {
  it("renders a table in a box that scrolls", () => {
    const out = html("| a | b |\n|---|--:|\n| 1 | 2 |");
    expect(out).toContain('<section class="md-table"');
    expect(out).toContain("<th>a</th>");
  });

  it("names the language of a code block and offers to copy it", () => {
    const out = html("```rust\nfn main() {}\n```");
    expect(out).toContain("<span>rust</span>");
    expect(out).toContain('aria-label="Copy the code"');
  });
});
