/** Runs files of tests in groups: each group in its own process, several at a time. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { enableCompileCache } from "node:module";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { bundlePrograms } from "./bundles.ts";
import type { Message } from "./group.ts";
import type { Line } from "./lines.ts";
import { type Block, Printer } from "./printer.ts";
import { describeFailure, type Results, resultsOf, sum } from "./results.ts";
import { received } from "./sent-event.ts";
import type { FileTimes } from "./times.ts";

/** Files that one process runs, one after the other. */
export interface Group {
  files: readonly string[];
  /** The kind of store for its services. @default the value of HOLDFAST_TEST_STORE */
  store?: "sqlite" | "postgres";
}

/** How files are run. */
export interface RunOptions {
  /** Options of Node for each process, such as `--test-name-pattern=…`. */
  options?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** The time limit of one test, in milliseconds. @default much longer than a busy machine needs */
  ceilingMs?: number;
  /** Whether all processes end when a test fails. @default false */
  untilFailure?: boolean;
  /** Called with what each file took. */
  onTimes?: (times: FileTimes) => void;
}

/** Every group loads most of the sources. With this cache, only the first one strips their types and compiles them. */
const { directory: compiled } = enableCompileCache();

/** More groups than processors: many of them wait for disks, databases and clocks half of their time. */
const groupsAtOnce = 2 * availableParallelism();

/** Programs and threads load bundles of the sources. */
const bundled = await bundlePrograms();

const defaultCeilingMs = 600_000;

/** After so many files, a long run prints how far it is. */
const filesBetweenProgress = 25;

const end = new AbortController();
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    interrupted.abort();
    end.abort();
  });

/** Aborted when SIGINT or SIGTERM stops the tests or a proof. */
export const interruption: AbortSignal = interrupted.signal;

/** Whether a signal has ended the tests. */
export function isInterrupted(): boolean {
  return interrupted.signal.aborted;
}

/** One file that has begun. */
interface Begun {
  file: string;
  block: Block;
  lines: Line[];
}

/** Runs groups, in this order, and prints their tests. */
export async function runTests(groups: readonly Group[], options: RunOptions = {}): Promise<Results> {
  const how = {
    options: [],
    env: {},
    ceilingMs: defaultCeilingMs,
    untilFailure: false,
    onTimes: () => {},
    ...options,
  };
  const begun = performance.now();
  const count = groups.reduce((sum, { files }) => sum + files.length, 0);
  const printer = new Printer({ isLive: count === 1 });
  end.signal.addEventListener("abort", () => {
    if (isInterrupted()) printer.silence(); // it would print tests that have not run as failures
  });
  // If no test starts or ends for this time, a file hangs that cannot be ended in another way.
  const silence = setTimeout(() => end.abort(), 2 * how.ceilingMs);
  const isLong = count > groupsAtOnce;
  const results: Results[] = [];
  let ended = 0;
  let failed = 0;
  const watch: Watch = {
    begin: () => printer.begin(),
    noteLine: (line) => {
      silence.refresh();
      if (line.kind !== "failed") return;
      failed += 1;
      if (how.untilFailure) end.abort();
      if (isLong) printer.say(describeFailure(line));
    },
    noteEnd: (times) => {
      how.onTimes(times);
      ended += 1;
      if (!isLong || ended % filesBetweenProgress > 0) return;
      const minutes = Math.round((performance.now() - begun) / 60_000);
      printer.say(`${ended} of ${count} files, ${failed} failed tests, ${minutes} min`);
    },
  };
  const waiting = [...groups];
  const runWaiting = async () => {
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
      let { files } = group;
      while (files.length > 0 && !end.signal.aborted) {
        const run = await runProcess({ ...group, files }, how, watch);
        const note = group.store === "postgres" ? " (on PostgreSQL)" : "";
        results.push(...run.map(({ lines }) => resultsOf(lines, note)));
        files = files.slice(Math.max(run.length, 1)); // a process that a file has ended leaves the others to the next one
      }
      results.push({ passed: 0, failed: files.map((file) => ({ test: file, error: hung })), skipped: [] });
    }
  };
  await Promise.all(Array.from({ length: groupsAtOnce }, runWaiting));
  clearTimeout(silence);
  await printer.close(performance.now() - begun);
  return sum(results);
}

const hung = "The file did not run, because another file hung.";

/** Is called while a process runs. */
interface Watch {
  begin(): Block;
  noteLine(line: Line): void;
  noteEnd(times: FileTimes): void;
}

/** Runs files in one process until it ends. Resolves to the files that have begun. */
async function runProcess(
  { files, store }: Group,
  { options, env, ceilingMs }: Required<RunOptions>,
  watch: Watch,
): Promise<readonly Begun[]> {
  const child = fork(join(import.meta.dirname, "group.ts"), files, {
    execArgv: [...process.execArgv, bundled, `--test-timeout=${ceilingMs}`, ...options],
    env: {
      ...process.env,
      ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
      ...env,
      ...(store === undefined ? {} : { HOLDFAST_TEST_STORE: store }),
    },
    serialization: "advanced",
    stdio: ["pipe", "pipe", "pipe", "ipc"],
  });
  const kill = () => child.kill();
  end.signal.addEventListener("abort", kill);
  const all: Begun[] = [];
  const begin = (file: string) => {
    const last = all.at(-1);
    if (last?.file === file) return last; // Node has warned before the file began
    const begun: Begun = { file, block: watch.begin(), lines: [] };
    all.push(begun);
    return begun;
  };
  /** The last file that has begun. The process can also end before the first one. */
  const current = () => all.at(-1) ?? begin(files[0] ?? "");
  const add = (line: Line) => {
    (line.kind === "begun" ? begin(line.file) : current()).lines.push(line);
    watch.noteLine(line);
  };
  const endFile = () => {
    const { file, block } = current();
    block.end();
    add({ kind: "ended", file });
  };
  child.on("message", (message: Message) => {
    if (message.kind === "event") current().block.print(received(message.event));
    if (message.kind !== "ended") return message.line && add(message.line);
    endFile();
    watch.noteEnd(message.times);
  });
  for (const type of ["stdout", "stderr"] as const)
    child[type]?.setEncoding("utf8").on("data", (text: string) => {
      const { file, block } = current();
      block.print({ type: `test:${type}`, data: { file, message: text } });
      if (type === "stderr") add({ kind: "said", file, text });
    });
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  end.signal.removeEventListener("abort", kill);
  const { file, block } = current();
  if (code !== 0 && !end.signal.aborted) {
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    add({ kind: "failed", file, line: 0, name: file, error: `The process ended with ${how}.` });
    endFile();
  }
  block.end();
  return all;
}
