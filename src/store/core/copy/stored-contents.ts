/** The contents of a store, read and written with plans. Each kind of store has its own transactions, and reads pages in its own way. */
import { StartError } from "../../../errors.ts";
import type { CollectionRecord } from "../../port/record.ts";
import type { Dialect } from "../../sql/dialect.ts";
import { type Plan, together, type Value } from "../../sql/plans.ts";
import { command, numberOf, query } from "../../sql/table.ts";
import type { NumberedCollection } from "../catalogue.ts";
import type { StorePlans } from "../driver.ts";
import {
  type Cell,
  type CollectionOutline,
  type Contents,
  type CopyTarget,
  type Item,
  type ItemsTable,
  itemsTable,
  type Outline,
  type PageSize,
  type Section,
} from "./contents.ts";

/** The plans for the contents of one kind of store. Their texts are made once. */
export class ContentsPlans {
  readonly store: StorePlans;
  readonly sql: ReturnType<typeof makeTexts>;

  constructor(store: StorePlans) {
    this.store = store;
    this.sql = makeTexts(store.dialect);
  }

  /** The store without its items. */
  *outline(): Plan<Outline> {
    const [secret, groups, all, counters] = yield* together(
      this.store.secret.read(),
      this.sql.groups(),
      this.store.catalogue.all(),
      this.sql.counters(),
    );
    const collections = all.map(
      ({ number, slots, uniqueSlots, places, numbers, ...record }): CollectionOutline => {
        const [sequence = 0, count = 0, checksums = 0, lastId = 0, ...gaps] = counters.get(number) ?? [];
        const [gapsUpTo = 0, unloggedUpTo = 0, trimmedUpTo = 0] = gaps;
        const head = { sequence, gapsUpTo, unloggedUpTo, trimmedUpTo, count, checksums: checksums | 0 };
        return { ...record, ...head, lastId };
      },
    );
    return { secret, groups, collections };
  }

  /** Sets everything that an outline has, except the declarations. */
  *setCounters({ secret, groups, collections }: Outline): Plan<void> {
    yield* this.store.secret.replace(secret);
    yield* this.sql.setGroups(groups);
    yield* this.sql.countReceipts();
    yield* this.sql.countAnswers();
    const numbers = new Map((yield* this.store.catalogue.all()).map(({ name, number }) => [name, number]));
    for (const { name, sequence, count, checksums, lastId, ...gaps } of collections) {
      const number = numbers.get(name) as number;
      const { gapsUpTo, unloggedUpTo, trimmedUpTo } = gaps;
      yield* this.sql.setHead(number, sequence, count, checksums, gapsUpTo, unloggedUpTo, trimmedUpTo);
      yield* this.sql.setLastId(number, lastId);
    }
  }
}

function makeTexts({ tablePrefix, lastIds, lockRows }: Dialect) {
  const [meta, heads, receipts] = ["meta", "heads", "receipts"].map((name) => tablePrefix + name);
  /** It exists until the copy is complete. */
  const mark = `${tablePrefix}copying`;
  return {
    groups: query<[], number>(`select value from ${meta} where name = 'groups'`, numberOf),
    counters: query<[], ReadonlyMap<number, number[]>>(
      `select head.number, head.sequence, head.count, head.checksums & 4294967295, ids.last_id,
          head.gaps_up_to, head.unlogged_up_to, head.trimmed_up_to
        from ${heads} as head join ${lastIds} as ids on ids.number = head.number`,
      (rows) => new Map(rows.map(([number, ...others]) => [Number(number), others.map(Number)])),
    ),
    setGroups: command<[number]>(`update ${meta} set value = $1::bigint where name = 'groups'`),
    countReceipts: command<[]>(
      `update ${meta} set value = (select count(*) from ${receipts}) where name = 'receipts'`,
    ),
    countAnswers: command<[]>(
      `update ${meta} set value = (select coalesce(sum(octet_length(answer)), 0) from ${receipts}) where name = 'answers'`,
    ),
    setHead: command<[number, number, number, number, number, number, number]>(
      `update ${heads} set sequence = $2::bigint, count = $3::bigint, checksums = $4::bigint, gaps_up_to = $5::bigint,
        unlogged_up_to = $6::bigint, trimmed_up_to = $7::bigint where number = $1::integer`,
    ),
    setLastId: command<[number, number]>(
      `update ${lastIds} set last_id = $2::bigint where number = $1::integer`,
    ),
    /** Another copy, and another declaration, waits for this lock. */
    lockCatalogue: query<[], number>(`select value from ${meta} where name = 'format'${lockRows}`, numberOf),
    isEmpty: query<[], boolean>(
      `select 1 where ${["collections", "keys", "receipts"].map((name) => `exists (select 1 from ${tablePrefix}${name})`).join(" or ")}`,
      ({ length }) => length === 0,
    ),
    createMark: command<[]>(`create table ${mark} (name text primary key, mark text not null)`),
    insertMark: command<[string]>(`insert into ${mark} values ('mark', $1::text)`),
    mark: query<[], string>(`select mark from ${mark}`, ([row]) => String(row?.[0])),
    /** Returns whether the mark was `before`. */
    moveMark: query<[string, string], boolean>(
      `update ${mark} set mark = $2::text where mark = $1::text returning mark`,
      ({ length }) => length === 1,
    ),
    dropMark: command<[]>(`drop table ${mark}`),
  };
}

