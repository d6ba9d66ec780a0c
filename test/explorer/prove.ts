/** Explores power cuts until 200,000 images have been judged. The results of each session are saved, so a later run continues. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sourceVersion } from "../source-version.ts";
import { whyNoTrace } from "../strace.ts";
import { givenThreads } from "../threads/count.ts";
import { firstLoss } from "./controls.ts";
import { type Sabotage, sabotages } from "./sabotage.ts";
import { saveBad } from "./saved.ts";
import { exploreImages, recordSession, sessionOf } from "./session.ts";

const imagesOfSession = 500;

/** Starts of the store on an image of a session, during which the power fails again. */
const startsOfSession = 3;

/** Sessions of 500 images each: 200,000 images, unless HOLDFAST_TEST_RUNS says otherwise. */
const aim = Number(process.env.HOLDFAST_TEST_RUNS ?? 400) * imagesOfSession;
const folder = "test-results";

/** What one session found, or a control. */
type Result = { seed: number; images: number; bad: number } | { control: string; images: number };

/**
 * Whether every image is right, and those of faulty builds are not. Controls and sessions of the same sources count, whenever they
 * ran. When the signal aborts, it throws at the next image: the results of everything before are saved.
 */
export async function proveNoPowerLoss(signal: AbortSignal): Promise<boolean> {
  const why = whyNoTrace();
  if (why !== false) throw new Error(`The explorer ${why}.`);
  mkdirSync(folder, { recursive: true });
  const ofThreads = givenThreads === undefined ? "" : `-threads-${givenThreads}`;
  const version = sourceVersion("src", "test/explorer");
  const file = join(folder, `explorer-${version}${ofThreads}.ndjson`);
  const results = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(parse) : [];
  const keep = (result: Result) => {
    results.push(result);
    appendFileSync(file, `${JSON.stringify(result)}\n`);
  };
  const found = new Set(results.map((result) => "control" in result && result.control));
  for (const sabotage of sabotages.filter(({ name }) => !found.has(name))) {
    const control = await proveControl(sabotage, signal);
    if (control === undefined) return false;
    keep(control);
  }
  const begin = performance.now();
  for (;;) {
    const sessions = results.filter((result) => "seed" in result);
    const sum = (of: "images" | "bad") => sessions.reduce((total, result) => total + result[of], 0);
    const minutes = ((performance.now() - begin) / 60_000).toFixed(0);
    console.log(`${sum("images")} of ${aim} images, ${sum("bad")} bad, ${minutes} minutes`);
    if (sum("images") >= aim) return sum("bad") === 0;
    keep(await proveSession((sessions.at(-1)?.seed ?? 0) + 1, signal));
  }
}

async function proveControl(sabotage: Sabotage, signal: AbortSignal): Promise<Result | undefined> {
  const loss = await firstLoss(sabotage, signal);
  if (loss === undefined) {
    console.error(`${sabotage.name}: the explorer does not find this fault.`);
    return undefined;
  }
  const { images, bad } = loss.findings;
  console.log(`${sabotage.name}: image ${images} of seed ${loss.seed} is bad: ${bad[0]?.faults[0]}`);
  return { control: sabotage.name, images };
}

async function proveSession(seed: number, signal: AbortSignal): Promise<Result> {
  const recording = await recordSession(sessionOf(seed), { signal });
  const exploration = { seed, images: imagesOfSession, starts: startsOfSession };
  const findings = await exploreImages(recording, exploration, signal);
  const { images, bad } = findings;
  if (bad.length > 0) console.error(saveBad({ recording, exploration }, findings));
  return { seed, images, bad: bad.length };
}

const parse = (line: string) => JSON.parse(line) as Result;
