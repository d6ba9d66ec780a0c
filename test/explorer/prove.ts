/** Explores power cuts until 200,000 images have been judged. The results of each session are saved, so a later run continues. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sourceVersion } from "../source-version.ts";
import { whyNoTrace } from "../strace.ts";
import { givenThreads } from "../threads/count.ts";
import { firstLoss } from "./controls.ts";
import { sabotages } from "./sabotage.ts";
import { saveBad } from "./saved.ts";
import { checkpointSession, exploreImages, randomLives, recordSession } from "./session.ts";

const imagesOfSession = 500;

/** Requests of a session: enough for some restarts, few enough that images stay small. */
const requests = 150;

/** Every fourth session has checkpoints in the middle of the load. */
const checkpointEvery = 4;

/** Sessions of 500 images each: 200,000 images, unless HOLDFAST_RUNS says otherwise. */
const aim = Number(process.env.HOLDFAST_RUNS ?? 400) * imagesOfSession;
const folder = "test-results";

/** What one session found. */
interface Result {
  seed: number;
  images: number;
  bad: number;
}

/**
 * Whether every image is right, and those of faulty builds are not. Sessions of the same sources count, whenever they ran. When the
 * signal aborts, it throws at the next image: the results of all sessions before are saved.
 */
export async function proveNoPowerLoss(signal: AbortSignal): Promise<boolean> {
  const why = whyNoTrace();
  if (why !== false) throw new Error(`The explorer ${why}.`);
  for (const sabotage of sabotages) {
    const loss = await firstLoss(sabotage, signal);
    if (loss === undefined) {
      console.error(`${sabotage.name}: the explorer does not find this fault.`);
      return false;
    }
    const { images, bad } = loss.findings;
    console.log(`${sabotage.name}: image ${images} of seed ${loss.seed} is bad: ${bad[0]?.faults[0]}`);
  }
  mkdirSync(folder, { recursive: true });
  const ofThreads = givenThreads === undefined ? "" : `-threads-${givenThreads}`;
  const file = join(folder, `explorer-${sourceVersion("src")}${ofThreads}.ndjson`);
  const results = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(parse) : [];
  const begin = performance.now();
  while (sum(results, "images") < aim) {
    results.push(await proveSession((results.at(-1)?.seed ?? 0) + 1, signal));
    appendFileSync(file, `${JSON.stringify(results.at(-1))}\n`);
    const minutes = ((performance.now() - begin) / 60_000).toFixed(0);
    console.log(`${sum(results, "images")} of ${aim} images, ${sum(results, "bad")} bad, ${minutes} minutes`);
  }
  return sum(results, "bad") === 0;
}

async function proveSession(seed: number, signal: AbortSignal): Promise<Result> {
  const ordinary = { seed, texts: "mixed", lives: randomLives(seed, requests) } as const;
  const session = seed % checkpointEvery === 0 ? checkpointSession(seed) : ordinary;
  const recording = await recordSession(session, { signal });
  const exploration = { seed, images: imagesOfSession };
  const findings = await exploreImages(recording, exploration, signal);
  const { images, bad } = findings;
  if (bad.length > 0) console.error(saveBad({ recording, exploration }, findings));
  return { seed, images, bad: bad.length };
}

const parse = (line: string) => JSON.parse(line) as Result;

const sum = (results: readonly Result[], of: "images" | "bad") =>
  results.reduce((total, result) => total + result[of], 0);
