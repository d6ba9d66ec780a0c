/** Proves that the tests notice faults: each fault is put into a copy of this project, and a test must fail there. */
import { hash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { testFiles } from "../project.ts";
import { sourceVersion } from "../source-version.ts";
import { copyRunnable, copyWithFault, readSources, replaceIn } from "./copy.ts";
import { type Fault, faults } from "./faults.ts";
import { type End, runTestFile } from "./run.ts";

/** A fault, and the test file that has noticed it. */
interface Noticed {
  fault: string;
  /** The digest of its description: another text is another fault. */
  digest: string;
  file: string;
  end: End;
  seconds: number;
}

/**
 * Returns whether a test notices each fault. What was noticed with the same sources counts, whenever that was. When the signal aborts,
 * it throws before the next fault.
 */
export async function proveFaultsNoticed(signal: AbortSignal): Promise<boolean> {
  const sources = readSources();
  for (const { replacements } of faults) replaceIn(sources, replacements);
  const results = openResults();
  const sound = await mkdtemp(join(tmpdir(), "holdfast-sound-"));
  try {
    await copyRunnable(sound);
    const search = createSearch(sound);
    const keepsEscaping = async (fault: Fault, files: readonly string[]) => {
      signal.throwIfAborted();
      const noticed = await search(fault, files);
      if (noticed !== undefined) results.add(noticed);
      return noticed === undefined;
    };
    const escaping = async (some: readonly Fault[], filesOf: (fault: Fault) => readonly string[]) => {
      const waiting = [...some];
      const escaped: Fault[] = [];
      const searchWaiting = async () => {
        for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift())
          if (await keepsEscaping(fault, filesOf(fault))) escaped.push(fault);
      };
      await Promise.all(Array.from({ length: availableParallelism() }, searchWaiting));
      return escaped;
    };
    const left = faults.filter((each) => !results.has(each));
    const escaped = await escaping(left, ({ noticedBy }) => [noticedBy]);
    const unnoticed = (await escaping(escaped, ({ noticedBy }) => otherThan(noticedBy))).length;
    console.log(`${faults.length - unnoticed} of ${faults.length} faults are noticed`);
    return unnoticed === 0;
  } finally {
    await rm(sound, { recursive: true });
  }
}

/** The results with the present sources. They are kept in a file. */
function openResults(): { has(fault: Fault): boolean; add(noticed: Noticed): void } {
  const folder = "test-results";
  const file = join(folder, `faults-${sourceVersion("src", "client", "react-admin")}.ndjson`);
  mkdirSync(folder, { recursive: true });
  const known = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(parse) : [];
  return {
    has: (fault) => known.some((each) => each.fault === fault.name && each.digest === digestOf(fault)),
    add: (noticed) => appendFileSync(file, `${JSON.stringify(noticed)}\n`),
  };
}

const parse = (line: string) => JSON.parse(line) as Noticed;

const digestOf = (fault: Fault) => hash("sha256", JSON.stringify(fault), "base64url").slice(0, 12);

/** All other test files. The test of the faults fails with every fault, and the test of the size with a long one. */
function otherThan(file: string): string[] {
  const others = testFiles().filter((each) => each !== file && each !== "test/size");
  return others.filter((each) => !each.startsWith("test/faults/"));
}

/** Runs test files with a fault until one notices it: one that does not pass, but does so in the copy `sound`. */
function createSearch(
  sound: string,
): (fault: Fault, files: readonly string[]) => Promise<Noticed | undefined> {
  const ends = new Map<string, Promise<End>>();
  const passesWithout = async (file: string, store: Fault["store"]) => {
    const key = `${file} ${store}`;
    const end = ends.get(key) ?? runTestFile(file, sound, store);
    ends.set(key, end);
    return (await end) === "passes";
  };
  return async (fault, files) => {
    const copy = await mkdtemp(join(tmpdir(), "holdfast-fault-"));
    try {
      await copyWithFault(fault.replacements, copy);
      for (const file of files) {
        const since = performance.now();
        const end = await runTestFile(file, copy, fault.store);
        if (end === "passes") continue;
        const seconds = Math.round((performance.now() - since) / 1_000);
        if (await passesWithout(file, fault.store)) {
          console.log(`${fault.name}: ${file} ${end} after ${seconds} s`);
          return { fault: fault.name, digest: digestOf(fault), file, end, seconds };
        }
        console.error(`${fault.name}: ${file} does not count, because it ${end} without the fault too`);
      }
      console.error(`${fault.name} escapes ${files.length === 1 ? files[0] : "all tests"}: ${fault.what}`);
      return undefined;
    } finally {
      await rm(copy, { recursive: true });
    }
  };
}
