// A chart's description comes from a model. Only plain data survives: no functions, no HTML, no addresses.

export const CHART_BYTES = 256 * 1024;
const MAX_DEPTH = 12;
const MAX_VALUES = 50_000;
const MAX_STRING = 2_000;

const TOP = new Set([
  "title",
  "legend",
  "grid",
  "xAxis",
  "yAxis",
  "series",
  "dataset",
  "tooltip",
  "color",
  "visualMap",
  "polar",
  "radiusAxis",
  "angleAxis",
  "radar",
  "dataZoom",
  "textStyle",
  "backgroundColor",
]);

/** The kinds of series that are drawn; each one is registered in ChartView. */
export const SERIES = new Set([
  "line",
  "bar",
  "pie",
  "scatter",
  "radar",
  "heatmap",
  "funnel",
  "gauge",
  "sankey",
  "treemap",
  "candlestick",
  "boxplot",
]);

// Keys through which ECharts would run code, make HTML, open a page or load a file.
const FORBIDDEN = new Set([
  "__proto__",
  "constructor",
  "prototype",
  "renderItem",
  "extraCssText",
  "appendTo",
  "appendToBody",
  "className",
  "link",
  "sublink",
  "target",
  "subtarget",
  "image",
  "url",
  "href",
  "src",
  "graphic",
  "toolbox",
  "renderMode",
  "position",
  "valueFormatter",
  "labelFormatter",
  "optionToContent",
  "contentToOption",
  "transform",
  "map",
  "geoIndex",
  "rich",
  "media",
  "baseOption",
  "timeline",
]);

// Under these keys a string may be code or markup in disguise; a template like "{b}: {c}" is neither.
const TEMPLATE = /^[^<>&]*$/;

export interface CleanChart {
  option: Record<string, unknown>;
  /** How many settings were left out. */
  removed: number;
  kinds: string[];
}

/** Parses the JSON of an option; null when it is not a chart that can be drawn. */
export function cleanChart(content: string): CleanChart | null {
  if (content.length > CHART_BYTES) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch {
    return null;
  }
  if (!isObject(parsed)) return null;
  const state = { removed: 0, values: 0 };
  const option: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(parsed)) {
    if (!TOP.has(key)) {
      state.removed += 1;
      continue;
    }
    const clean = cleanValue(value, key, 1, state);
    if (clean !== undefined) option[key] = clean;
  }
  if (state.values > MAX_VALUES) return null;
  const { series, kinds } = cleanSeries(option.series, state);
  if (series.length === 0) return null;
  option.series = series;
  option.tooltip = {
    ...(isObject(option.tooltip) ? option.tooltip : { trigger: defaultTrigger(kinds) }),
    renderMode: "richText",
    confine: true,
  };
  return { option, removed: state.removed, kinds };
}

function cleanValue(
  value: unknown,
  key: string,
  depth: number,
  state: { removed: number; values: number },
): unknown {
  state.values += 1;
  if (state.values > MAX_VALUES) return undefined;
  if (depth > MAX_DEPTH) {
    state.removed += 1;
    return undefined;
  }
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "string") {
    if (isUnsafe(value, key)) {
      state.removed += 1;
      return undefined;
    }
    return value.length > MAX_STRING ? `${value.slice(0, MAX_STRING)}…` : value;
  }
  if (Array.isArray(value)) {
    // A gap keeps its place, so that values stay in line with their categories.
    return value.map((item) => cleanValue(item, key, depth + 1, state) ?? null);
  }
  if (!isObject(value)) return undefined;
  const out: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    if (
      FORBIDDEN.has(name) &&
      !(name === "position" && typeof inner === "string" && /^[a-zA-Z]+$/.test(inner))
    ) {
      state.removed += 1;
      continue;
    }
    const clean = cleanValue(inner, name, depth + 1, state);
    if (clean !== undefined) out[name] = clean;
  }
  return out;
}

function isUnsafe(text: string, key: string): boolean {
  if (/^\s*(image|path):\/\//i.test(text) && key !== "name")
    return !/^\s*path:\/\/[\d\s,.a-zA-Z-]*$/.test(text);
  if (/(javascript|data|vbscript):/i.test(text) && !/data:\s/i.test(text)) return true;
  if (/formatter/i.test(key)) return !TEMPLATE.test(text) || looksLikeCode(text);
  return /^\s*(async\s+)?function\b|^\s*\(?[\w\s,]*\)?\s*=>/.test(text);
}

function looksLikeCode(text: string): boolean {
  return /=>|\bfunction\b|\breturn\b|;\s*$/.test(text);
}

function cleanSeries(
  value: unknown,
  state: { removed: number },
): { series: Record<string, unknown>[]; kinds: string[] } {
  const list = Array.isArray(value) ? value : [value];
  const series: Record<string, unknown>[] = [];
  const kinds: string[] = [];
  for (const one of list.slice(0, 60)) {
    if (!isObject(one)) continue;
    const kind = typeof one.type === "string" ? one.type : "line";
    if (!SERIES.has(kind)) {
      state.removed += 1;
      continue;
    }
    kinds.push(kind);
    series.push({ ...one, type: kind });
  }
  return { series, kinds };
}

function defaultTrigger(kinds: string[]): string {
  return kinds.some((kind) => kind === "line" || kind === "bar") ? "axis" : "item";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
