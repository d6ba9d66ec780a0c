/** Cuts the power at every point of a session, many times, and judges what is left. */
import { createHash } from "node:crypto";
import { Disk, survivals } from "./disk.ts";
import { type Acknowledged, faultsOf } from "./judge.ts";
import type { Random } from "./random.ts";
import type { Recording } from "./recording.ts";

/** What an exploration found. */
export interface Findings {
  /** Images that were opened and judged; equal ones are judged once. */
  images: number;
  /** Those in which something was lost, or half there, or that could not be opened. */
  bad: { at: number; survival: string; faults: readonly string[] }[];
}

/** Explores a recording until it has judged `images` different images, or each cut has been tried in all ways. */
export function explore(
  { events, actors }: Recording,
  { random, images, folder }: { random: Random; images: number; folder: string },
): Findings {
  const disk = new Disk();
  const acknowledged = new Map(actors.map((actor) => [actor, 0]));
  const complaints = actors.flatMap(({ complaint }) => complaint ?? []);
  const findings: Findings = {
    images: 0,
    bad: complaints.map((complaint) => ({
      at: events.length,
      survival: "of a killed process",
      faults: [complaint],
    })),
  };
  const seen = new Set<string>();
  const share = images / events.length;
  for (const [index, event] of events.entries()) {
    if ("step" in event) disk.apply(event.at, event.step);
    else
      for (const [actor, count] of acknowledged)
        acknowledged.set(actor, Math.max(count, (actor.positionOf(event.answered) ?? -1) + 1));
    for (const survival of shuffled(survivals, random)) {
      // An answer is worth least before the next flush: no cut right after one is left out.
      const isAfterAnswer = "answered" in event && survival === "nothing";
      if (!isAfterAnswer && findings.images >= share * (index + 1)) continue;
      const image = disk.image(survival, random);
      const print = printOf(image, acknowledged);
      if (seen.has(print)) continue;
      seen.add(print);
      findings.images++;
      const faults = faultsOf(image, acknowledged, folder);
      if (faults.length > 0) findings.bad.push({ at: index, survival, faults });
    }
  }
  return findings;
}

function printOf(image: ReadonlyMap<string, Buffer>, acknowledged: Acknowledged): string {
  const hash = createHash("sha1");
  for (const [name, bytes] of image) hash.update(name).update(bytes);
  return hash.update([...acknowledged.values()].join()).digest("base64");
}

function shuffled<T>(all: readonly T[], random: Random): T[] {
  return all
    .map((each) => ({ each, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ each }) => each);
}
