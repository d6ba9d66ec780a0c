/** Runs a test file with a fault in memory. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { enableCompileCache } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { bundlePrograms } from "../runner/bundles.ts";
import type { Message } from "../runner/process.ts";
import { patternOf } from "../runner/results.ts";
import { commonJsOf, packSources } from "./packed.ts";
import { type Replacements, readSources, replaceIn } from "./replacements.ts";

/** What runs. */
export interface Run {
  file: string;
  /** The title of the only test that runs. @default all tests of the file */
  test?: string;
  /** More flags of Node. */
  flags?: readonly string[];
  /** The fault. @default none */
  replacements?: Replacements;
  /** The store that the file runs on. @default SQLite */
  store?: "postgres" | undefined;
  env?: Readonly<Record<string, string>>;
  /** After so many milliseconds it counts as one that hangs. @default more than any file takes */
  longestMs?: number;
  signal?: AbortSignal | undefined;
}

/** How a run ended. */
export interface End {
  /**
   * `fails`: a test has failed. `breaks`: the file has failed as a whole, for example because it does not load. `dies`: its process has
   * ended before its last test. `hangs`: it took much longer than it can take.
   */
  how: "passes" | "fails" | "breaks" | "dies" | "hangs";
  /** Whether `test` has begun. */
  hasBegun: boolean;
  /** The reasons of skipped tests. */
  skipped: readonly string[];
  /** The title and the error of the first test that failed. */
  failed: string | undefined;
  error: string | undefined;
}

/** How long a test can wait for a state, how long it can take, and how long a run can take, in milliseconds. */
interface Ceilings {
  wait: number;
  test: number;
  run: number;
}

/** Without a fault, nothing hangs, and a busy machine needs minutes for the longest file. */
const patient: Ceilings = { wait: 300_000, test: 600_000, run: 900_000 };

/** With a fault, a test that must fail often waits in vain. If the machine is so busy that a sound test would too, a fault is not found out. */
const impatient: Ceilings = { wait: 10_000, test: 30_000, run: 60_000 };

const { directory: compiled } = enableCompileCache();
const sources = readSources();
const bundled = await bundlePrograms();
let packing: Promise<void> | undefined;

/**
 * Runs a file until a test fails. What it starts is in one process group, and its temporary files are in one folder, so that nothing of it
 * stays. Throws if the signal aborts.
 */
export async function runFile(run: Run): Promise<End> {
  run.signal?.throwIfAborted();
  packing ??= packSources(sources);
  await packing;
  const temporary = await mkdtemp(join(tmpdir(), "holdfast-fault-"));
  await chmod(temporary, 0o1777); // some tests run programs as another user
  try {
    const end = await runProcess(run, temporary);
    run.signal?.throwIfAborted();
    return end;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function runProcess(
  { file, test, flags = [], replacements, store, env, longestMs, signal }: Run,
  temporary: string,
) {
  const pattern = test === undefined ? [] : [`--test-name-pattern=^${patternOf(test)}`];
  const ofTest = replacements === undefined ? patient : impatient;
  const ceilings = { ...ofTest, run: longestMs ?? (test === undefined ? patient.run : ofTest.run) };
  const fault = `?fault=${await writeFaulty(replacements ?? [], temporary)}`;
  const child = fork(join(import.meta.dirname, "../runner/process.ts"), {
    execArgv: [...process.execArgv, bundled + fault, `--test-timeout=${ceilings.test}`, ...pattern, ...flags],
    env: {
      ...process.env,
      ...env,
      ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
      HOLDFAST_TEST_CEILING_MS: String(ceilings.wait),
      HOLDFAST_TEST_SEED: "1", // a fault must not escape by chance
      HOLDFAST_TEST_STORE: store ?? "sqlite",
      TMPDIR: temporary,
    },
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    detached: true,
  });
  let how: End["how"] | undefined;
  let failed: string | undefined;
  let error: string | undefined;
  let hasBegun = false;
  const skipped: string[] = [];
  const killAll = () => {
    try {
      process.kill(-(child.pid as number), "SIGKILL");
    } catch {} // nothing is left
  };
  const stop = (by: End["how"]) => {
    how ??= by;
    killAll();
  };
  child.on("message", (message: Message) => {
    if (message.kind === "ended") return stop("passes");
    if (message.kind === "event") {
      const { type, data } = message.event.event;
      if (type === "test:dequeue" && data.name === test) hasBegun = true;
    }
    const { line } = message;
    if (line?.kind === "skipped") skipped.push(line.reason);
    if (line?.kind !== "failed") return;
    failed ??= line.name;
    error ??= line.error;
    stop(resolve(line.name) === line.file ? "breaks" : "fails");
  });
  const timer = setTimeout(() => stop("hangs"), ceilings.run);
  signal?.addEventListener("abort", killAll);
  child.send({ file: resolve(file) }, () => {}); // if it has already died, that is how it ends
  await once(child, "close");
  killAll();
  clearTimeout(timer);
  signal?.removeEventListener("abort", killAll);
  return { how: how ?? "dies", hasBegun, skipped, failed, error } satisfies End;
}

/** Writes the code of the sources that have the fault into a file, which `bundled.js` reads. */
async function writeFaulty(replacements: Replacements, folder: string): Promise<string> {
  const file = join(folder, "fault.json");
  const faulty = [...replaceIn(sources, replacements)].map(async ([path, source]) => [
    path,
    await codeOf(path, source),
  ]);
  writeFileSync(file, JSON.stringify(Object.fromEntries(await Promise.all(faulty))));
  chmodSync(file, 0o644);
  return file;
}

/** The code of a source. That of a source with an error does not load either. */
async function codeOf(path: string, source: string): Promise<string> {
  return commonJsOf(path, source).catch(
    ({ message }: Error) => `throw new SyntaxError(${JSON.stringify(message)});`,
  );
}
