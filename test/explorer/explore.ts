/** Simulates power failures at every point of a session, and checks the images of the disk after them. */
import { crc32 } from "node:zlib";
import { numberOf } from "./actor.ts";
import { Disk, type Survival, survivals } from "./disk.ts";
import { type Acknowledged, Judge } from "./judge.ts";
import { type Random, randomOf } from "./random.ts";
import type { Recording } from "./recording.ts";

/** An image with a fault. */
export interface BadImage {
  /** The event before the power cut; for a wrong response, the last event. */
  at: number;
  survival: Survival | "a wrong response";
  faults: readonly string[];
}

/** The result of an exploration. */
export interface Findings {
  /** The number of images that were opened and checked. Equal images are checked once. */
  images: number;
  bad: BadImage[];
}

/** How a recording is explored. The same recording, seed and number of images always give the same findings. */
export interface Exploration {
  seed: number;
  /** The approximate number of images, spread over the whole session. Each response adds the image directly after it. */
  images: number;
  /** The folder for images. Each one replaces the previous one. */
  folder: string;
  /** Whether the first bad image ends the exploration. @default false */
  isOverAtFirst?: boolean;
}

/** Explores a recording. Throws between two images if the signal is aborted. */
export async function explore(
  { events, clients }: Recording,
  { seed, images, folder, isOverAtFirst = false }: Exploration,
  signal?: AbortSignal,
): Promise<Findings> {
  const random = randomOf(seed);
  const disk = new Disk();
  const judge = new Judge(folder);
  const acknowledged = new Map(clients.map((client) => [client, 0]));
  const complaints = clients.flatMap(({ complaint }) => complaint ?? []);
  const findings: Findings = { images: 0, bad: [] };
  if (complaints.length > 0)
    findings.bad.push({ at: events.length, survival: "a wrong response", faults: complaints });
  const seen = new Set<string>();
  const share = images / events.length;
  for (const [index, event] of events.entries()) {
    if ("step" in event) disk.apply(event.at, event.step);
    else
      for (const [client, count] of acknowledged)
        acknowledged.set(client, Math.max(count, (numberOf(event.answered, client) ?? -1) + 1));
    for (const survival of shuffled(survivals, random)) {
      // An unflushed write is lost only before the next flush, so the failure directly after each response is checked.
      const isAfterResponse = "answered" in event && survival === "nothing";
      if (!isAfterResponse && findings.images >= share * (index + 1)) continue;
      const image = disk.image(survival, random);
      const print = printOf(image, acknowledged);
      if (seen.has(print)) continue;
      seen.add(print);
      signal?.throwIfAborted();
      findings.images++;
      const faults = judge.faultsOf(image, acknowledged);
      if (faults.length === 0) continue;
      findings.bad.push({ at: index, survival, faults });
      if (isOverAtFirst) return findings;
    }
  }
  return findings;
}

/** A text that is equal for equal images at equal moments. */
function printOf(image: ReadonlyMap<string, Buffer>, acknowledged: Acknowledged): string {
  const files = [...image].map(([name, bytes]) => `${name} ${bytes.length} ${crc32(bytes)}`);
  return [...files, ...acknowledged.values()].join();
}

function shuffled<T>(all: readonly T[], random: Random): T[] {
  return all
    .map((each) => ({ each, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ each }) => each);
}
