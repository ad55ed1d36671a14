import {
  BarChart,
  BoxplotChart,
  CandlestickChart,
  FunnelChart,
  GaugeChart,
  HeatmapChart,
  LineChart,
  PieChart,
  RadarChart,
  SankeyChart,
  ScatterChart,
  TreemapChart,
} from "echarts/charts";
import {
  AriaComponent,
  DatasetComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  PolarComponent,
  RadarComponent,
  TitleComponent,
  TooltipComponent,
  VisualMapComponent,
} from "echarts/components";
import * as echarts from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { useEffect, useRef } from "react";

echarts.use([
  BarChart,
  BoxplotChart,
  CandlestickChart,
  FunnelChart,
  GaugeChart,
  HeatmapChart,
  LineChart,
  PieChart,
  RadarChart,
  SankeyChart,
  ScatterChart,
  TreemapChart,
  AriaComponent,
  DatasetComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  PolarComponent,
  RadarComponent,
  TitleComponent,
  TooltipComponent,
  VisualMapComponent,
  CanvasRenderer,
]);

const PALETTE_LIGHT = [
  "#4a57c9",
  "#1f8a5b",
  "#c2611f",
  "#a33a76",
  "#2a78b5",
  "#8a6d14",
  "#6c5bb8",
  "#3d8f8f",
];
const PALETTE_DARK = ["#8d97f7", "#5fc792", "#f0a06b", "#e38fbf", "#74b8ea", "#d9bb5e", "#b3a5f2", "#79cccc"];

/** Draws an option that cleanChart has passed. Loaded only when the first chart is opened. */
export default function ChartView({
  option,
  dark,
  label,
  onBroken,
}: {
  option: Record<string, unknown>;
  dark: boolean;
  label: string;
  onBroken: () => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const broken = useRef(onBroken);
  broken.current = onBroken;

  useEffect(() => {
    if (box.current === null) return;
    const chart = echarts.init(box.current, null, { renderer: "canvas" });
    try {
      chart.setOption(themed(option, dark));
    } catch {
      chart.dispose();
      broken.current();
      return;
    }
    const observer = new ResizeObserver(() => chart.resize());
    observer.observe(box.current);
    return () => {
      observer.disconnect();
      chart.dispose();
    };
  }, [option, dark]);

  return <div ref={box} className="chart" role="img" aria-label={label} />;
}

function themed(option: Record<string, unknown>, dark: boolean): Record<string, unknown> {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(name).trim();
  const axis = (value: unknown) => {
    const one = (item: unknown) => ({
      ...(item as object),
      axisLine: { lineStyle: { color: token("--border-strong") } },
      axisTick: { lineStyle: { color: token("--border-strong") } },
      splitLine: { lineStyle: { color: token("--border") } },
      axisLabel: {
        hideOverlap: true,
        ...(item as { axisLabel?: object })?.axisLabel,
        color: token("--text-2"),
      },
      nameTextStyle: { color: token("--text-2") },
    });
    return value === undefined ? undefined : Array.isArray(value) ? value.map(one) : one(value);
  };
  const text = { color: token("--text"), fontFamily: token("--font") };
  return {
    color: dark ? PALETTE_DARK : PALETTE_LIGHT,
    animation: false,
    aria: { enabled: false },
    ...option,
    // Our own distances, so that labels are never cut; several grids of one chart keep theirs.
    grid: Array.isArray(option.grid)
      ? option.grid
      : { left: 8, right: 16, top: option.legend === undefined ? 40 : 64, bottom: 8, containLabel: true },
    // The panel shows the title as text, which wraps and can be selected.
    title: undefined,
    backgroundColor: "transparent",
    textStyle: text,
    legend:
      option.legend === undefined
        ? undefined
        : {
            top: 0,
            left: 0,
            type: "scroll",
            ...(first(option.legend) as object),
            textStyle: { color: token("--text-2") },
          },
    xAxis: axis(option.xAxis),
    yAxis: axis(option.yAxis),
    tooltip: {
      ...(option.tooltip as object),
      backgroundColor: token("--raised"),
      borderColor: token("--border-strong"),
      textStyle: { color: token("--text"), fontSize: 13 },
    },
  };
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value;
}
