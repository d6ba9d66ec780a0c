/** Recordings with a bad image are saved, so that the same exploration can be repeated. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import type { Exploration, Findings } from "./explore.ts";
import type { Recording } from "./recording.ts";

/** A recording and how it was explored. */
export interface Saved {
  recording: Recording;
  exploration: Omit<Exploration, "folder">;
}

/** Saves a recording below `test-results`. Returns a text with the faults, and the command that repeats the exploration. */
export function saveBad(saved: Saved, { images, bad }: Findings): string {
  const { seed } = saved.exploration;
  const path = join("test-results", `explorer-seed-${seed}.recording`);
  mkdirSync("test-results", { recursive: true });
  save(saved, path);
  const shown = bad.slice(0, 3).map(({ at, survival, faults }) => {
    return `  after event ${at}, on the disk: ${survival}: ${faults.join("; ")}`;
  });
  return [
    `Seed ${seed}: ${bad.length} of ${images} images are bad:`,
    ...shown,
    `Repeat it: npx node --conditions=holdfast-source test/explorer/again.ts ${path}`,
  ].join("\n");
}

/** Saves a recording. */
export function save(saved: Saved, path: string): void {
  writeFileSync(path, serialize(saved));
}

/** Reads a saved recording. Writes are buffers again. */
export function readSaved(path: string): Saved {
  const saved = deserialize(readFileSync(path)) as Saved;
  for (const event of saved.recording.events)
    if ("step" in event && event.step.kind === "write") event.step.bytes = Buffer.from(event.step.bytes);
  return saved;
}
