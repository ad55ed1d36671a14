import { describe, expect, it } from "vitest";
import { CHART_BYTES, cleanChart } from "./sanitise";
import { chartTable } from "./table";

const clean = (option: unknown) => cleanChart(JSON.stringify(option));
const bar = {
  xAxis: { type: "category", data: ["a", "b"] },
  yAxis: {},
  series: [{ type: "bar", data: [1, 2] }],
};

describe("cleanChart", () => {
  it("keeps a plain chart as it is and makes its tooltip draw text", () => {
    const chart = clean(bar);
    expect(chart?.removed).toBe(0);
    expect(chart?.kinds).toEqual(["bar"]);
    expect(chart?.option).toEqual({
      ...bar,
      tooltip: { trigger: "axis", renderMode: "richText", confine: true },
    });
  });

  it("refuses what is not a chart", () => {
    for (const content of [
      "",
      "null",
      "[]",
      "42",
      "{",
      '"x"',
      "{}",
      '{"series":[]}',
      '{"series":[{"type":"custom"}]}',
    ])
      expect(cleanChart(content), content).toBeNull();
  });

  it("refuses a description that is too large", () => {
    expect(cleanChart(JSON.stringify({ ...bar, title: { text: "x".repeat(CHART_BYTES) } }))).toBeNull();
    expect(clean({ series: [{ type: "line", data: Array.from({ length: 60_000 }, () => 1) }] })).toBeNull();
  });

  it("drops everything that could run, load, link or make HTML", () => {
    const chart = clean({
      ...bar,
      title: { text: "T", link: "javascript:alert(1)", target: "self", sublink: "https://evil.example" },
      tooltip: {
        formatter: "<img src=x onerror=alert(1)>",
        renderMode: "html",
        extraCssText: "background:url(https://evil.example)",
        className: "x",
        appendToBody: true,
      },
      toolbox: { feature: { dataView: { optionToContent: "x" } } },
      graphic: [{ type: "image", style: { image: "https://evil.example/x.png" } }],
      backgroundColor: { image: "https://evil.example" },
      series: [
        {
          type: "bar",
          data: [1, { value: 2, symbol: "image://https://evil.example/x.png" }],
          label: {
            formatter: "function (p) { return p.name }",
            rich: { a: { backgroundColor: { image: "x" } } },
          },
          symbol: "image://https://evil.example/y.png",
          renderItem: "x",
        },
        { type: "custom", renderItem: "evil" },
        { type: "map", map: "world" },
      ],
    });
    const text = JSON.stringify(chart?.option);
    expect(text).not.toMatch(/evil|javascript|onerror|image|function|renderItem|graphic|toolbox|extraCss/);
    expect(chart?.option.tooltip).toEqual({ renderMode: "richText", confine: true });
    expect(chart?.option.series).toEqual([{ type: "bar", data: [1, { value: 2 }], label: {} }]);
    expect(chart?.removed).toBeGreaterThan(10);
  });

  it("keeps templates, drops code in them", () => {
    const of = (formatter: string) => clean({ ...bar, tooltip: { formatter } })?.option.tooltip;
    expect(of("{b}: {c} bn")).toMatchObject({ formatter: "{b}: {c} bn" });
    for (const bad of ["p => p.name", "function(){}", "<b>{b}</b>", "return x;", "&lt;b&gt;"])
      expect(of(bad), bad).not.toHaveProperty("formatter");
  });

  it("cannot be used to reach prototypes", () => {
    const chart = cleanChart(
      '{"series":[{"type":"bar","data":[1]}],"title":{"__proto__":{"polluted":1},"constructor":1}}',
    );
    expect(chart?.option.title).toEqual({});
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it("bounds depth and strings, and keeps values in line with their categories", () => {
    let deep: unknown = "x";
    for (let i = 0; i < 40; i += 1) deep = { a: deep };
    const chart = clean({ ...bar, textStyle: deep, title: { text: "y".repeat(5000) } });
    expect(String(Object(chart?.option.title).text)).toHaveLength(2001);
    expect(JSON.stringify(chart?.option.textStyle).length).toBeLessThan(100);
    expect(clean({ series: [{ type: "line", data: [1, "javascript:x", 3] }] })?.option.series).toEqual([
      { type: "line", data: [1, null, 3] },
    ]);
  });
});

describe("chartTable", () => {
  it("lays out series by category", () => {
    const option = clean({
      ...bar,
      series: [
        { name: "A", type: "bar", data: [1, { value: 2 }] },
        { type: "line", data: [3] },
      ],
    });
    expect(chartTable(option?.option ?? {})).toEqual({
      columns: ["", "A", "2"],
      rows: [
        ["a", "1", "3"],
        ["b", "2", ""],
      ],
    });
  });

  it("lays out a pie by its names", () => {
    const option = clean({ series: [{ type: "pie", name: "Share", data: [{ name: "x", value: 7 }] }] });
    expect(chartTable(option?.option ?? {})).toEqual({ columns: ["", "Share"], rows: [["x", "7"]] });
  });
});
