/** How tests wait: for a state, never for a time. A busy machine makes them slower, not red. */
import { setTimeout as pass } from "node:timers/promises";

/**
 * How long a test waits for a state before it fails, in milliseconds: far longer than a busy machine needs. A test that passes never waits
 * so long. HOLDFAST_TEST_CEILING_MS changes it, for a run of tests that must fail.
 */
export const ceilingMs = Number(process.env.HOLDFAST_TEST_CEILING_MS ?? 300_000);

/** The pauses between two looks, in milliseconds. The longer it waits, the longer they are: what it looks at has the processor meanwhile. */
const lookMs = { shortest: 10, longest: 50 };

/** A pause is this part of the time that it has waited. */
const pausePart = 1 / 20;

/** Waits until a condition is true. Throws after `ceilingMs`. `what` completes "It did not come to be that …". */
export async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const begun = performance.now();
  while (!(await isSo())) {
    const waited = performance.now() - begun;
    if (waited > ceilingMs) throw new Error(`It did not come to be that ${what}, in ${ceilingMs / 1_000} s.`);
    await pass(Math.min(lookMs.shortest + waited * pausePart, lookMs.longest));
  }
}

/**
 * The time of the machine's clock, in Unix milliseconds: for what a program compares with its own clock, such as the end of a token. Never
 * for a bound or a pause.
 */
export function machineTime(): number {
  return Date.now();
}

/** Resolves when the machine's clock shows a later millisecond. */
export async function nextMillisecond(): Promise<void> {
  const now = machineTime();
  while (machineTime() <= now) await pass(1);
}

/** A pause that is itself the subject of a test, such as a slow client. The linter lists the files that may call it. */
export async function pause(ms: number): Promise<void> {
  await pass(ms);
}
