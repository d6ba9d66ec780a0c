/**
 * Watches the process while a service of a test runs in it: whether its event loop stood still, and what memory it
 * took. The machine may be busy with other things, so a standstill is measured in processor time of the thread.
 */
import assert from "node:assert/strict";
import { loadavg } from "node:os";

/** What a service may take while a test runs. What the test's own code does in the same thread counts as well. */
export interface ProbeBounds {
  /** Standstills of the event loop, in milliseconds of processor time. @default `standstillBoundMs()` at the end */
  standstillMs: number;
  /** Memory of the process (RSS) beyond what it had at the start, in bytes. @default 1000000000 */
  rssBytes: number;
}

const defaultRssBytes = 1_000_000_000;

/**
 * How long the event loop may stand still: 100 ms of processor time on a machine with nothing else to do. Programs that
 * share processors and their caches make the same work take more of it, so each that runs beside allows as much again,
 * up to 500 ms.
 */
export function standstillBoundMs(): number {
  const [beside = 0] = loadavg();
  return Math.round(100 * Math.min(5, Math.max(1, beside)));
}

/** A probe that runs until it is stopped. */
export interface Probe {
  /** Stops, and throws when a bound was passed since the start. */
  stop(): void;
}

/** The longest standstill of the event loop while `work` runs, in milliseconds of processor time. */
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
      const { standstillMs = standstillBoundMs() } = bounds;
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
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1000);
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

function ticks(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
