/** One session: records it, and explores the recording. */
import { existsSync, statfsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomOf } from "../seed.ts";
import { givenThreads } from "../threads/count.ts";
import { copyWithFault } from "./copy.ts";
import { type Exploration, explore, type Findings } from "./explore.ts";
import { type Life, type Recording, record, type Session } from "./recording.ts";
import type { Sabotage } from "./sabotage.ts";
import { IncompleteRecording } from "./trace.ts";

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
  /** The folder of the program. @default this one */
  from?: string;
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

async function recordOnce(session: Session, { from = ".", signal }: HowToRecord): Promise<Recording> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-explorer-"));
  try {
    signal?.throwIfAborted();
    return await record(session, { from, folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes a copy of the program with a fault, which is removed afterwards. */
export async function withFault<T>(sabotage: Sabotage, use: (from: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-explorer-"));
  try {
    const from = join(folder, "program");
    await copyWithFault(sabotage.replacements, from);
    return await use(from);
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

/** Requests of a session: enough for some restarts, few enough that images stay small. */
const requests = 150;

/** Every fourth session has checkpoints in the middle of the load. Every fourth one removes old changes. */
const kinds = 4;

/** The session of a seed in the long form. */
export function sessionOf(seed: number): Session {
  if (seed % kinds === 0) return checkpointSession(seed);
  const keepChanges = seed % kinds === 2 ? 20 : undefined;
  return { seed, texts: "mixed", lives: randomLives(seed), keepChanges, hasWebhook: seed % kinds === 1 };
}

/** Some lives of different lengths, as the seed decides. */
function randomLives(seed: number): Life[] {
  const random = randomOf(seed);
  const some = <T>(...all: T[]) => all.filter(() => random() < 0.3);
  const lives: Life[] = [];
  for (let left = requests; left > 0; left -= lives.at(-1)?.requests ?? left)
    lives.push({
      requests: Math.min(left, 1 + Math.floor(random() * requests * 0.3)),
      flushDelayMs: random() < 0.5 ? 30 : 0,
      isHeldOpen: random() < 0.5,
      signal: random() < 0.75 ? "SIGKILL" : "SIGTERM",
      threads: givenThreads ?? ([1, 2, 4] as const)[Math.floor(random() * 3)],
      before: some("erase", "copy"),
      beside: some("key", "backup"),
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
    hasWebhook: false,
    lives: [
      { ...quick, requests: 90 },
      { ...quick, requests: 20 },
    ],
  };
}
