/** Writes the tables of the reference that the code knows: error codes, options and metrics. Run: npm run reference */
import { readFileSync, writeFileSync } from "node:fs";
import { loadCapabilities } from "../src/capabilities/all.ts";
import { longFlagOf, options } from "../src/config/options.ts";
import { problems } from "../src/errors.ts";
import { families } from "../src/observe/families.ts";
import type { Family } from "../src/observe/metrics-source.ts";
import type { Option } from "../src/option.ts";

const code = (text: string | undefined) => (text === undefined ? "" : `\`${text}\``);

const allFamilies: Readonly<Record<string, Family>> = Object.assign(
  {},
  families,
  ...(await loadCapabilities()).map((each) => each.families),
);

/** The tables, by page. The first row is the head, and tells a table from the others of its page. */
const tables: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "docs/reference/errors.md": [
    ["code", "status", "meaning"],
    ...Object.entries(problems).map(([name, { status, meaning }]) => [code(name), String(status), meaning]),
  ],
  "docs/reference/configuration.md": [
    ["option", "flag", "environment", "default", "what it is"],
    ...Object.entries<Option<unknown>>(options).map(([name, option]) => [
      code(name),
      code(longFlagOf(option)),
      code(option.env),
      option.shownDefault,
      option.about,
    ]),
  ],
  "docs/reference/metrics.md": [
    ["metric", "type", "labels", "what it is"],
    ...Object.entries(allFamilies).map(([name, { type, labels, help }]) => [
      code(name),
      type,
      labels.map(code).join(", "),
      help,
    ]),
  ],
};

/** The pages that differ from the code, and what each must contain. Throws Error if a page has no such table. */
export function outdatedPages(): ReadonlyMap<string, string> {
  const pages = Object.entries(tables).map(([path, [head = [], ...rows]]): [path: string, text: string] => {
    const lines = readFileSync(path, "utf8").split("\n");
    const start = lines.indexOf(rowOf(head)) + 2;
    if (start === 1) throw new Error(`${path} has no table with the head ${rowOf(head)}`);
    const end = lines.findIndex((line, n) => n >= start && !line.startsWith("|"));
    return [path, lines.toSpliced(start, end - start, ...rows.map(rowOf)).join("\n")];
  });
  return new Map(pages.filter(([path, text]) => text !== readFileSync(path, "utf8")));
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

if (import.meta.main) for (const [path, text] of outdatedPages()) writeFileSync(path, text);
