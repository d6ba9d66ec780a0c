/** Simulates power failures at every point of a session, and checks the images of the disk after them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { crc32 } from "node:zlib";
import { randomOf } from "../seed.ts";
import { numberOf } from "./actor.ts";
import { Disk, drawSurvival, nothing, type Survival } from "./disk.ts";
import { type Acknowledged, Judge, type Known } from "./judge.ts";
import { type Recording, recordStart } from "./recording.ts";
import type * as Start from "./start-store.ts";
import { type Event, IncompleteRecording } from "./trace.ts";

/** An image with a fault. */
export interface BadImage {
  /** The event before the power cut; for a wrong response, the last event. */
  at: number;
  survival: string;
  faults: readonly string[];
}

/** The result of an exploration. */
export interface Findings {
  /** The number of images that were opened and checked. Equal images are checked once. */
  images: number;
  bad: BadImage[];
}

/** How a recording is explored. */
export interface Exploration {
  seed: number;
  /** The approximate number of images, spread over the whole session. Each response adds the image directly after it. */
  images: number;
  /**
   * The number of images among them on which the store is opened and closed, while the power fails again. Each adds up to 20 images.
   * Without them, the same recording, seed and number of images always give the same findings.
   * @default 0
   */
  starts?: number;
  /** The folder for images. Each one replaces the previous one. */
  folder: string;
  /** The folder of the program that starts. @default this one */
  from?: string;
  /** Whether the first bad image ends the exploration. @default false */
  isOverAtFirst?: boolean;
}

/** The creation of the store takes about so many events. */
const eventsOfCreation = 30;

/** The images of a start. */
const imagesOfStart = 20;

/** How often an event whose images are all known draws another one. */
const maxDraws = 5;

/** Explores a recording. Throws between two images if the signal is aborted. */
export async function explore(
  recording: Recording,
  exploration: Exploration,
  signal?: AbortSignal,
): Promise<Findings> {
  const { events, clients, initial } = recording;
  const { seed, images, starts = 0, isOverAtFirst = false } = exploration;
  const random = randomOf(seed);
  const disk = new Disk(initial);
  const from = resolve(exploration.from ?? ".");
  const { startStore } = (await import(join(from, "test/explorer/start-store.ts"))) as typeof Start;
  const judge = new Judge(exploration.folder, recording, startStore);
  const outside = new Outside(recording);
  const complaints = clients.flatMap(({ complaint }) => complaint ?? []);
  const findings: Findings = { images: 0, bad: [] };
  if (complaints.length > 0)
    findings.bad.push({ at: events.length, survival: "a wrong response", faults: complaints });
  const seen = new Set<string>();
  // One of the starts is on an image of the creation of the store, which has a rollback journal.
  const startsAt = new Set(
    Array.from({ length: starts }, (_, n) =>
      Math.floor(random() * (n === 1 ? eventsOfCreation : events.length)),
    ),
  );
  const isOver = () => isOverAtFirst && findings.bad.length > 0;
  const check = (at: number, survival: Survival, image: ReadonlyMap<string, Buffer>, where = "") => {
    const print = printOf(image, outside.known);
    if (seen.has(print)) return false;
    seen.add(print);
    signal?.throwIfAborted();
    findings.images++;
    const faults = judge.faultsOf(image, outside.known);
    if (faults.length > 0) findings.bad.push({ at, survival: `${where}${describe(survival)}`, faults });
    return true;
  };
  for (const [index, event] of events.entries()) {
    if ("step" in event) disk.apply(event.at, event.step);
    else outside.note(event);
    // An unflushed write is lost only before the next flush, so the failure directly after each message is checked.
    if (!("step" in event)) check(index, nothing, disk.image(nothing, random));
    const due = (images / events.length) * (index + 1);
    for (let draws = 0; findings.images < due && draws < maxDraws && !isOver(); draws++) {
      const survival = drawSurvival(random);
      check(index, survival, disk.image(survival, random));
    }
    if (startsAt.has(index) && !isOver()) {
      const survival = drawSurvival(random);
      const image = disk.image(survival, random);
      const start = await startOn(image, recording, from);
      const again = new Disk(image);
      const before = findings.images;
      for (const [number, { at, ...event }] of start.entries()) {
        if ("step" in event) again.apply(at, event.step);
        const due = before + (imagesOfStart / start.length) * (number + 1);
        for (let draws = 0; findings.images < due && draws < maxDraws && !isOver(); draws++) {
          const next = drawSurvival(random);
          const where = `${describe(survival)}; then after event ${number} of a start, `;
          check(index, next, again.image(next, random), where);
        }
      }
    }
    if (isOver()) break;
  }
  return findings;
}

const maxRecordings = 3;

/** The events of a start on an image. It is recorded again if the trace lacks a call. */
async function startOn(
  image: ReadonlyMap<string, Buffer>,
  recording: Recording,
  from: string,
): Promise<readonly Event[]> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-explorer-start-"));
  try {
    for (let recordings = 1; ; recordings++) {
      try {
        return (await recordStart(image, recording, { from, folder })).events;
      } catch (error) {
        if (!(error instanceof IncompleteRecording) || recordings === maxRecordings) throw error;
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What the world outside has seen so far. */
export class Outside {
  readonly known: Known;
  readonly #acknowledged: Map<Recording["clients"][number], number>;
  readonly #started = new Map<string, Acknowledged>();
  readonly #ended = new Set<string>();
  readonly #delivered = new Set<string>();
  readonly #deliveries: Recording["deliveries"];

  constructor({ clients, deliveries }: Recording) {
    this.#acknowledged = new Map(clients.map((client) => [client, 0]));
    this.#deliveries = deliveries;
    this.known = {
      acknowledged: this.#acknowledged,
      started: this.#started,
      ended: this.#ended,
      delivered: this.#delivered,
    };
  }

  note(event: Exclude<Event, { step: unknown }>): void {
    if ("answered" in event) this.#acknowledge(event.answered);
    else if ("delivered" in event) {
      const change = this.#deliveries.get(event.delivered);
      if (change !== undefined) this.#delivered.add(change);
    } else if (event.is === "started") this.#started.set(event.command, new Map(this.#acknowledged));
    else {
      this.#ended.add(event.command);
      this.#acknowledge(event.command); // an erasure is a request of a client
    }
  }

  #acknowledge(request: string): void {
    for (const [client, count] of this.#acknowledged)
      this.#acknowledged.set(client, Math.max(count, (numberOf(request, client) ?? -1) + 1));
  }
}

/** A text that is equal for equal images at equal moments. */
function printOf(image: ReadonlyMap<string, Buffer>, { acknowledged, ended, delivered }: Known): string {
  const files = [...image].map(([name, bytes]) => `${name} ${bytes.length} ${crc32(bytes)}`);
  return [...files, ...acknowledged.values(), ended.size, delivered.size].join();
}

function describe({ which, pieces, order, hasOtherLengths, room }: Survival): string {
  return `${which} of the ${pieces} in the order ${order}, ${room} in new space${hasOtherLengths ? ", other lengths" : ""}`;
}
