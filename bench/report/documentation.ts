/** Keeps the figures of the documentation those of a results file: between two marks stands what is made here. */
import { basename } from "node:path";
import type { Results } from "./results.ts";
import { toMarkdown } from "./table.ts";
import { tables } from "./tables.ts";

/** The page with the figures. */
export const page = "docs/explanation/performance.md";

/** The folder of the charts that the page shows. */
export const chartsFolder = "docs/explanation/performance";

const block = /<!-- figures: ([a-z]+) -->\n[\s\S]*?<!-- end -->/g;

/** The page with the figures of the results. Throws where it has a mark that nobody knows. */
export function fillIn(text: string, results: Results, file: string): string {
  return text.replace(block, (_, name: string) => {
    const content = contentOf(name, results, file);
    return `<!-- figures: ${name} -->\n\n${content}\n\n<!-- end -->`;
  });
}

/** The results file that the page was made from. */
export function resultsFileOf(text: string): string | undefined {
  return /`(bench\/results\/[^`]+\.json)`/.exec(text)?.[1];
}

function contentOf(name: string, results: Results, file: string): string {
  if (name === "conditions") return conditions(results, file);
  if (!Object.hasOwn(tables, name))
    throw new Error(`${page} asks for the table "${name}", which there is not`);
  const table = tables[name as keyof typeof tables](results);
  return table.rows.length === 0 ? "Nothing was measured." : toMarkdown(table);
}

function conditions({ date, commit, effort, load, machine }: Results, file: string): string {
  const { processor, processors, memoryGb, system, node, busy } = machine;
  const lines = [
    `- measured on ${date} at commit ${commit}, effort "${effort}", kept in \`bench/results/${basename(file)}\``,
    `- ${processors} × ${processor}, ${memoryGb} GB, ${system}, Node ${node}`,
    `- load by ${load}, on a processor of its own; each server on one other`,
  ];
  if (busy > 0.3)
    lines.push(
      `- **the machine was busy with other work** (load average ${busy} for each processor): these figures only show the form`,
    );
  return lines.join("\n");
}
