/** Finds out whether files have changed, by comparing their states every 100 milliseconds. */
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The state of each file, by path. */
export type FileStates = ReadonlyMap<string, string>;

const checkEveryMs = 100;

/** The state of a file. It changes when the file is written, replaced, created or removed. */
export function stateOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined
    ? "missing"
    : `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}

/** The current state of each file. */
export function statesOf(paths: Iterable<string>): FileStates {
  return new Map(Array.from(paths, (path) => [path, stateOf(path)]));
}

/** Whether a file has another state now. */
export function haveChanged(states: FileStates): boolean {
  return Array.from(states).some(([path, state]) => stateOf(path) !== state);
}

/**
 * Waits until a file has changed or the signal is aborted. It compares paths, because the file events of the system get
 * lost after a rename and in mounted folders.
 */
export async function waitForChange(states: FileStates, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !haveChanged(states)) await waitForNextCheck(signal);
}

/** Waits for 100 milliseconds, or until the signal is aborted. */
export async function waitForNextCheck(signal: AbortSignal): Promise<void> {
  await sleep(checkEveryMs, undefined, { signal }).catch(() => {}); // aborted
}
