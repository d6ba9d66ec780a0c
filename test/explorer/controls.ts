/** Faults that the explorer must find: in builds of the program, and in disks. */
import type { Findings } from "./explore.ts";
import { type Life, logName, type Recording, type Session, storeName } from "./recording.ts";
import type { Sabotage } from "./sabotage.ts";
import { exploreImages, recordSession } from "./session.ts";

const quick: Life = { requests: 40, isSlow: false, isHeldOpen: false, signal: "SIGKILL" };

/** The shortest sessions in which each fault loses something. */
function sessionFor(sabotage: Sabotage, seed: number): Session {
  const killedAndResumed = [
    { ...quick, isSlow: true },
    { ...quick, requests: 20, isSlow: true, isHeldOpen: true },
  ];
  return { seed, texts: "mixed", lives: sabotage === "no flush at the start" ? killedAndResumed : [quick] };
}

/** The first loss of a build with a fault, and the seed of its session. Tries a few sessions, as the moment of a kill differs. */
export async function firstLoss(
  sabotage: Sabotage,
): Promise<{ seed: number; findings: Findings } | undefined> {
  for (let seed = 1; seed <= 5; seed++) {
    const recording = await recordSession(sessionFor(sabotage, seed), sabotage);
    const findings = await exploreImages(recording, { seed, images: 100, isOverAtFirst: true });
    if (findings.bad.length > 0) return { seed, findings };
  }
  return undefined;
}

/** Flushes that a faulty disk confirms and does not do. */
export const skippedFlushes = ["of the log", "of the store's file", "of the names"] as const;

/** The same session on a disk that skips some flushes. */
export function onFaultyDisk(
  { events, clients }: Recording,
  skipped: (typeof skippedFlushes)[number],
): Recording {
  const isSkipped = (event: Recording["events"][number]) => {
    if (!("step" in event)) return false;
    const { step } = event;
    if (skipped === "of the names") return step.kind === "flush names";
    return step.kind === "flush" && step.name === (skipped === "of the log" ? logName : storeName);
  };
  return { events: events.filter((event) => !isSkipped(event)), clients };
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
