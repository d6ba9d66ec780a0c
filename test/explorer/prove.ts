/** Explores power cuts until 200,000 images have been judged. What each session found is kept, so that a later run goes on. */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { whyNoTrace } from "../strace.ts";
import { runSession } from "./session.ts";

const imagesOfSession = 500;

/** Sessions of 500 images each: 200,000 images, unless HOLDFAST_RUNS says otherwise. */
const aim = Number(process.env.HOLDFAST_RUNS ?? 400) * imagesOfSession;
const folder = "test-results";

/** What one session found. */
interface Result {
  seed: number;
  images: number;
  bad: number;
}

/** Builds with a fault, whose losses the explorer must find. */
const faultyBuilds = ["no-flush", "late-flush", "separate-heads"];

/** Gives whether the explorer finds the losses of a build with a fault, in a few sessions. */
async function findsLosses(patch: string): Promise<boolean> {
  let images = 0;
  for (let seed = 1; seed <= 10; seed++) {
    const findings = await runSession(seed, 200, `test/explorer/sabotage/${patch}.patch`);
    images += findings.images;
    if (findings.bad.length === 0) continue;
    console.log(
      `${patch}: ${findings.bad.length} of ${images} images are bad, such as: ${findings.bad[0]?.faults[0]}`,
    );
    return true;
  }
  console.error(`${patch}: all ${images} images are sound, so the explorer does not see this fault`);
  return false;
}

/** Gives whether every image is sound, and those of faulty builds are not. Sessions of the same sources count, whenever they ran. */
export async function proveNoPowerLoss(): Promise<boolean> {
  const why = whyNoTrace();
  if (why !== false) throw new Error(`The explorer ${why}.`);
  for (const patch of faultyBuilds) if (!(await findsLosses(patch))) return false;
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `explorer-${sourceVersion()}.ndjson`);
  const results = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(parse) : [];
  const begun = performance.now();
  while (sum(results, "images") < aim) {
    const seed = (results.at(-1)?.seed ?? 0) + 1;
    const { images, bad } = await runSession(seed, imagesOfSession);
    results.push({ seed, images, bad: bad.length });
    appendFileSync(file, `${JSON.stringify(results.at(-1))}\n`);
    for (const { at, survival, faults } of bad.slice(0, 3))
      console.error(
        `seed ${seed}, power cut after event ${at}, on the disk: ${survival}: ${faults.join("; ")}`,
      );
    const minutes = ((performance.now() - begun) / 60_000).toFixed(0);
    console.log(`${sum(results, "images")} of ${aim} images, ${sum(results, "bad")} bad, ${minutes} minutes`);
  }
  return sum(results, "bad") === 0;
}

const parse = (line: string) => JSON.parse(line) as Result;

const sum = (results: readonly Result[], of: "images" | "bad") =>
  results.reduce((total, result) => total + result[of], 0);

/** The version of what is explored: the committed sources. */
function sourceVersion(): string {
  return execFileSync("git", ["rev-parse", "--short", "HEAD:src"], { encoding: "utf8" }).trim();
}
