/** Faults that the explorer must find: in builds of the program, and in disks. */
import type { Step } from "./disk.ts";
import type { Findings } from "./explore.ts";
import { type Life, logName, type Recording, storeName } from "./recording.ts";
import type { Sabotage } from "./sabotage.ts";
import { exploreImages, recordSession, withFault } from "./session.ts";

const quick: Life = { requests: 30, flushDelayMs: 0, isHeldOpen: false, signal: "SIGKILL" };

/** The first loss of a build with a fault, and the seed of its session. Tries a few sessions, as the moment of a kill differs. */
export async function firstLoss(
  sabotage: Sabotage,
  signal?: AbortSignal,
): Promise<{ seed: number; findings: Findings } | undefined> {
  const { lives = [{}], keepChanges, hasWebhook = false, images = 100, starts = 0 } = sabotage;
  return withFault(sabotage, async (from) => {
    for (let seed = 1; seed <= 10; seed++) {
      const session = {
        seed,
        texts: "mixed" as const,
        keepChanges,
        hasWebhook,
        lives: lives.map((life) => ({ ...quick, ...life })),
      };
      const recording = await recordSession(session, { from, signal });
      const exploration = { from, seed, images, starts, isOverAtFirst: true };
      const findings = await exploreImages(recording, exploration, signal);
      if (findings.bad.length > 0) return { seed, findings };
    }
    return undefined;
  });
}

/** Flushes that a faulty disk confirms and does not do. */
const skips = {
  "of the log": (step: Step) => step.kind === "flush" && step.name === logName,
  "of the store's file": (step: Step) => step.kind === "flush" && step.name === storeName,
  "of the names": (step: Step) => step.kind === "flush names",
};

export const skippedFlushes = Object.keys(skips) as (keyof typeof skips)[];

/**
 * The same session on a disk that skips some flushes. It skips flushes of the files only after the first response, so that a loss
 * comes from the load or from a checkpoint, and not from the creation of the store.
 */
export function onFaultyDisk(
  { events, ...others }: Recording,
  skipped: (typeof skippedFlushes)[number],
): Recording {
  const first = events.findIndex((event) => "answered" in event);
  const isSkipped = (event: Recording["events"][number], index: number) =>
    "step" in event && (index > first || skipped === "of the names") && skips[skipped](event.step);
  return { events: events.filter((event, index) => !isSkipped(event, index)), ...others };
}

/** Whether the log was moved into the file while clients were writing, and was then written again from its beginning. */
export function hasCheckpoints({ events }: Recording): boolean {
  let stage: "load" | "checkpoint" | "restart" = "load";
  let answers = 0;
  for (const event of events) {
    if ("answered" in event) {
      answers++;
      if (stage === "restart") return true;
      continue;
    }
    if (!("step" in event)) continue;
    const { step } = event;
    if (step.kind !== "write") continue;
    if (stage === "load" && answers > 0 && step.name === storeName) stage = "checkpoint";
    if (stage === "checkpoint" && step.name === logName && step.offset === 0) stage = "restart";
  }
  return false;
}
