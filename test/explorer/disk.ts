/**
 * A model of a disk whose power can fail. It receives the writes and flushes of programs, and returns images: possible contents of
 * the folder after the failure. Each change that was not flushed is on the disk or not, in parts. The same is true of the length of
 * a file and of the names in the folder.
 */

import type { Random } from "../seed.ts";

/** One event of a file. `name` is its path in the folder. */
export type Step =
  /** The file is opened, and created if it does not exist. */
  | { kind: "create"; name: string }
  | { kind: "remove"; name: string }
  /** The file gets a second name. */
  | { kind: "link"; name: string; to: string }
  | { kind: "write"; name: string; offset: number; bytes: Buffer; end: number }
  | { kind: "truncate"; name: string; length: number; end: number }
  /** Everything that ended before `covers` is on the disk. */
  | { kind: "flush"; name: string; covers: number }
  /** The same for the names in a folder. The outermost one is ".". */
  | { kind: "flush names"; folder: string; covers: number };

const biases = ["none", "all", "all but one", "only one", "the first", "the last", "some"] as const;
const pieces = ["whole writes", "sectors", "torn writes"] as const;
const orders = ["of time", "of place"] as const;
const rooms = ["zeros", "junk", "old bytes"] as const;

/** What survives of everything that was not flushed. */
export interface Survival {
  /** How much of it: `the first` and `the last` of its parts in the given order, a random number of them. */
  which: (typeof biases)[number];
  /** Its parts. A torn write has two parts, which meet at any byte. */
  pieces: (typeof pieces)[number];
  order: (typeof orders)[number];
  /** Whether a file can be longer or shorter than the surviving writes make it. */
  hasOtherLengths: boolean;
  /** What a file has where it was extended and nothing written survives. */
  room: (typeof rooms)[number];
}

const plain = { pieces: "whole writes", order: "of time", hasOtherLengths: false, room: "zeros" } as const;

/** Nothing survives that was not flushed. */
export const nothing: Survival = { which: "none", ...plain };

/** Everything survives. */
export const everything: Survival = { which: "all", ...plain };

/** A random way to survive. */
export function drawSurvival(random: Random): Survival {
  const one = <T>(all: readonly T[]) => all[Math.floor(random() * all.length)] as T;
  return {
    which: one(biases),
    pieces: one(pieces),
    order: one(orders),
    hasOtherLengths: random() < 0.5,
    room: one(rooms),
  };
}

const sectorSize = 512;

interface Change {
  /** The time after the change. */
  at: number;
  offset: number;
  /** The written bytes. A truncation writes nothing and sets the length. */
  bytes: Buffer;
  /** The length of the file afterwards, if the change is a truncation. */
  cutTo?: number;
}

/** A part of a change, or a name: what survives or not. */
interface Part {
  at: number;
  file: File | undefined;
  change: Change | Naming;
  begin: number;
  end: number;
}

/** A file, independent of its names. */
class File {
  durable: Buffer;
  pending: Change[] = [];
  /** Its number among all files, for the order of place. */
  readonly number: number;

  constructor(number: number, durable: Buffer = Buffer.alloc(0)) {
    this.number = number;
    this.durable = durable;
  }

  /** Marks everything before this time as on the disk. */
  flush(covers: number): void {
    const covered = this.pending.filter(({ at }) => at < covers).map((change) => whole(this, change));
    if (covered.length === 0) return;
    this.pending = this.pending.filter(({ at }) => at >= covers);
    this.durable = this.image(covered, nothing, () => 0);
  }

  /** The content with these parts of its changes, in their order. */
  image(parts: readonly Part[], { room, hasOtherLengths }: Survival, random: Random): Buffer {
    const lengths = lengthsOf(this.durable.length, this.pending);
    const most = Math.max(
      this.durable.length,
      ...lengths,
      ...parts.map(({ change, end }) => endOf(change, end)),
    );
    const image = Buffer.alloc(most);
    this.durable.copy(image);
    const fill = (from: number, to: number) => fillRoom(image.subarray(from, to), room, this.durable, random);
    fill(this.durable.length, most);
    let length = this.durable.length;
    for (const { change, begin, end } of parts) {
      if ("name" in change) continue;
      if (change.cutTo === undefined) {
        change.bytes.copy(image, change.offset + begin, begin, end);
        length = Math.max(length, change.offset + end);
        continue;
      }
      if (change.cutTo < length) fill(change.cutTo, length);
      length = change.cutTo;
    }
    if (hasOtherLengths) length = lengths[Math.floor(random() * lengths.length)] ?? length;
    return image.subarray(0, length);
  }
}

function endOf(change: Change | Naming, end: number): number {
  return "name" in change ? 0 : (change.cutTo ?? change.offset + end);
}

/** The lengths that a file had since its last flush. */
function lengthsOf(durable: number, changes: readonly Change[]): number[] {
  const lengths = [durable];
  for (const change of changes)
    lengths.push(change.cutTo ?? Math.max(lengths.at(-1) ?? 0, endOf(change, change.bytes.length)));
  return lengths;
}

function fillRoom(room: Buffer, kind: Survival["room"], old: Buffer, random: Random): void {
  if (kind === "zeros") room.fill(0);
  else if (kind === "junk" || old.length === 0) {
    const seed = Math.floor(random() * 0x1_0000_0000);
    for (let at = 0; at < room.length; at++) room[at] = Math.imul(at ^ seed, 0x9e37_79b1) >>> 24;
  } else {
    // A disk gives out blocks that had a part of another file before.
    const from = Math.floor((random() * old.length) / sectorSize) * sectorSize;
    room.fill(old.subarray(from));
  }
}

/** A name that a file received or lost. */
interface Naming {
  at: number;
  name: string;
  file: File | undefined;
}

