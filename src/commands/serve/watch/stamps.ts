/** Whether files have changed. A person saves them now and then, so it is enough to look at them now and then. */
import { statSync } from "node:fs";
import { setTimeout as pass } from "node:timers/promises";

/** The state of a file, by path. */
export type Stamps = ReadonlyMap<string, string>;

/** Between two looks at the files, in milliseconds. */
const lookEvery = 100;

/** The state of a file: two are equal if nobody has written, replaced, made or removed the file in between. */
export function stampOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined
    ? "missing"
    : `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}

/** The state of each file now. */
export function stampsOf(paths: Iterable<string>): Stamps {
  return new Map(Array.from(paths, (path) => [path, stampOf(path)]));
}

/** Whether the state of a file is another one by now. */
export function haveChanged(stamps: Stamps): boolean {
  return Array.from(stamps).some(([path, stamp]) => stampOf(path) !== stamp);
}

/**
 * Waits until a file has changed, or the signal is aborted. It looks at each file by its path, because what the system
 * reports about changes does not survive a rename or a mounted folder.
 */
export async function changeOf(stamps: Stamps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !haveChanged(stamps)) await untilNextLook(signal);
}

/** Waits until it is time to look at the files again, or the signal is aborted. */
export async function untilNextLook(signal: AbortSignal): Promise<void> {
  await pass(lookEvery, undefined, { signal }).catch(() => {}); // aborted
}
