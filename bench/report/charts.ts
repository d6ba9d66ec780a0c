/** Draws results as SVG with ECharts, which needs no browser for it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { scenarios } from "../comparison/scenarios.ts";
import { installOpponents } from "../opponents/packages.ts";
import { chartsFolder } from "./documentation.ts";
import type { Results } from "./results.ts";
import { short } from "./table.ts";
import { main, scaleTitle, titleOf } from "./tables.ts";

/** What is used of ECharts. */
interface Echarts {
  init(
    dom: null,
    theme: null,
    options: { renderer: "svg"; ssr: true; width: number; height: number },
  ): { setOption(option: object): void; renderToSVGString(): string; dispose(): void };
}

const colors = { own: "#0b6e4f", other: "#7d8ca3", limit: "#d5dbe3" };
const panel = { width: 460, row: 22, gap: 70, left: 170 };

/** Draws all charts into the folder of the documentation, and gives their paths. Throws where ECharts cannot be installed. */
export function drawCharts(results: Results, file: string): string[] {
  const reason = installOpponents();
  if (reason !== undefined) throw new Error(reason);
  const echarts = createRequire(`${process.cwd()}/bench/opponents/package.json`)("echarts") as Echarts;
  mkdirSync(chartsFolder, { recursive: true });
  const charts = { throughput: throughputChart(results), scale: scaleChart(results) };
  return Object.entries(charts).map(([name, { option, width, height }]) => {
    const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
    chart.setOption({ animation: false, backgroundColor: "#ffffff", ...option });
    const svg = chart.renderToSVGString();
    chart.dispose();
    const path = `${chartsFolder}/${name}.svg`;
    writeFileSync(path, `${svg}\n<!-- bench/results/${basename(file)} -->\n`);
    return path;
  });
}

interface Chart {
  option: object;
  width: number;
  height: number;
}

/** A panel of bars for each scenario, two beside each other. */
function throughputChart({ cells, subjects }: Results): Chart {
  const own = cells.filter(
    ({ bytes, connections, flushDelayUs }) =>
      bytes === main.bytes && connections === main.connections && flushDelayUs === undefined,
  );
  const panels = scenarios.flatMap(({ name, title }) => {
    const bars = own.filter(({ scenario }) => scenario === name).sort((a, b) => a.perSecond - b.perSecond);
    return bars.length === 0 ? [] : [{ title, bars }];
  });
  const rows = Math.max(1, ...panels.map(({ bars }) => bars.length));
  const height = rows * panel.row;
  const place = (n: number) => ({
    left: panel.left + (n % 2) * (panel.width + panel.left),
    top: 50 + Math.floor(n / 2) * (height + panel.gap),
  });
  return {
    width: 2 * (panel.width + panel.left),
    height: 60 + Math.ceil(panels.length / 2) * (height + panel.gap),
    option: {
      title: panels.map(({ title }, n) => ({
        text: `${title}, requests/s`,
        textStyle: { fontSize: 14 },
        left: place(n).left,
        top: place(n).top - 30,
      })),
      grid: panels.map((_, n) => ({ ...place(n), width: panel.width - 90, height })),
      xAxis: panels.map((_, n) => ({ type: "value", gridIndex: n, show: false })),
      yAxis: panels.map(({ bars }, n) => ({
        type: "category",
        gridIndex: n,
        data: bars.map(({ subject }) => titleOf(subjects, subject)),
        axisTick: { show: false },
        axisLine: { show: false },
        axisLabel: { interval: 0, fontSize: 11, color: "#333333" },
      })),
      series: panels.map(({ bars }, n) => ({
        type: "bar",
        xAxisIndex: n,
        yAxisIndex: n,
        label: { show: true, position: "right", fontSize: 11, color: "#333333" },
        data: bars.map(({ subject, perSecond }) => ({
          value: Math.round(perSecond),
          label: { formatter: short(perSecond) },
          itemStyle: {
            color: colorOf(
              subject,
              subjects.some(({ name, isLimit }) => name === subject && isLimit),
            ),
          },
        })),
      })),
    },
  };
}

function colorOf(subject: string, isLimit: boolean): string {
  if (subject.startsWith("holdfast")) return colors.own;
  return isLimit ? colors.limit : colors.other;
}

/** A panel of curves for each kind of request. */
function scaleChart({ scale, subjects }: Results): Chart {
  const whats = [...new Set(scale.map(({ what }) => what))];
  const names = [...new Set(scale.map(({ subject }) => subject))];
  const place = (n: number) => ({ left: 80 + (n % 2) * 460, top: 90 + Math.floor(n / 2) * 300 });
  return {
    width: 2 * 460 + 60,
    height: 90 + Math.ceil(whats.length / 2) * 300,
    option: {
      color: [colors.own, "#5aa987", colors.other, "#c2803b"],
      legend: { data: names.map((name) => titleOf(subjects, name)), top: 10 },
      title: whats.map((what, n) => ({
        text: `${scaleTitle(what)} per second`,
        textStyle: { fontSize: 14 },
        left: place(n).left,
        top: place(n).top - 35,
      })),
      grid: whats.map((_, n) => ({ ...place(n), width: 370, height: 210 })),
      xAxis: whats.map((_, n) => ({
        type: "log",
        gridIndex: n,
        name: "articles",
        nameLocation: "middle",
        nameGap: 25,
      })),
      yAxis: whats.map((_, n) => ({ type: "value", gridIndex: n, min: 0 })),
      series: whats.flatMap((what, n) =>
        names.map((name) => ({
          name: titleOf(subjects, name),
          type: "line",
          xAxisIndex: n,
          yAxisIndex: n,
          symbolSize: 7,
          data: scale
            .filter((point) => point.what === what && point.subject === name)
            .map(({ resources, perSecond }) => [resources, Math.round(perSecond)]),
        })),
      ),
    },
  };
}
