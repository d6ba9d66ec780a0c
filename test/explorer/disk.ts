/**
 * A model of a disk whose power can fail. It receives the writes and flushes of a program, and returns images: possible contents
 * of the folder after the failure. A sector that was not flushed can have any content that it had since its last flush,
 * independently of the other sectors. The same is true of the length of a file and of the names in the folder.
 */

import type { Random } from "./random.ts";

/** One event of a file. `name` is its name in the folder. */
export type Step =
  /** The file is opened, and created if it does not exist. */
  | { kind: "create"; name: string }
  | { kind: "remove"; name: string }
  | { kind: "write"; name: string; offset: number; bytes: Buffer; end: number }
  | { kind: "truncate"; name: string; length: number; end: number }
  /** Everything that ended before `covers` is on the disk. */
  | { kind: "flush"; name: string; covers: number }
  /** The same for the names in the folder. */
  | { kind: "flush names"; covers: number };

/** Which changes that were not flushed are on the disk. */
export type Survival = "nothing" | "everything" | "some writes" | "some sectors" | "lengths only";

export const survivals: readonly Survival[] = [
  "nothing",
  "everything",
  "some writes",
  "some sectors",
  "lengths only",
];

const sectorSize = 512;

interface Change {
  /** The time after the change. */
  at: number;
  offset: number;
  /** The written bytes. A truncation writes nothing and sets the length. */
  bytes: Buffer;
  /** The length of the file afterwards. */
  length: number;
}

/** A file, independent of its name. */
class File {
  #durable: Buffer = Buffer.alloc(0);
  #pending: Change[] = [];

  get #length(): number {
    return this.#pending.at(-1)?.length ?? this.#durable.length;
  }

  write(at: number, offset: number, bytes: Buffer): void {
    this.#pending.push({ at, offset, bytes, length: Math.max(this.#length, offset + bytes.length) });
  }

  truncate(at: number, length: number): void {
    this.#pending.push({ at, offset: length, bytes: Buffer.alloc(0), length });
  }

  /** Marks everything before this time as on the disk. */
  flush(covers: number): void {
    const covered = this.#pending.filter(({ at }) => at < covers);
    this.#pending = this.#pending.filter(({ at }) => at >= covers);
    this.#durable = applied(this.#durable, covered);
  }

  image(survival: Survival, random: Random): Buffer {
    switch (survival) {
      case "nothing":
        return this.#durable;
      case "everything":
        return applied(this.#durable, this.#pending);
      case "lengths only": {
        const image = Buffer.alloc(this.#length);
        this.#durable.copy(image, 0, 0, image.length);
        return image;
      }
      default:
        return this.#mixed(survival, random);
    }
  }

  /** An image in which each sector has some of its changes. */
  #mixed(survival: "some writes" | "some sectors", random: Random): Buffer {
    const moments = new Map<number, number>();
    for (const [index, change] of this.#pending.entries()) {
      const isWritten = random() < 0.5;
      for (const sector of sectorsOf(change))
        if (survival === "some writes" ? isWritten : random() < 0.5) moments.set(sector, index);
    }
    const lengths = [this.#durable.length, ...this.#pending.map(({ length }) => length)];
    const length = lengths[Math.floor(random() * lengths.length)] ?? 0;
    const image = Buffer.alloc(Math.max(...lengths));
    this.#durable.copy(image);
    for (const [index, change] of this.#pending.entries())
      for (const sector of sectorsOf(change))
        if ((moments.get(sector) ?? -1) >= index) writePart(image, change, sector);
    return image.subarray(0, length);
  }
}

function applied(durable: Buffer, changes: readonly Change[]): Buffer {
  const last = changes.at(-1);
  if (last === undefined) return durable;
  const image = Buffer.alloc(Math.max(durable.length, ...changes.map(({ length }) => length)));
  durable.copy(image);
  let length = durable.length;
  for (const change of changes) {
    if (change.length < length) image.fill(0, change.length, length);
    change.bytes.copy(image, change.offset);
    length = change.length;
  }
  return image.subarray(0, last.length);
}

function* sectorsOf({ offset, bytes }: Change): Generator<number> {
  const last = Math.ceil((offset + bytes.length) / sectorSize);
  for (let sector = Math.floor(offset / sectorSize); sector < last; sector++) yield sector;
}

/** Writes the part of a change that falls into one sector. */
function writePart(image: Buffer, { offset, bytes }: Change, sector: number): void {
  const begin = Math.max(offset, sector * sectorSize);
  const end = Math.min(offset + bytes.length, (sector + 1) * sectorSize);
  bytes.copy(image, begin, begin - offset, end - offset);
}

/** A name that a file received or lost. */
interface Naming {
  at: number;
  name: string;
  file: File | undefined;
}

/** A folder on a disk whose power can fail after each step. */
export class Disk {
  readonly #files = new Map<string, File>();
  readonly #durableNames = new Map<string, File>();
  #pendingNames: Naming[] = [];

  /** Applies the next step. `at` increases. */
  apply(at: number, step: Step): void {
    switch (step.kind) {
      case "create":
        if (!this.#files.has(step.name)) this.#name({ at, name: step.name, file: new File() });
        break;
      case "remove":
        this.#name({ at, name: step.name, file: undefined });
        break;
      case "write":
        this.#file(step.name).write(step.end, step.offset, step.bytes);
        break;
      case "truncate":
        this.#file(step.name).truncate(step.end, step.length);
        break;
      case "flush":
        this.#files.get(step.name)?.flush(step.covers);
        break;
      case "flush names":
        for (const naming of this.#pendingNames)
          if (naming.at < step.covers) setName(this.#durableNames, naming);
        this.#pendingNames = this.#pendingNames.filter((naming) => naming.at >= step.covers);
    }
  }

  /** A possible content of the disk if the power fails now. */
  image(survival: Survival, random: Random): Map<string, Buffer> {
    return new Map(
      [...this.#namesAfter(survival, random)].map(([name, file]) => [name, file.image(survival, random)]),
    );
  }

  #namesAfter(survival: Survival, random: Random): Map<string, File> {
    if (survival === "everything" || survival === "lengths only") return this.#files;
    const names = new Map(this.#durableNames);
    if (survival === "nothing") return names;
    for (const naming of this.#pendingNames) if (random() < 0.5) setName(names, naming);
    return names;
  }

  #name(naming: Naming): void {
    setName(this.#files, naming);
    this.#pendingNames.push(naming);
  }

  #file(name: string): File {
    const file = this.#files.get(name);
    if (file === undefined) throw new Error(`${name} was written to before it was created`);
    return file;
  }
}

function setName(names: Map<string, File>, { name, file }: Naming): void {
  if (file === undefined) names.delete(name);
  else names.set(name, file);
}
