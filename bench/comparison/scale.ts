/** The scale curve: the same requests while there are ten, a hundred, a thousand times as many resources. */
import type { Effort } from "../harness/effort.ts";
import { inFolder } from "../harness/folder.ts";
import { originOf, stopServer } from "../harness/server.ts";
import type { Opponent } from "../opponents/opponent.ts";
import type { Progress } from "../report/progress.ts";
import type { Results } from "../report/results.ts";
import { makeData } from "./data.ts";
import { measure } from "./measure.ts";
import { scenarioOf } from "./scenarios.ts";
import { type Subject, startSubject } from "./subject.ts";
import { witnessOf } from "./witness.ts";

const curved = ["holdfast", "holdfast-postgres", "express-sqlite"];
const asked = ["read", "filtered", "create"];

/** Whose curves, and how far. */
export interface Scale {
  effort: Effort;
  opponents: readonly Opponent[];
  sizes: readonly number[];
  progress: Progress;
}

/** The curve of those that have one. */
export function scaleOf(
  effort: Effort,
  opponents: readonly Opponent[],
  isLong: boolean,
): Omit<Scale, "progress"> {
  const sizes = [10_000, 100_000, 1_000_000, ...(isLong ? [10_000_000] : [])];
  return { effort, opponents: opponents.filter(({ name }) => curved.includes(name)), sizes };
}

/** How many steps it takes. */
export function countSteps({ effort, opponents, sizes }: Omit<Scale, "progress">): number {
  return sizes.length * opponents.length * (asked.length * effort.rounds + 1);
}

/** Adds the points of the curves. */
export async function measureScale(scale: Scale, results: Results): Promise<void> {
  for (const size of scale.sizes) await inFolder(async (folder) => measureSize(folder, size, scale, results));
}

async function measureSize(
  folder: string,
  size: number,
  { effort, opponents, progress }: Scale,
  results: Results,
): Promise<void> {
  const data = await makeData(`${folder}/articles.ndjson`, size, 300);
  const subjects: Subject[] = [];
  for (const opponent of opponents) {
    progress.say(`${opponent.title} is filled with ${size.toLocaleString("en")} articles`);
    subjects.push(await startSubject(opponent, folder, data, { cpu: 0 }));
  }
  for (const name of asked) {
    const witness = witnessOf(progress, results, `${name} of ${size.toLocaleString("en")}`);
    const scattered = { ...data, ids: everyOther(data.ids, 10_000) };
    const task = {
      scenario: scenarioOf(name),
      data: scattered,
      connections: 64,
      effort,
      loadCpu: 1,
      witness,
    };
    const cells = await measure(subjects, task);
    results.scale.push(
      ...cells.map(({ subject, perSecond }) => ({ subject, resources: size, what: name, perSecond })),
    );
  }
  for (const subject of subjects) {
    const perSecond = await walk(subject, effort.durationMs);
    progress.step(`walk through ${size.toLocaleString("en")}: ${subject.name}`);
    results.scale.push({ subject: subject.name, resources: size, what: "walk", perSecond });
    await stopServer(subject.server);
  }
}

/** So many of all, from everywhere among them. */
function everyOther(ids: readonly string[], count: number): string[] {
  const step = Math.max(1, Math.floor(ids.length / count));
  return Array.from({ length: Math.min(count, ids.length) }, (_, n) => ids[n * step] as string);
}

/** Follows the links from page to page, one after the other, for a time: resources per second. */
async function walk({ server, says }: Subject, durationMs: number): Promise<number> {
  const begin = performance.now();
  let walked = 0;
  let path = says.walk;
  while (path !== undefined && performance.now() - begin < durationMs) {
    const answer = await fetch(new URL(path, originOf(server)));
    walked += ((await answer.json()) as unknown[]).length;
    path = /<([^>]*)>; rel="?next"?/.exec(answer.headers.get("link") ?? "")?.[1];
  }
  return walked / ((performance.now() - begin) / 1000);
}
