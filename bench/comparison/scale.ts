/** The scale curve: the same requests while there are ten, a hundred, a thousand times as many resources. */
import type { Effort } from "../harness/effort.ts";
import { median } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { originOf, stopServer } from "../harness/server.ts";
import type { Opponent } from "../opponents/opponent.ts";
import type { Progress } from "../report/progress.ts";
import type { Results, ScalePoint } from "../report/results.ts";
import { makeData } from "./data.ts";
import { measure } from "./measure.ts";
import { scenarioOf } from "./scenarios.ts";
import { type Subject, startSubject } from "./subject.ts";
import { witnessOf } from "./witness.ts";

const curved = ["holdfast", "express-sqlite"];
const curvedThoroughly = [...curved, "holdfast-postgres"];
const asked = ["read", "cold", "filtered", "create"];

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
  const names = effort.name === "thorough" ? curvedThoroughly : curved;
  return { effort, opponents: opponents.filter(({ name }) => names.includes(name)), sizes };
}

/** How many steps it takes. */
export function countSteps({ effort, opponents, sizes }: Omit<Scale, "progress">): number {
  return sizes.length * opponents.length * (asked.length + 1) * effort.rounds;
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
    const task = {
      scenario: scenarioOf(name),
      data,
      ids: name === "cold" ? data.ids : everyOther(data.ids, 10_000),
      connections: 64,
      effort,
      loadCpu: 1,
      witness,
    };
    const cells = await measure(subjects, task);
    results.scale.push(
      ...cells.map(({ subject, perSecond, rounds = [] }) => ({
        subject,
        resources: size,
        what: name,
        perSecond,
        rounds: rounds.map((round) => round.perSecond),
      })),
    );
  }
  results.scale.push(...(await measureWalks(subjects, size, { effort, progress })));
  for (const { server } of subjects) await stopServer(server);
}

/** Walks through the collection of each subject, in turn. */
async function measureWalks(
  subjects: readonly Subject[],
  size: number,
  { effort, progress }: Pick<Scale, "effort" | "progress">,
): Promise<ScalePoint[]> {
  const walks = subjects.map((): number[] => []);
  for (let round = 0; round < effort.rounds; round++) {
    for (const [n, subject] of subjects.entries()) {
      walks[n]?.push(await walk(subject, effort.durationMs));
      progress.step(`walk through ${size.toLocaleString("en")}: ${subject.name}`);
    }
  }
  return subjects.map(({ name }, n) => {
    const rounds = walks[n] ?? [];
    return { subject: name, resources: size, what: "walk", perSecond: median(rounds), rounds };
  });
}

/** This number of items, evenly spread over all. */
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
    const headers = { "Accept-Encoding": "identity" }; // not every subject compresses
    const answer = await fetch(new URL(path, originOf(server)), { headers });
    walked += ((await answer.json()) as unknown[]).length;
    path = /<([^>]*)>; rel="?next"?/.exec(answer.headers.get("link") ?? "")?.[1];
  }
  return walked / ((performance.now() - begin) / 1000);
}
