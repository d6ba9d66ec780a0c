/** Writes the figures of a results file into the documentation, between marks. */
import { basename } from "node:path";
import { loop } from "./cells.ts";
import type { Results } from "./results.ts";
import { toMarkdown } from "./table.ts";
import { tables } from "./tables.ts";

/** The page for users. */
export const page = "docs/explanation/performance.md";

/** The pages with figures: the one for users, and the one for people who work on the project. */
export const pages = [page, "bench/README.md"];

const block = /<!-- figures: ([a-z]+) -->\n[\s\S]*?<!-- end -->/g;

/** The page with the figures of the results. Throws if it has an unknown mark. */
export function fillIn(text: string, results: Results, file: string): string {
  return text.replace(block, (_, name: string) => {
    const content = contentOf(name, results, file);
    return `<!-- figures: ${name} -->\n\n${content}\n\n<!-- end -->`;
  });
}

/** The fewest rounds that the page may show: fewer say little about the spread. */
export const fewestRounds = 5;

/** Throws if a ratio on the page would come from fewer rounds than `fewestRounds`. */
export function requireRounds({ cells, scale }: Results): void {
  const rounds = roundsOf(cells, scale);
  if (rounds >= fewestRounds) return;
  const have = rounds === 0 ? "no rounds" : `${rounds} rounds`;
  throw new Error(
    `The results have ${have}, and ${page} needs at least ${fewestRounds}. Run: npm run bench -- comparison scale`,
  );
}

/** The fewest rounds of all that was measured in turn. */
function roundsOf(cells: Results["cells"], scale: Results["scale"]): number {
  const inTurn = [...cells.filter(({ subject }) => subject !== loop), ...scale];
  return inTurn.length === 0 ? 0 : Math.min(...inTurn.map(({ rounds = [] }) => rounds.length));
}

/** The results file that the page was made from. */
export function resultsFileOf(text: string): string | undefined {
  return /`(bench\/results\/[^`]+\.json)`/.exec(text)?.[1];
}

function contentOf(name: string, results: Results, file: string): string {
  if (name === "conditions") return conditions(results, file);
  if (!Object.hasOwn(tables, name))
    throw new Error(`a page contains the table "${name}", which does not exist`);
  const table = tables[name as keyof typeof tables](results);
  if (table.rows.length > 0) return toMarkdown(table);
  return name === "absent" ? "The last run measured everything." : "The last run did not measure this.";
}

function conditions(results: Results, file: string): string {
  const { date, commit, effort, load, machine, cells, scale } = results;
  const { processor, processors, memoryGb, system, node } = machine;
  const rounds = roundsOf(cells, scale);
  return [
    `- **Rounds:** ${rounds === 0 ? "only the medians of this run were kept, so its ratios have no brackets" : `${rounds} for each ratio`}.`,
    `- **Other work:** ${otherWork(machine)}`,
    `- **Machine:** ${processors} × ${processor}, ${memoryGb} GB, ${system}, Node ${node}.`,
    `- **Load:** ${load}, on one processor. Each server runs alone on another. With all processors, the load uses the same processors.`,
    `- **Run:** ${date}, commit ${commit}, effort "${effort}". All figures: \`bench/results/${basename(file)}\`.`,
  ].join("\n");
}

/** Up to this load average for each processor, the machine does little else. */
const quiet = 0.1;

function otherWork({ busy }: Results["machine"]): string {
  const average = `(load average ${busy} per processor)`;
  if (busy <= quiet) return `the machine ran almost nothing else ${average}.`;
  return `the machine also ran other work ${average}, so read only the ratios.`;
}