/** How one kind of store reads its contents. */
export interface ContentsDriver {
  readonly plans: ContentsPlans;
  run<T>(plan: Plan<T>): Promise<T>;
  /** The items of a table after a key, up to the size of a page. */
  page(table: ItemsTable, after: Cell | undefined, size: PageSize): Promise<readonly Item[]>;
}

/** Reads a store. */
export class StoredContents<Driver extends ContentsDriver = ContentsDriver> implements Contents {
  protected readonly driver: Driver;
  readonly #known = new Map<string, NumberedCollection>();

  constructor(driver: Driver) {
    this.driver = driver;
  }

  outline(): Promise<Outline> {
    this.#known.clear();
    return this.driver.run(this.driver.plans.outline());
  }

  async count(section: Section): Promise<number> {
    const { name } = await this.tableOf(section);
    return this.driver.run(query<[], number>(`select count(*) from ${name}`, numberOf)());
  }

  async items(section: Section, after: Cell | undefined, size: PageSize): Promise<readonly Item[]> {
    return this.driver.page(await this.tableOf(section), after, size);
  }

  /** A collection, as it was at its first use since the last `outline`. */
  async find(name: string): Promise<NumberedCollection> {
    const found =
      this.#known.get(name) ?? (await this.driver.run(this.driver.plans.store.catalogue.find(name)));
    if (found === undefined) throw new Error(`The store has no collection ${JSON.stringify(name)}.`);
    this.#known.set(name, found);
    return found;
  }

  /** The table with the items of a section. */
  protected async tableOf(section: Section): Promise<ItemsTable> {
    const collection = "collection" in section ? await this.find(section.collection) : undefined;
    return itemsTable(this.driver.plans.store.dialect, section, collection);
  }
}

/** A transaction of a copy. */
export interface TargetTransaction {
  run<T>(plan: Plan<T>): Promise<T>;
  /** Creates collections, or changes their declarations. */
  declare(records: readonly CollectionRecord[]): Promise<void>;
}

/** How one kind of store is written by a copy. */
export interface TargetDriver extends ContentsDriver {
  isIncomplete(): Promise<boolean>;
  transact<T>(work: (transaction: TargetTransaction) => Promise<T>): Promise<T>;
  /** Whether `add` writes the keys of indexes with the resources. Otherwise the declaration of an index adds all of them. */
  readonly addsKeys: boolean;
  /** Adds rows, whose cells are in the order of the columns. */
  add(table: ItemsTable, rows: readonly (readonly Value[])[]): Plan<unknown>;
  /** Does what the store otherwise does in the background, such as the search words. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** Writes a store. */
export class StoredTarget extends StoredContents<TargetDriver> implements CopyTarget {
  async mark(): Promise<string | undefined> {
    return (await this.driver.isIncomplete()) ? this.driver.run(this.driver.plans.sql.mark()) : undefined;
  }

  begin({ collections }: Outline, mark: string): Promise<boolean> {
    const { sql } = this.driver.plans;
    return this.driver.transact(async (transaction) => {
      await transaction.run(sql.lockCatalogue());
      if (!(await transaction.run(sql.isEmpty()))) return false;
      await transaction.run(sql.createMark());
      await transaction.run(sql.insertMark(mark));
      await transaction.declare(
        collections.map(({ name, idKind, indexes, unique }) => {
          const bare = { name, idKind, schema: undefined, indexes: [], search: [] };
          return this.driver.addsKeys ? { ...bare, indexes, unique } : bare;
        }),
      );
      return true;
    });
  }

  async write(
    section: Section,
    items: readonly Item[],
    { before, after }: { before: string; after: string },
  ): Promise<void> {
    const table = await this.tableOf(section);
    const rows = items.map(([key = null, ...others]) => [table.toKey(key), ...others]);
    const { add, plans } = this.driver;
    await this.driver.transact(async (transaction) => {
      const [moved] = await transaction.run(together(plans.sql.moveMark(before, after), add(table, rows)));
      if (!moved) throw new StartError("Another copy into the same store is in progress.");
    });
  }

  async complete(outline: Outline, onDone: (collection: CollectionOutline) => void): Promise<void> {
    await this.driver.transact((transaction) => transaction.run(this.driver.plans.setCounters(outline)));
    for (const collection of outline.collections) {
      await this.driver.transact((transaction) => transaction.declare([collection]));
      onDone(collection);
    }
    await this.driver.finish();
  }

  release(): Promise<void> {
    return this.driver.transact((transaction) => transaction.run(this.driver.plans.sql.dropMark()));
  }

  close(): Promise<void> {
    return this.driver.close();
  }
}