/** A folder on a disk whose power can fail after each step. */
export class Disk {
  readonly #files: Map<string, File>;
  readonly #durableNames: Map<string, File>;
  readonly #all: Set<File>;
  #pendingNames: Naming[] = [];
  #count = 0;

  /** `initial`: what is on the disk at the beginning. */
  constructor(initial: ReadonlyMap<string, Buffer> = new Map()) {
    this.#files = new Map([...initial].map(([name, bytes]) => [name, new File(this.#count++, bytes)]));
    this.#durableNames = new Map(this.#files);
    this.#all = new Set(this.#files.values());
  }

  /** Applies the next step. `at` increases. */
  apply(at: number, step: Step): void {
    switch (step.kind) {
      case "create":
        if (!this.#files.has(step.name)) this.#name({ at, name: step.name, file: new File(this.#count++) });
        break;
      case "remove":
        this.#name({ at, name: step.name, file: undefined });
        break;
      case "link":
        this.#name({ at, name: step.to, file: this.#file(step.name) });
        break;
      case "write":
        this.#file(step.name).pending.push({ at: step.end, offset: step.offset, bytes: step.bytes });
        break;
      case "truncate": {
        const { length: cutTo, end } = step;
        this.#file(step.name).pending.push({ at: end, offset: cutTo, bytes: Buffer.alloc(0), cutTo });
        break;
      }
      case "flush":
        this.#files.get(step.name)?.flush(step.covers);
        break;
      case "flush names": {
        const isCovered = ({ at, name }: Naming) => at < step.covers && folderOf(name) === step.folder;
        for (const naming of this.#pendingNames) if (isCovered(naming)) setName(this.#durableNames, naming);
        this.#pendingNames = this.#pendingNames.filter((naming) => !isCovered(naming));
        const named = [...this.#durableNames.values(), ...this.#pendingNames.map(({ file }) => file)];
        for (const file of this.#all) if (!named.includes(file)) this.#all.delete(file);
      }
    }
  }

  /** A possible content of the disk if the power fails now. */
  image(survival: Survival, random: Random): Map<string, Buffer> {
    const survivors = survivorsOf(this.#parts(survival, random), survival, random);
    const names = new Map(this.#durableNames);
    for (const { change } of survivors) if ("name" in change) setName(names, change);
    const parts = Map.groupBy(survivors, ({ file }) => file);
    return new Map(
      [...names].map(([name, file]) => [name, file.image(parts.get(file) ?? [], survival, random)]),
    );
  }

  /** The parts of everything that is not flushed, in the order of time. */
  #parts({ pieces }: Survival, random: Random): Part[] {
    const torn = Math.floor(random() * [...this.#all].reduce((sum, { pending }) => sum + pending.length, 0));
    let count = 0;
    const ofFiles = [...this.#all].flatMap((file) =>
      file.pending.flatMap((change) => {
        const isTorn = count++ === torn;
        if (pieces === "sectors") return sectorsOf(file, change);
        return pieces === "torn writes" && isTorn ? tornAt(file, change, random) : [whole(file, change)];
      }),
    );
    const ofNames = this.#pendingNames.map((change) => ({ ...change, change, begin: 0, end: 0 }));
    return [...ofFiles, ...ofNames].sort((a, b) => a.at - b.at);
  }

  #name(naming: Naming): void {
    setName(this.#files, naming);
    this.#pendingNames.push(naming);
    if (naming.file !== undefined) this.#all.add(naming.file);
  }

  #file(name: string): File {
    const file = this.#files.get(name);
    if (file === undefined) throw new Error(`${name} was written to before it was created`);
    return file;
  }
}

const folderOf = (name: string) => (name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : ".");

function setName(names: Map<string, File>, { name, file }: Naming): void {
  if (file === undefined) names.delete(name);
  else names.set(name, file);
}

function whole(file: File, change: Change): Part {
  return { at: change.at, file, change, begin: 0, end: change.bytes.length };
}

function tornAt(file: File, change: Change, random: Random): Part[] {
  const at = Math.floor(random() * change.bytes.length);
  const part = whole(file, change);
  return at === 0
    ? [part]
    : [
        { ...part, end: at },
        { ...part, begin: at },
      ];
}

/** The parts of a write in the sectors of its file. */
function sectorsOf(file: File, change: Change): Part[] {
  const part = whole(file, change);
  const parts: Part[] = [];
  for (let begin = 0; begin < part.end; begin = parts.at(-1)?.end ?? part.end) {
    const next = (Math.floor((change.offset + begin) / sectorSize) + 1) * sectorSize - change.offset;
    parts.push({ ...part, begin, end: Math.min(next, part.end) });
  }
  return parts.length === 0 ? [part] : parts;
}

/** The parts that are on the disk after the power cut, in the order of time. */
function survivorsOf(parts: Part[], { which, order }: Survival, random: Random): Part[] {
  const number = Math.floor(random() * parts.length);
  const share = random();
  const placed = order === "of place" ? parts.toSorted(byPlace) : parts;
  const isKept: Record<Survival["which"], (index: number) => boolean> = {
    none: () => false,
    all: () => true,
    "all but one": (index) => index !== number,
    "only one": (index) => index === number,
    "the first": (index) => index < number,
    "the last": (index) => index >= number,
    some: () => random() < share,
  };
  const kept = new Set(placed.filter((_, index) => isKept[which](index)));
  return parts.filter((part) => kept.has(part));
}

function byPlace(a: Part, b: Part): number {
  return (a.file?.number ?? -1) - (b.file?.number ?? -1) || placeOf(a) - placeOf(b);
}

const placeOf = ({ change, begin }: Part) => ("name" in change ? -1 : change.offset + begin);
