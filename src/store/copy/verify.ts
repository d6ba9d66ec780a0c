/** Holds a copy against its source, item by item. */
import { createHash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { StartError } from "../../errors.ts";
import type { Survey } from "./survey.ts";
import type { Contents, Item, PageSize, Section } from "./whole.ts";

/** What was found to be the same on both sides. */
export interface Same {
  keys: number;
  receipts: number;
  resources: number;
  changes: number;
  /** SHA-256 of all items in their order: equal for stores that hold the same, of whatever kind they are. */
  checksum: string;
}

/** How it is done. */
export interface Verification {
  survey: Survey;
  watch: { update(done: number, resources: number): void };
  size: PageSize;
  signal: AbortSignal | undefined;
}

/** Compares all that both sides hold. Throws StartError with the first difference. */
export async function requireSame(source: Contents, target: Contents, how: Verification): Promise<Same> {
  const { outline, sections } = how.survey;
  if (JSON.stringify(await target.outline()) !== JSON.stringify(outline))
    throw different("the declarations and counters of its collections");
  const counts = { keys: 0, receipts: 0, resources: 0, changes: 0 };
  const checksum = createHash("sha256");
  let done = 0;
  for (const { section, count } of sections) {
    const sides = [source, target].map((side) => new Walk(side, section, how.size)) as [Walk, Walk];
    const found = await compare(sides, section, {
      onText: (text) => checksum.update(text),
      onPage: (n) => {
        how.signal?.throwIfAborted();
        how.watch.update(done + n, counts.resources + (section.kind === "resources" ? n : 0));
      },
    });
    if (found !== count) throw different(`${nameOf(section)}: ${found} instead of ${count}`);
    counts[section.kind] += found;
    done += found;
  }
  return { ...counts, checksum: checksum.digest("hex") };
}

/** Goes through a section page by page. */
class Walk {
  readonly #side: Contents;
  readonly #section: Section;
  readonly #size: PageSize;
  #page: readonly Item[] = [];
  #next = 0;

  constructor(side: Contents, section: Section, size: PageSize) {
    this.#side = side;
    this.#section = section;
    this.#size = size;
  }

  /** Whether the next item has to be waited for. */
  get isAtEndOfPage(): boolean {
    return this.#next === this.#page.length;
  }

  /** Reads the next page. */
  async turn(): Promise<void> {
    this.#page = await this.#side.items(this.#section, this.#page.at(-1)?.[0] ?? undefined, this.#size);
    this.#next = 0;
  }

  /** The next item of the page; `undefined` at the end of the section, when a page was turned to and is empty. */
  take(): Item | undefined {
    return this.#page[this.#next++];
  }
}

/** Gives how many items there are. Throws StartError at the first that is not the same on both sides. */
async function compare(
  [source, target]: readonly [Walk, Walk],
  section: Section,
  tell: { onText(text: string): void; onPage(items: number): void },
): Promise<number> {
  for (let items = 0; ; items++) {
    if (source.isAtEndOfPage) {
      await turn(); // for signals
      tell.onPage(items);
      await source.turn();
    }
    if (target.isAtEndOfPage) await target.turn();
    const [one, other] = [source.take(), target.take()];
    if (one === undefined && other === undefined) return items;
    const text = `${JSON.stringify(one)}\n`;
    if (text !== `${JSON.stringify(other)}\n`) throw different(`${nameOf(section)}: ${keyOf(one, other)}`);
    tell.onText(text);
  }
}

/** The key of the item that one side does not have, or has otherwise. */
function keyOf(one: Item | undefined, other: Item | undefined): string {
  return JSON.stringify((one ?? other)?.[0]);
}

function nameOf(section: Section): string {
  return "collection" in section ? `the ${section.kind} of ${section.collection}` : `the ${section.kind}`;
}

function different(where: string): StartError {
  return new StartError(
    `The copy differs from its source in ${where}. Holdfast does not open it: empty the target, and copy again.`,
  );
}
