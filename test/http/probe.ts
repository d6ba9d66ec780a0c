/**
 * Watches the process while a service runs in it: its memory, and whether its event loop is blocked (a standstill). The machine can
 * be busy with other programs. So a standstill is measured in processor time of the thread, and compared with a fixed piece of
 * work, which also takes longer on a busy machine.
 */
import assert from "node:assert/strict";

/** The limits of a service while a test runs. The code of the test in the same thread counts too. */
export interface ProbeBounds {
  /**
   * Standstills of the event loop, in milliseconds of processor time on a quiet machine. One measurement can catch a bad moment
   * of the machine, so the default is three times the bound of the tests that measure again. @default 300
   */
  standstillMs: number;
  /** Memory of the process (RSS) beyond what it had at the start, in bytes. @default 1000000000 */
  rssBytes: number;
}

const defaultRssBytes = 1_000_000_000;

/** The longest standstill that a test of the event loop allows. Such a test measures again before it fails. In milliseconds. */
export const standstillBoundMs = 100;

/** A probe that runs until it is stopped. */
export interface Probe {
  /** Stops the probe. Throws if a limit was exceeded since the start. */
  stop(): void;
}

/** The longest standstill of the event loop while `work` runs, in milliseconds of processor time on a quiet machine. */
export async function longestStandstill(work: () => Promise<unknown>): Promise<number> {
  const watch = watchStandstills();
  // A standstill is measured from the tick before it, so there must be a tick before the first one.
  await ticks(30);
  await work();
  await ticks(20);
  return watch.stop();
}

/** How often a test of the event loop measures before it fails. */
const tries = 5;

/** Runs `work` until it stays within the bound of a standstill once. Throws if it never does. */
export async function staysResponsive(work: () => Promise<unknown>): Promise<void> {
  const seen: number[] = [];
  for (let n = 0; n < tries; n++) {
    seen.push(await longestStandstill(work));
    if ((seen.at(-1) ?? 0) <= standstillBoundMs) return;
  }
  assert.fail(`the event loop stood still for ${seen.map((ms) => ms.toFixed(0)).join(", ")} ms`);
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
      const { standstillMs = 3 * standstillBoundMs } = bounds;
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
      look(); // the time of this turn of the event loop so far
      return longest;
    },
  };
}

/** The time of one pass of the fixed work on a quiet machine, in milliseconds of processor time. */
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

/** How many times as much processor time work takes now as on a quiet machine; at least 1. */
function slowdown(): number {
  const begun = process.threadCpuUsage();
  for (let pass = 0; pass < passes; pass++) {
    new Function("text", passCode)(passText); // compiled again each time, like code that runs for the first time
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
