export interface ChartTable {
  columns: string[];
  rows: string[][];
}

const LIMIT = 500;

/** The numbers of a cleaned chart as a table: for reading aloud, for copying, and when drawing fails. */
export function chartTable(option: Record<string, unknown>): ChartTable | null {
  const series = (Array.isArray(option.series) ? option.series : []) as Record<string, unknown>[];
  const categories = categoriesOf(option.xAxis) ?? categoriesOf(option.yAxis);
  if (categories !== null) {
    const columns = ["", ...series.map((one, index) => label(one.name) || String(index + 1))];
    const rows = categories
      .slice(0, LIMIT)
      .map((name, row) => [
        name,
        ...series.map((one) => cell(Array.isArray(one.data) ? one.data[row] : undefined)),
      ]);
    return { columns, rows };
  }
  const only = series[0];
  if (!only || !Array.isArray(only.data)) return null;
  const rows = only.data
    .slice(0, LIMIT)
    .map((item, index) =>
      isNamed(item) ? [label(item.name) || String(index + 1), cell(item)] : [String(index + 1), cell(item)],
    );
  return { columns: ["", label(only.name)], rows };
}

function categoriesOf(axis: unknown): string[] | null {
  const first = Array.isArray(axis) ? axis[0] : axis;
  if (first === null || typeof first !== "object" || !("data" in first) || !Array.isArray(first.data))
    return null;
  return first.data.map((item: unknown) => (isNamed(item) ? label(item.value) : label(item)));
}

function isNamed(value: unknown): value is { name?: unknown; value?: unknown } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function cell(value: unknown): string {
  if (isNamed(value)) return cell(value.value);
  if (Array.isArray(value)) return value.map(label).join(", ");
  return label(value);
}

function label(value: unknown): string {
  if (typeof value === "number") return value.toLocaleString();
  return typeof value === "string" || typeof value === "boolean" ? String(value) : "";
}
