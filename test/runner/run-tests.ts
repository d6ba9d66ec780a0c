/** Runs files of tests: several processes side by side, of which each runs one file after the other. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { enableCompileCache } from "node:module";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { bundlePrograms } from "./bundles.ts";
import type { Line } from "./lines.ts";
import type { Job } from "./names.ts";
import { type Block, Printer } from "./printer.ts";
import type { Message } from "./process.ts";
import { describeFailure, type Results, resultsOf, sum } from "./results.ts";
import { endOfOutput, received } from "./sent-event.ts";
import type { FileTimes } from "./times.ts";

/** How files are run. */
export interface RunOptions {
  /** Options of Node for each process, such as `--test-name-pattern=…`. */
  options?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** The time limit of one test, in milliseconds. @default much longer than a busy machine needs */
  ceilingMs?: number;
  /** Whether all processes end when a test fails. @default false */
  untilFailure?: boolean;
  /** How many processes run at the same time. @default twice the processors */
  processes?: number;
  /** When other work has ended, so many more processes run at the same time. Without it, the processors would wait from then on. */
  after?: { readonly work: Promise<unknown>; readonly processes: number };
  /** Called with what each file took. */
  onTimes?: (times: FileTimes) => void;
}

/** Every process loads most of the sources. With this cache, only the first one strips their types and compiles them. */
const { directory: compiled } = enableCompileCache();

/** More processes than processors: many files wait for disks, databases and clocks half of their time. */
const processesAtOnce = 2 * availableParallelism();

/** A process runs so many files at most, because its memory grows with each of them. */
const filesOfProcess = 40;

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

/** Begins the runs in this order, and prints their tests. */
export async function runTests(jobs: readonly Job[], options: RunOptions = {}): Promise<Results> {
  const how = {
    options: [],
    env: {},
    ceilingMs: defaultCeilingMs,
    untilFailure: false,
    processes: processesAtOnce,
    onTimes: () => {},
    ...options,
  };
  const begun = performance.now();
  const count = jobs.length;
  const printer = new Printer({ isLive: count === 1 });
  end.signal.addEventListener("abort", () => {
    if (isInterrupted()) printer.silence(); // it would print tests that have not run as failures
  });
  // If no test starts or ends for this time, a file hangs that cannot be ended in another way.
  const silence = setTimeout(() => end.abort(), 2 * how.ceilingMs);
  const isLong = count > how.processes;
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
  const waiting = [...jobs];
  const runWaiting = async () => {
    for (let first = waiting.shift(); first !== undefined; first = waiting.shift()) {
      if (end.signal.aborted) results.push({ passed: 0, failed: [unrun(first)], skipped: [] });
      else results.push(...(await runProcess(first, takerFrom(waiting, first), how, watch)));
    }
  };
  const runIn = (processes: number) => Promise.all(Array.from({ length: processes }, runWaiting));
  const { after } = options;
  const further = after?.work.then(
    () => runIn(after.processes),
    () => {}, // it is an error of that work
  );
  await Promise.all([runIn(how.processes), further]);
  clearTimeout(silence);
  await printer.close(performance.now() - begun);
  return sum(results);
}

/** Takes the next run for the process that has run `first`, until it has run enough. */
function takerFrom(waiting: Job[], first: Job): () => Job | undefined {
  let left = sharesProcess(first) ? filesOfProcess - 1 : 0;
  return () => {
    if (left === 0) return undefined;
    left -= 1;
    const place = waiting.findIndex((each) => sharesProcess(each) && each.store === first.store);
    return place < 0 ? undefined : waiting.splice(place, 1)[0];
  };
}

function sharesProcess({ isAlone, env, options }: Job): boolean {
  return !isAlone && env === undefined && options === undefined;
}

const unrun = ({ file }: Job) => ({ test: file, error: "The file did not run, because another file hung." });

/** Is called while a process runs. */
interface Watch {
  begin(): Block;
  noteLine(line: Line): void;
  noteEnd(times: FileTimes): void;
}

/**
 * Runs `first` in a process of its own, and then what `next` returns, until it returns nothing or the process ends. Resolves to the results
 * of the files that have begun.
 */
async function runProcess(
  first: Job,
  next: () => Job | undefined,
  { options, env, ceilingMs }: Required<Pick<RunOptions, "options" | "env" | "ceilingMs">>,
  watch: Watch,
): Promise<readonly Results[]> {
  const { store } = first;
  const own = first.options ?? [];
  const child = fork(join(import.meta.dirname, "process.ts"), {
    execArgv: [...process.execArgv, bundled, `--test-timeout=${ceilingMs}`, ...options, ...own],
    env: {
      ...process.env,
      ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
      ...env,
      ...(store === undefined ? {} : { HOLDFAST_TEST_STORE: store }),
      ...first.env,
    },
    serialization: "advanced",
    stdio: ["pipe", "pipe", "pipe", "ipc"],
  });
  const kill = () => child.kill();
  end.signal.addEventListener("abort", kill);
  const all: Begun[] = [];
  /** The file that runs, or the last one. */
  const current = () => all.at(-1) as Begun;
  const add = (line: Line) => {
    current().lines.push(line);
    watch.noteLine(line);
  };
  const endFile = () => {
    const { file, block } = current();
    block.end();
    add({ kind: "ended", file });
  };
  const order = (job: Job | undefined) => {
    if (job !== undefined) {
      all.push({ file: job.file, block: watch.begin(), lines: [] });
      add({ kind: "begun", file: job.file });
    }
    if (child.connected) child.send({ file: job?.file });
  };
  /** What has arrived of the end of a file: its message, and the ends of its output on both streams. */
  let ended: Extract<Message, { kind: "ended" }> | undefined;
  let outputs = 0;
  const endIfWhole = () => {
    if (ended === undefined || outputs < 2) return;
    const { times, isLast } = ended;
    [ended, outputs] = [undefined, 0];
    endFile();
    watch.noteEnd(times);
    if (!isLast) order(next());
  };
  child.on("message", (message: Message) => {
    if (message.kind === "event") current().block.print(received(message.event));
    if (message.kind !== "ended") return message.line && add(message.line);
    ended = message;
    endIfWhole();
  });
  const printOutput = (type: "stdout" | "stderr", text: string) => {
    if (text === "") return;
    const { file, block } = current();
    block.print({ type: `test:${type}`, data: { file, message: text } });
    if (type === "stderr") add({ kind: "said", file, text });
  };
  for (const type of ["stdout", "stderr"] as const)
    child[type]?.setEncoding("utf8").on("data", (data: string) => {
      const [text = "", ...texts] = data.split(endOfOutput);
      printOutput(type, text);
      for (const text of texts) {
        outputs += 1;
        endIfWhole();
        printOutput(type, text);
      }
    });
  order(first);
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  end.signal.removeEventListener("abort", kill);
  const { file, block } = current();
  if (code !== 0 && !end.signal.aborted) {
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    add({ kind: "failed", file, line: 0, name: file, error: `The process ended with ${how}.` });
    endFile();
  }
  block.end();
  return all.map(({ lines }) => resultsOf(lines, { ...first, ...(store && { store }) }));
}
