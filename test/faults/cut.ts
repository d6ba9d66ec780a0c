/** Judges a cut of tests: finds the mutants that only these tests notice. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { startPostgres } from "../postgres/server.ts";
import { jobsOf, testFileOf } from "../runner/names.ts";
import { generator } from "../seed.ts";
import { type Coverage, coverageOf, covers } from "./coverage.ts";
import { type Mutant, mutantsOf } from "./mutants.ts";
import { besideOthers } from "./noticed.ts";
import { readSources, type Sources } from "./replacements.ts";
import { type Run, runFile } from "./run.ts";

/** The tests of a cut: a whole file, or only those whose titles match the pattern. */
interface Cut {
  file: string;
  pattern: string | undefined;
}

/** One file that runs, with the flags that choose its tests. */
interface Part extends Cut {
  flags: readonly string[];
  coverage: Coverage;
}

/** If more of the other files cover a place, one of them probably notices its mutants. */
const mostOthers = Number(process.env.HOLDFAST_TEST_OTHERS ?? 3);

const mostMutants = Number(process.env.HOLDFAST_TEST_MUTANTS ?? 200);

/**
 * Makes mutants of the code that some tests cover, and at most a few other files of `npm test`. Prints each mutant that these tests notice
 * and the others do not, and returns whether there is none. It is a random choice if there are many. Throws if the signal aborts.
 *
 * | variable | meaning |
 * |---|---|
 * | HOLDFAST_TEST_CUT | the tests: subjects of files with commas between them, each perhaps with `#` and a pattern of titles |
 * | HOLDFAST_TEST_BESIDE | subjects of files in other tiers, which count as others too |
 * | HOLDFAST_TEST_OTHERS | the largest number of other files that cover a mutant. Without it, 3 |
 * | HOLDFAST_TEST_MUTANTS | the largest number of mutants. Without it, 200 |
 */
export async function proveCut(signal: AbortSignal): Promise<boolean> {
  const cuts = readCuts(process.env.HOLDFAST_TEST_CUT ?? "");
  if (cuts.length === 0) {
    console.log("HOLDFAST_TEST_CUT names no tests, such as test/http/create.");
    return true;
  }
  const server = await startPostgres();
  const env = { HOLDFAST_TEST_STARTED_POSTGRES: server.url };
  try {
    const gone = await partsOf(cuts, flagsOf, env);
    const others = await partsThatStay(cuts, env);
    const sources = readSources();
    const all = Object.keys(Object.assign({}, ...gone.map(({ coverage }) => coverage)));
    const mutants = all.flatMap((file) => mutantsOf(file, sources.get(file) ?? ""));
    const coveredBy = (parts: readonly Part[], { file, start }: Mutant) =>
      parts.filter(({ coverage }) => covers(coverage, file, start));
    const judged = mutants
      .map((mutant) => ({
        mutant,
        gone: coveredBy(gone, mutant),
        others: coveredBy(others, mutant),
      }))
      .filter((each) => each.gone.length > 0 && each.others.length <= mostOthers);
    const some = choose(judged, mostMutants);
    console.log(
      `${judged.length} mutants of what at most ${mostOthers} other files cover; ${some.length} of them run`,
    );
    let noticed = 0;
    let lost = 0;
    await besideOthers(some, async ({ mutant, gone, others }) => {
      const how = { replacements: [replacementOf(mutant, sources)], env, signal };
      if (!(await isNoticed(gone, how))) return;
      noticed++;
      if (await isNoticed(others, how)) return;
      lost++;
      const names = others.map(({ file }) => file).join(", ");
      console.log(
        `${mutant.file} ${mutant.what} (${names === "" ? "nothing else covers it" : `covered by ${names}`})`,
      );
    });
    console.log(`The tests notice ${noticed} of these mutants. Only they notice ${lost}.`);
    return lost === 0;
  } finally {
    await server.remove();
  }
}

function readCuts(text: string): Cut[] {
  return text
    .split(",")
    .filter((each) => each !== "")
    .map((each) => {
      const [subject = "", pattern] = each.split("#");
      return { file: testFileOf(subject), pattern };
    });
}

const flagsOf = ({ pattern }: Cut) => (pattern === undefined ? [] : [`--test-name-pattern=${pattern}`]);

/** The parts with their coverage. Prints the tests that fail alone, because they need earlier ones of their file, and leaves them out. */
async function partsOf(
  cuts: readonly Cut[],
  flagsFor: (cut: Cut) => readonly string[],
  env: Run["env"],
): Promise<Part[]> {
  const found = await besideOthers(cuts, async (cut): Promise<Part[]> => {
    const flags = flagsFor(cut);
    try {
      return [{ ...cut, flags, coverage: await coverageOf(cut.file, env, flags) }];
    } catch (error) {
      console.error(`Left out, because it fails alone: ${(error as Error).message}`);
      return [];
    }
  });
  return found.flat();
}

/** All other files of `npm test`, and the tests that stay in the files of which some are cut. The first call takes minutes. */
async function partsThatStay(cuts: readonly Cut[], env: Run["env"]): Promise<Part[]> {
  const more = readCuts(process.env.HOLDFAST_TEST_BESIDE ?? "");
  const whole = [...jobsOf("test"), ...more].filter(({ file }) => cuts.every((cut) => cut.file !== file));
  const cache = `test-results/coverage-${digestOf(readSources())}`;
  mkdirSync(cache, { recursive: true });
  const others = await besideOthers(whole, async ({ file }) => {
    const path = `${cache}/${file.replaceAll("/", "_")}.json`;
    if (!existsSync(path)) writeFileSync(path, JSON.stringify(await coverageOf(file, env)));
    return { file, pattern: undefined, flags: [], coverage: JSON.parse(readFileSync(path, "utf8")) };
  });
  const rests = cuts.filter(({ pattern }) => pattern !== undefined);
  const flagsOfRest = ({ pattern }: Cut) => [`--test-skip-pattern=${pattern}`];
  return [...(await partsOf(rests, flagsOfRest, env)), ...others];
}

function digestOf(sources: Sources): string {
  return createHash("sha256")
    .update(JSON.stringify([...sources]))
    .digest("hex")
    .slice(0, 16);
}

/** A file of `npm test` that takes longer with a mutant hangs. Without one, it takes seconds. */
const longestMs = 120_000;

async function isNoticed(parts: readonly Part[], how: Pick<Run, "replacements" | "env" | "signal">) {
  for (const { file, flags } of parts)
    if ((await runFile({ file, flags, longestMs, ...how })).how !== "passes") return true;
  return false;
}

/** A replacement of the whole source. */
function replacementOf({ file, start, end, replacement }: Mutant, sources: Sources): [string, string] {
  const source = sources.get(file) ?? "";
  return [source, source.slice(0, start) + replacement + source.slice(end)];
}

/** At most so many, without an order. */
function choose<T>(all: readonly T[], most: number): T[] {
  const random = generator();
  return all
    .map((each) => ({ each, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .slice(0, most)
    .map(({ each }) => each);
}
