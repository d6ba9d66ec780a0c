/** One session from its recording to its judgement. */

import { existsSync, statfsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProgram } from "../durability/program.ts";
import { explore, type Findings } from "./explore.ts";
import { copyPatched } from "./patched.ts";
import { randomOf } from "./random.ts";
import { record } from "./recording.ts";

/** Where images are written, one in the place of the other: into memory, if the system has such a folder with enough space. */
function placeOfImages(): string {
  const memory = "/dev/shm";
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 256 * 1024 * 1024 ? memory : tmpdir();
}

/** Requests of a session: enough for some restarts, few enough that images stay small. */
const requests = 150;

/** Records a session of this seed, of the program as it is or with a patch, and judges about so many images of it. */
export async function runSession(seed: number, images: number, patch?: string): Promise<Findings> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-explorer-"));
  const image = await mkdtemp(join(placeOfImages(), "holdfast-image-"));
  const random = randomOf(seed);
  const from = patch === undefined ? "." : join(folder, "program");
  try {
    if (patch !== undefined) await copyPatched(patch, from);
    const recording = await record({
      start: (store, wrapper, flags) => startProgram(store, wrapper, flags, from),
      folder,
      random,
      requests,
    });
    return explore(recording, { random, images, folder: image });
  } finally {
    for (const each of [folder, image]) await rm(each, { recursive: true, force: true });
  }
}
