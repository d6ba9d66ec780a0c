/** Faults that the explorer must find: in builds of the program, and in disks. */
import type { Step } from "./disk.ts";
import type { Findings } from "./explore.ts";
import { type Life, logName, type Recording, type Session, storeName } from "./recording.ts";
import type { Sabotage } from "./sabotage.ts";
import { exploreImages, recordSession } from "./session.ts";

const quick: Life = { requests: 40, flushDelayMs: 0, isHeldOpen: false, signal: "SIGKILL" };

/**
 * The shortest session in which each fault loses something, and the images that show it besides those right after responses. A long
 * flush makes it certain that the kill comes before its end.
 */
function controlOf(sabotage: Sabotage, seed: number): { session: Session; images: number } {
  const mixed = { seed, texts: "mixed" } as const;
  if (sabotage.name !== "no flush at the start")
    return { session: { ...mixed, lives: [quick] }, images: 100 };
  const killed = { ...quick, requests: 20, flushDelayMs: 200 };
  const resumed = { ...quick, requests: 12, flushDelayMs: 30, isHeldOpen: true };
  return { session: { ...mixed, lives: [killed, resumed] }, images: 0 };
}

/** The first loss of a build with a fault, and the seed of its session. Tries a few sessions, as the moment of a kill differs. */
export async function firstLoss(
  sabotage: Sabotage,
  signal?: AbortSignal,
): Promise<{ seed: number; findings: Findings } | undefined> {
  for (let seed = 1; seed <= 10; seed++) {
    const { session, images } = controlOf(sabotage, seed);
    const recording = await recordSession(session, { sabotage, signal });
    const findings = await exploreImages(recording, { seed, images, isOverAtFirst: true }, signal);
    if (findings.bad.length > 0) return { seed, findings };
  }
  return undefined;
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
  { events, clients }: Recording,
  skipped: (typeof skippedFlushes)[number],
): Recording {
  const first = events.findIndex((event) => "answered" in event);
  const isSkipped = (event: Recording["events"][number], index: number) =>
    "step" in event && (index > first || skipped === "of the names") && skips[skipped](event.step);
  return { events: events.filter((event, index) => !isSkipped(event, index)), clients };
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
    const { step } = event;
    if (step.kind !== "write") continue;
    if (stage === "load" && answers > 0 && step.name === storeName) stage = "checkpoint";
    if (stage === "checkpoint" && step.name === logName && step.offset === 0) stage = "restart";
  }
  return false;
}
