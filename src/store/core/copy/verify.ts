/** Compares a copy with its source, item by item. */
import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { StartError } from "../../../errors.ts";
import { damageOf } from "../checksums.ts";
import {
  type CollectionOutline,
  type Contents,
  damagedIn,
  endMissing,
  gapBefore,
  hasGap,
  type Item,
  lacksEnd,
  type PageSize,
  placeOf,
  type Section,
  type Survey,
} from "./contents.ts";

/** The number of equal items of each kind. */
export interface VerifiedContents {
  keys: number;
  receipts: number;
  resources: number;
  changes: number;
  deleted: number;
  /** SHA-256 of all items in order. Stores with the same contents have the same checksum, whatever their kind. */
  checksum: string;
}

/** The options of a comparison. */
export interface VerifyOptions {
  survey: Survey;
  watch: { update(done: number, resources: number): void };
  size: PageSize;
  signal: AbortSignal | undefined;
}

/** Compares two stores. Throws StartError with the first difference. */
export async function verifyCopy(
  source: Contents,
  target: Contents,
  options: VerifyOptions,
): Promise<VerifiedContents> {
  const { outline, sections } = options.survey;
  if (JSON.stringify(await target.outline()) !== JSON.stringify(outline))
    throw different("the declarations and counters of its collections");
  const counts = { keys: 0, receipts: 0, resources: 0, changes: 0, deleted: 0 };
  const checksum = createHash("sha256");
  let done = 0;
  for (const { section, count } of sections) {
    const readers = [source, target].map((side) => new SectionReader(side, section, options.size)) as [
      SectionReader,
      SectionReader,
    ];
    const collection = outline.collections.find(
      (each) => "collection" in section && each.name === section.collection,
    );
    const items = await compare(
      readers,
      { section, collection },
      {
        onText: (text) => checksum.update(text),
        onPage: (n) => {
          options.signal?.throwIfAborted();
          options.watch.update(done + n, counts.resources + (section.kind === "resources" ? n : 0));
        },
      },
    );
    if (items.count !== count) throw different(`${nameOf(section)}: ${items.count} instead of ${count}`);
    // Otherwise resources are missing or old.
    if (section.kind === "resources" && collection?.checksums !== items.checksums)
      throw new StartError(`The source is damaged: ${nameOf(section)} are not those that were last written.`);
    counts[section.kind] += items.count;
    done += items.count;
  }
  return { ...counts, checksum: checksum.digest("hex") };
}

/** Reads a section page by page. */
class SectionReader {
  readonly #contents: Contents;
  readonly #section: Section;
  readonly #size: PageSize;
  #page: readonly Item[] = [];
  #next = 0;

  constructor(contents: Contents, section: Section, size: PageSize) {
    this.#contents = contents;
    this.#section = section;
    this.#size = size;
  }

  /** Whether the next item is on a page that has not been read. */
  get needsPage(): boolean {
    return this.#next === this.#page.length;
  }

  /** Reads the next page. */
  async readPage(): Promise<void> {
    this.#page = await this.#contents.items(this.#section, this.#page.at(-1)?.[0] ?? undefined, this.#size);
    this.#next = 0;
  }

  /** The next item of the page; `undefined` at the end of the section. */
  take(): Item | undefined {
    return this.#page[this.#next++];
  }
}

/**
 * Compares a section. Returns the number of its items, and the sum of their checksums. Throws StartError at the first
 * difference, at an item whose checksum is wrong, and where the change log lacks changes.
 */
async function compare(
  [source, target]: readonly [SectionReader, SectionReader],
  { section, collection }: { section: Section; collection: CollectionOutline | undefined },
  callbacks: { onText(text: string): void; onPage(items: number): void },
): Promise<{ count: number; checksums: number }> {
  const checksumAt = placeOf(section.kind, "checksum");
  let checksums = 0;
  let sequence = 0;
  for (let items = 0; ; items++) {
    if (source.needsPage) {
      await nextTurn(); // lets signals be handled
      callbacks.onPage(items);
      await source.readPage();
    }
    if (target.needsPage) await target.readPage();
    const [expected, found] = [source.take(), target.take()];
    if (expected === undefined && found === undefined) {
      if (section.kind === "changes" && collection !== undefined && lacksEnd(sequence, collection))
        throw new StartError(
          `${endMissing(sequence, collection.sequence, collection.name)}. Restore a backup.`,
        );
      return { count: items, checksums };
    }
    const text = `${JSON.stringify(expected)}\n`;
    if (text !== `${JSON.stringify(found)}\n`)
      throw different(`${nameOf(section)}: ${keyOf(expected, found)}`);
    if (expected !== undefined) requireIntact(section, expected);
    if (section.kind === "changes" && collection !== undefined && expected !== undefined) {
      const before = sequence;
      sequence = Number(expected[0]);
      if (hasGap(before, sequence, collection))
        throw new StartError(`${gapBefore(sequence, collection.name)}. Restore a backup.`);
    }
    checksums = (checksums + Number(expected?.[checksumAt])) | 0;
    callbacks.onText(text);
  }
}

/** Throws StartError if the checksum of an item is wrong. */
export function requireIntact(section: Section, item: Item): void {
  const damaged = damagedIn(section, item);
  if (damaged !== undefined) throw new StartError(damageOf(damaged.name, damaged.reason));
}

/** The key of an item that only one store has, or that differs. */
function keyOf(expected: Item | undefined, found: Item | undefined): string {
  return JSON.stringify((expected ?? found)?.[0]);
}

function nameOf(section: Section): string {
  return "collection" in section ? `the ${section.kind} of ${section.collection}` : `the ${section.kind}`;
}

function different(where: string): StartError {
  return new StartError(
    `The copy differs from its source in ${where}. Holdfast does not open it: empty the target, and copy again.`,
  );
}
