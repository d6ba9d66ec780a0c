/** Draws the samples of a soak as an SVG: one panel for each figure, and a line for each life of the service. */
import type { Sample } from "./samples.ts";

const figures: readonly { name: string; of(sample: Sample): number }[] = [
  { name: "resident memory (MB)", of: (each) => each.residentMb },
  { name: "anonymous memory (MB)", of: (each) => each.anonymousMb },
  { name: "heap (MB)", of: (each) => each.heapMb },
  { name: "event loop delay, p99 (ms)", of: (each) => each.loopDelayMs },
  { name: "file descriptors", of: (each) => each.descriptors },
  { name: "threads", of: (each) => each.threads },
  { name: "store file (MB)", of: (each) => each.storeMb },
  { name: "WAL (MB)", of: (each) => each.walMb },
];

const [panelWidth, panelHeight, margin, columns] = [420, 150, 46, 2];

/** The text of the SVG. */
export function chart(samples: readonly Sample[], title: string): string {
  const rows = Math.ceil(figures.length / columns);
  const width = columns * (panelWidth + margin) + margin;
  const height = rows * (panelHeight + margin) + 2 * margin;
  const panels = figures.map(({ name, of }, index) => {
    const x = margin + (index % columns) * (panelWidth + margin);
    const y = 2 * margin + Math.floor(index / columns) * (panelHeight + margin);
    return `<g transform="translate(${x} ${y})">${panel(samples, name, of)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<text x="${margin}" y="28" font-size="16">${title}</text>
${panels.join("\n")}
</svg>
`;
}

function panel(samples: readonly Sample[], name: string, of: (sample: Sample) => number): string {
  const top = Math.max(...samples.map(of), 1) * 1.1;
  const end = Math.max(...samples.map(({ seconds }) => seconds), 1);
  const point = (sample: Sample) =>
    `${((sample.seconds / end) * panelWidth).toFixed(1)},${(panelHeight - (of(sample) / top) * panelHeight).toFixed(1)}`;
  const lives = [...new Set(samples.map(({ life }) => life))];
  const lines = lives.map((life) => {
    const points = samples.filter((sample) => sample.life === life).map(point);
    return `<polyline fill="none" stroke="#1f5f8b" stroke-width="1.5" points="${points.join(" ")}"/>`;
  });
  return `<text y="-8">${name}</text>
<path d="M0 0V${panelHeight}H${panelWidth}" fill="none" stroke="#888"/>
<text x="-6" y="10" text-anchor="end">${rounded(top)}</text><text x="-6" y="${panelHeight}" text-anchor="end">0</text>
<text x="${panelWidth}" y="${panelHeight + 16}" text-anchor="end">${(end / 60).toFixed(1)} min</text>
${lines.join("\n")}`;
}

function rounded(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}
