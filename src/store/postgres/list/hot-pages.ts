/** A cache of hot pages, that is, pages that were read recently. A page in the cache costs only a read of the head row. */
import { LRUCache } from "lru-cache";
import { isRelative } from "../../../query/filter.ts";
import type { PageQuery } from "../../core/related.ts";
import { type Batch, createBatch } from "../../port/batch.ts";
import { lengthOf, type Page } from "../../port/page.ts";
import { integers } from "../connection/arrays.ts";
import type { Run } from "../read/reads.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";

/** The pages in the cache, in characters. */
const maxWeight = 4 * 1024 * 1024;

/** The heaviest page in the cache, in characters. A heavier one would displace too many others. */
const maxPageWeight = 256 * 1024;

/** The approximate memory of a page without the texts of its resources, in characters. */
const overhead = 500;

/** How many statements read head rows at the same time. Requests that arrive in the meantime share the next one. */
const maxStatements = 2;

/**
 * The state of a collection, as an SQL expression about its head. Two reads with equal states see the same resources: every
 * change of a resource raises the sequence. After a failover, the new server may lack the last changes and give their
 * numbers to others, but it did not start at the same microsecond. A server that does not flush commits can also lose
 * changes without a new start, so the state is null there.
 */
export const stateSql = `(head.sequence::text || ' ' || head.declared::text ||
  (select ' ' || pg_postmaster_start_time()::text where current_setting('synchronous_commit') <> 'off'))`;

/** A page, and the state of its collection in the snapshot that it was read in; null if there is none. */
export interface ReadPage {
  page: Page;
  state: string | null;
}

/** What is known about a list. */
interface HotPage {
  /** The state at the last read. */
  state: string;
  /** Absent if the list was read only once in this state. */
  page?: Page;
}

/**
 * A page is valid for one state of its collection. Other services write to the same database, so each request reads the state.
 * Requests that wait at the same time share this read. A page is kept when its list is read for the second time in the
 * same state, so lists cost no more while many writes arrive.
 */
export class HotPages {
  readonly #pages = new LRUCache<string, HotPage>({
    maxSize: maxWeight,
    maxEntrySize: maxPageWeight,
    sizeCalculation: ({ page }, key) => key.length + overhead + (page === undefined ? 0 : lengthOf(page)),
  });
  /** The states of collections by their numbers. */
  readonly #states: Batch<number, string | undefined>;

  constructor(run: Run) {
    this.#states = createBatch({
      async perform(numbers: readonly number[]) {
        const { rows } = await run(selectStates([...new Set(numbers)]));
        const states = new Map(rows.map(([number, state]) => [Number(number), state ?? undefined]));
        return numbers.map((number) => ({ answer: states.get(number) }));
      },
      maxConcurrent: maxStatements,
    });
  }

  /** The cached page, if its collection still has the same state. */
  async find({ number }: NumberedCollection, key: string): Promise<Page | undefined> {
    const hot = this.#pages.get(key);
    if (hot?.page === undefined) return undefined;
    const state = await this.#states.run(number);
    return state === hot.state ? hot.page : undefined;
  }

  /** Remembers what was read. */
  note(key: string, { page, state }: ReadPage): void {
    if (state === null) return;
    const isAgain = this.#pages.peek(key)?.state === state;
    this.#pages.set(key, isAgain ? { state, page } : { state });
  }
}

/**
 * Whether the state of a collection is the state of a list. A list with conditions about other collections also depends on their
 * states. A search also depends on its table of words, which the background can be gathering. A filter that compares with the time of the request is
 * another one at the next request.
 */
export function isKeepable({ words, related, filter }: PageQuery): boolean {
  return words === undefined && related === undefined && !isRelative(filter);
}

/** The key of a list: equal for the same query on the same declaration. */
export function keyOf({ number, declared }: NumberedCollection, query: PageQuery): string {
  return `${number} ${declared} ${JSON.stringify(query)}`;
}

function selectStates(numbers: readonly number[]) {
  return {
    sql: `select head.number, ${stateSql} from holdfast_heads as head where head.number = any($1::integer[])`,
    values: [integers(numbers)],
    isRepeated: true,
  };
}
