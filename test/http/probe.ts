/**
 * Watches the process while a service of a test runs in it: whether its event loop stood still, and what memory it
 * took. The machine may be busy with other things, so a standstill is measured in processor time of the thread, and beside a
 * fixed piece of work: programs that share processors and their caches make the same work take more of it.
 */
import assert from "node:assert/strict";

/** What a service may take while a test runs. What the test's own code does in the same thread counts as well. */
export interface ProbeBounds {
  /** Standstills of the event loop, in milliseconds of processor time on a quiet machine. @default 100 */
  standstillMs: number;
  /** Memory of the process (RSS) beyond what it had at the start, in bytes. @default 1000000000 */
  rssBytes: number;
}

const defaultRssBytes = 1_000_000_000;

/** How long the event loop may stand still, in milliseconds of processor time on a quiet machine. */
export const standstillBoundMs = 100;

/** A probe that runs until it is stopped. */
export interface Probe {
  /** Stops, and throws when a bound was passed since the start. */
  stop(): void;
}

/** The longest standstill of the event loop while `work` runs, in milliseconds of processor time on a quiet machine. */
export async function longestStandstill(work: () => Promise<unknown>): Promise<number> {
  const watch = watchStandstills();
  // A standstill is measured from the tick before it; without one, the first would go unseen.
  await ticks(30);
  await work();
  await ticks(20);
  return watch.stop();
}

/** Starts to watch. */
export async function startProbe(bounds: Partial<ProbeBounds> = {}): Promise<Probe> {
  const { rssBytes = defaultRssBytes } = bounds;
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = watchStandstills(() => {
    most = Math.max(most, process.memoryUsage.rss());
  });
  await ticks(10);
  return {
    stop() {
      const longest = watch.stop();
      const { standstillMs = standstillBoundMs } = bounds;
      assert.ok(
        longest <= standstillMs,
        `the event loop stood still for ${Math.round(longest)} ms of processor time; ${standstillMs} are allowed`,
      );
      assert.ok(
        most - before <= rssBytes,
        `the process took ${most - before} bytes; ${rssBytes} are allowed`,
      );
    },
  };
}

function watchStandstills(onTick: () => void = () => {}): { stop(): number } {
  let longest = 0;
  let last = process.threadCpuUsage();
  const look = () => {
    const ms = cpuMs(last);
    if (ms > longest) longest = ms > standstillBoundMs ? Math.max(longest, ms / slowdown()) : ms;
    onTick();
    last = process.threadCpuUsage();
  };
  const timer = setInterval(look, 5);
  timer.unref();
  return {
    stop() {
      clearInterval(timer);
      look(); // what this turn of the event loop has taken so far
      return longest;
    },
  };
}

/** What one pass of the fixed work takes on a quiet machine, in milliseconds of processor time. */
const quietPassMs = 6;
const passes = 3;

const passText = `{"a":[${Array.from({ length: 40_000 }, (_, n) => `{"n":${n}}`).join(",")}]}`;
const passCode = `
  const counts = new Map();
  let depth = 0;
  for (let n = 0; n < text.length; n++) {
    const code = text.charCodeAt(n);
    if (code === 0x7b || code === 0x5b) depth++;
    else if (code === 0x7d || code === 0x5d) depth--;
    counts.set(code + depth, (counts.get(code + depth) ?? 0) + 1);
  }
  return counts;`;

/** How much more processor time work takes now than on a quiet machine; 1 at least. */
function slowdown(): number {
  const begun = process.threadCpuUsage();
  for (let pass = 0; pass < passes; pass++) {
    new Function("text", passCode)(passText); // compiled anew each time, as code is that runs for the first time
    JSON.parse(passText);
  }
  return Math.max(1, cpuMs(begun) / (passes * quietPassMs));
}

function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(since);
  return (user + system) / 1_000;
}

function ticks(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
