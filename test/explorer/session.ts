/** One session: records it, and explores the recording. */
import { existsSync, statfsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProgram } from "../durability/program.ts";
import { copyWithFault } from "../faults/copy.ts";
import { givenThreads } from "../threads/count.ts";
import { type Exploration, explore, type Findings } from "./explore.ts";
import { randomOf } from "./random.ts";
import { IncompleteRecording, type Life, type Recording, record, type Session } from "./recording.ts";
import type { Sabotage } from "./sabotage.ts";

/** The folder for images: in memory, if the system has such a folder with enough space. */
function placeOfImages(): string {
  const memory = "/dev/shm";
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 256 * 1024 * 1024 ? memory : tmpdir();
}

const maxRecordings = 3;

/** How a session is recorded. */
interface HowToRecord {
  /** The fault of a copy of the program. @default the unchanged program */
  sabotage?: Sabotage;
  /** When it aborts, no recording starts: `recordSession` throws. */
  signal?: AbortSignal | undefined;
}

/** Records a session of the program. Records it again if the trace lacks a call. */
export async function recordSession(session: Session, how: HowToRecord = {}): Promise<Recording> {
  for (let recordings = 1; ; recordings++) {
    try {
      return await recordOnce(session, how);
    } catch (error) {
      if (!(error instanceof IncompleteRecording) || recordings === maxRecordings) throw error;
    }
  }
}

async function recordOnce(session: Session, { sabotage, signal }: HowToRecord): Promise<Recording> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-explorer-"));
  const from = sabotage === undefined ? "." : join(folder, "program");
  try {
    if (sabotage !== undefined) await copyWithFault(sabotage.replacements, from);
    signal?.throwIfAborted();
    return await record(session, {
      start: (store, wrapper, flags) => startProgram(store, wrapper, flags, from),
      folder,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Explores a recording in a folder that is removed afterwards. */
export async function exploreImages(
  recording: Recording,
  exploration: Omit<Exploration, "folder">,
  signal?: AbortSignal,
): Promise<Findings> {
  const folder = await mkdtemp(join(placeOfImages(), "holdfast-image-"));
  try {
    return await explore(recording, { ...exploration, folder }, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Some lives of different lengths with this many requests, as the seed decides. */
export function randomLives(seed: number, requests: number): Life[] {
  const random = randomOf(seed);
  const lives: Life[] = [];
  for (let left = requests; left > 0; left -= lives.at(-1)?.requests ?? left)
    lives.push({
      requests: Math.min(left, 1 + Math.floor(random() * requests * 0.3)),
      flushDelayMs: random() < 0.5 ? 30 : 0,
      isHeldOpen: random() < 0.5,
      signal: random() < 0.75 ? "SIGKILL" : "SIGTERM",
      threads: givenThreads ?? ([1, 2, 4] as const)[Math.floor(random() * 3)],
    });
  return lives;
}

/**
 * A session in which the log reaches 1,000 pages several times: it is moved into the file in the middle of the load, and then starts
 * again from its beginning.
 */
export function checkpointSession(seed: number): Session {
  const threads = givenThreads ?? 1;
  const quick = { flushDelayMs: 0, isHeldOpen: false, signal: "SIGKILL", threads } as const;
  return {
    seed,
    texts: "long",
    lives: [
      { ...quick, requests: 80 },
      { ...quick, requests: 20 },
    ],
  };
}
