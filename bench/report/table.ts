/** A table, for the terminal and for the documentation. */
export interface Table {
  title: string;
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

/** As lines of text, the first column to the left and figures to the right. */
export function toText({ title, head, rows }: Table): string {
  const widths = head.map((_, n) => Math.max(...[head, ...rows].map((row) => (row[n] ?? "").length)));
  const line = (row: readonly string[]) =>
    row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join("  ");
  return `\n${title}\n${[head, ...rows].map((row) => `  ${line(row).trimEnd()}`).join("\n")}\n`;
}

/** As Markdown. */
export function toMarkdown({ head, rows }: Table): string {
  const line = (row: readonly string[]) =>
    `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = `|${head.map((_, n) => (n === 0 ? "---" : "--:")).join("|")}|`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}
