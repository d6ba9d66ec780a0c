/** Reads resources, receipts, heads, sizes and whole collections. Reads that are requested together share a statement. */

import { Problem } from "../../../errors.ts";
import { storedIn } from "../../core/checksums.ts";
import type { ScannedCollection } from "../../core/driver.ts";
import { unfinished } from "../../core/slow-reads.ts";
import { Batch, type Outcome } from "../../port/batch.ts";
import type { LogHead } from "../../port/change-log.ts";
import type { KeptReceipt } from "../../port/commit.ts";
import { toPlace } from "../../port/log-place.ts";
import { maxSizesWaitMs } from "../../port/store.ts";
import { isStorable, type Key, type Stored } from "../../port/stored.ts";
import { texts } from "../connection/arrays.ts";
import {
  type Connections,
  type Row,
  type Run,
  runPlan,
  type Statement,
  type StatementResult,
} from "../connection/connections.ts";
import { toClientError } from "../connection/failures.ts";
import { openSnapshot, type Snapshot } from "../connection/transaction.ts";
import type { SlowStatements } from "../list/slow-statements.ts";
import { postgresDialect, storePlans } from "../postgres-dialect.ts";
import { isCluster } from "../tables/cluster.ts";
import type { Declarations } from "../tables/declarations.ts";
import type { NumberedCollection } from "../tables/declared-catalogue.ts";
import { idOf, keyOf } from "../tables/id-keys.ts";
import { resourcesTable, tablesOf } from "../tables/tables.ts";

/** The columns of a resource, in the order that `toStored` reads. */
const resourceColumns = "key, version, updated_at, doc::text, checksum";

/** The largest value of an integer column. */
const maxInteger = 2_147_483_647;

/** The resources with these keys; without the text if it has more than `size` bytes. */
function selectResources(number: number, keys: readonly string[], size = maxInteger): Statement {
  return {
    sql: `select key, version, updated_at, case when size <= $2::bigint then doc::text end, checksum
      from ${resourcesTable(number)} where key = any($1::text[])`,
    values: [texts(keys), size],
  };
}

/**
 * Resources by their keys, in this order. The result contains `size` bytes of texts in total: later resources have no text. The
 * first `atLeast` resources always have their texts.
 */
function selectLargeResources(
  number: number,
  keys: readonly string[],
  { size, atLeast }: { size: number; atLeast: number },
): Statement {
  return {
    sql: `select key, version, updated_at, case when running <= $2::bigint or n <= $3::bigint then doc::text end, checksum
      from (select resource.*, n, sum(size) over (order by n) as running
        from unnest($1::text[]) with ordinality as asked (id, n)
        join ${resourcesTable(number)} as resource on key = asked.id) as measured`,
    values: [texts(keys), size, atLeast],
  };
}

/** The next resources after a key, with limits. It returns at least one resource, if there is one. Repeated calls read all. */
function selectChunk(
  number: number,
  after: string,
  { resources, size }: { resources: number; size: number },
): Statement {
  return {
    sql: `select ${resourceColumns} from (select *, sum(size) over (order by key rows unbounded preceding) as running
        from (select * from ${resourcesTable(number)} where key > $1::text order by key limit $2::bigint) as chunk) as measured
      where running <= $3::bigint or running = size order by key`,
    values: [after, resources, size],
  };
}

/** The statement that reads resources of the collection with this number and name. */
type Select = (number: number, keys: readonly string[], name: string) => Statement;

/** What reads depend on. */
export interface ReadsOptions {
  run: Run;
  /** The collection with this name. If it is not in the catalogue, this looks in the database. */
  find(name: string): Promise<NumberedCollection | undefined>;
  /** How many reads share a statement at most. */
  maxBatchSize: number;
}

/** How many statements run at the same time. Reads that arrive in the meantime share the next statement. */
const maxStatements = 3;

/** Text that one statement reads, in bytes. If each of its reads has less than an equal part of this, it reads all. */
const maxBytes = 16_777_216;

/** As `maxBytes`, for statements that read large resources. A single resource can be larger. */
const maxLargeBytes = 4_194_304;

/** Reads of large resources that one statement looks for. It reads only some of them. */
const maxLarge = 64;

/** The outcome of a read that must be repeated among the large ones. */
const isLarge = Symbol("large");

/** The reads of one store. */
export class Reads {
  readonly #options: ReadsOptions;
  readonly #resources: Batch<Key, Stored | undefined | typeof isLarge>;
  readonly #large: Batch<Key, Stored | undefined>;
  readonly #receipts: Batch<string, KeptReceipt | undefined>;

  constructor(options: ReadsOptions) {
    this.#options = options;
    const { maxBatchSize } = options;
    // If reads never share a statement, only the number of connections limits them.
    const maxConcurrent = maxBatchSize === 1 ? Number.POSITIVE_INFINITY : maxStatements;
    this.#resources = new Batch({
      perform: (keys) => this.#readResources(keys),
      maxBatchSize,
      maxConcurrent,
    });
    this.#large = new Batch({
      perform: (keys) => this.#readLarge(keys),
      maxBatchSize: Math.min(maxLarge, maxBatchSize),
      maxConcurrent: 1,
    });
    this.#receipts = new Batch({
      perform: (keys) => this.#readReceipts(keys),
      maxBatchSize,
      maxConcurrent,
    });
  }

  /** The resource; `undefined` if it does not exist. */
  async resource(key: Key): Promise<Stored | undefined> {
    const found = await this.#resources.run(key);
    return found === isLarge ? this.#large.run(key) : found;
  }

  /** The receipt with this key, valid or not. */
  receipt(key: string): Promise<KeptReceipt | undefined> {
    return this.#receipts.run(key);
  }

  /** Resolves when no read is in progress. */
  async drained(): Promise<void> {
    await Promise.all([this.#resources.drained(), this.#receipts.drained()]);
    await this.#large.drained();
  }

  #readResources(keys: readonly Key[]): Promise<Outcome<Stored | undefined | typeof isLarge>[]> {
    const size = Math.floor(maxBytes / keys.length);
    return this.#read(keys, (number, own) => selectResources(number, own, size));
  }

  /** The outcomes of the first ones; the others follow in the next statement. */
  async #readLarge(keys: readonly Key[]): Promise<readonly Outcome<Stored | undefined>[]> {
    const [first] = keys;
    const names = new Set(keys.map(({ collection }) => collection));
    const size = Math.floor(maxLargeBytes / names.size);
    const outcomes = await this.#read(keys, (number, own, name) =>
      selectLargeResources(number, own, { size, atLeast: name === first?.collection ? 1 : 0 }),
    );
    const end = outcomes.findIndex((outcome) => "answer" in outcome && outcome.answer === isLarge);
    return (end === -1 ? outcomes : outcomes.slice(0, end)) as Outcome<Stored | undefined>[];
  }

  /** Reads with one statement for each collection. */
  async #read(keys: readonly Key[], select: Select): Promise<Outcome<Stored | undefined | typeof isLarge>[]> {
    const names = [...new Set(keys.map(({ collection }) => collection))];
    const found = new Map<string, ReadonlyMap<string, Stored | typeof isLarge> | { error: unknown }>();
    await Promise.all(
      names.map(async (name) => {
        const ids = keys.filter(({ collection }) => collection === name).map(({ id }) => id);
        found.set(name, await this.#readCollection(name, ids, select).catch((error: unknown) => ({ error })));
      }),
    );
    return keys.map(({ collection, id }) => {
      const resources = found.get(collection);
      return resources !== undefined && "error" in resources ? resources : { answer: resources?.get(id) };
    });
  }

  async #readCollection(
    name: string,
    ids: readonly string[],
    select: Select,
  ): Promise<ReadonlyMap<string, Stored | typeof isLarge>> {
    const collection = await this.#options.find(name);
    if (collection === undefined) return new Map();
    const { number, idKind } = collection;
    const keys = [...new Set(ids.filter(isStorable).map((id) => keyOf(idKind, id)))];
    const { rows } = await this.#options.run(select(number, keys, name));
    return new Map(
      rows.map((row): [string, Stored | typeof isLarge] => {
        if (row[3] === null) return [idOf(idKind, String(row[0])), isLarge];
        const stored = toStored(collection, row);
        return [stored.id, stored];
      }),
    );
  }

  async #readReceipts(keys: readonly string[]): Promise<readonly Outcome<KeptReceipt | undefined>[]> {
    const found = await runPlan(storePlans.receipts.find([...new Set(keys)]), this.#options.run);
    return keys.map((key) => ({ answer: found.get(key) }));
  }
}

/** The resource in a row of `resourceColumns`. Throws DATA_DAMAGED. */
export function toStored(collection: ScannedCollection["collection"], row: Row): Stored {
  return storedIn(postgresDialect, collection, row);
}

/** The limits of one statement: resources, and bytes of text. */
const chunk = { resources: 256, size: 2 * 1024 * 1024 };

/** The scans in progress. Each has its own connection with an open transaction. */
export class Scans {
  readonly #connections: Connections;
  readonly #open = new Set<() => void>();

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Every resource of each collection in the order of ids, as of the first read. */
  async *scanEach(collections: readonly ScannedCollection[]): AsyncGenerator<Stored> {
    const closed = Promise.withResolvers<never>();
    closed.promise.catch(() => {});
    const close = () => closed.reject(new Problem("UNAVAILABLE", "The store was closed."));
    this.#open.add(close);
    let snapshot: Snapshot | undefined;
    try {
      snapshot = await openSnapshot(this.#connections);
      for (const { collection, begin } of collections) {
        begin();
        for (let after: string | undefined = ""; after !== undefined; ) {
          const { rows }: StatementResult = await Promise.race([
            snapshot.run(selectChunk(collection.number, after, chunk)),
            closed.promise,
          ]);
          for (const row of rows) {
            yield toStored(collection, row);
            if (!this.#open.has(close)) await closed.promise;
          }
          const last = rows.at(-1);
          after = last === undefined ? undefined : String(last[0]);
        }
      }
    } catch (error) {
      throw toClientError(error);
    } finally {
      this.#open.delete(close);
      await snapshot?.end();
    }
  }

  /** Ends the scans in progress. */
  close(): void {
    for (const close of this.#open) close();
    this.#open.clear();
  }
}

/**
 * Selects the name and the size of each table with its indexes, in bytes. The size of a table that does not exist is null.
 * `isCluster`: a table can be on another node of a Citus cluster. Then the one that this node sees has no rows.
 */
function selectSizes(tables: readonly string[], isCluster: boolean): Statement {
  const own = "pg_total_relation_size(relation)";
  const size = isCluster
    ? `case when exists (select 1 from pg_catalog.pg_dist_partition where logicalrelid = relation)
        then citus_total_relation_size(relation) else ${own} end`
    : own;
  const sql = `select name, ${size} from unnest($1::text[]) as name, to_regclass(name) as relation`;
  return { sql, values: [tables] };
}

/**
 * The sizes of collections in bytes, by name. They are all missing if the statement takes too long, for example because
 * another session has locked one of the tables.
 */
export async function readSizes(
  slow: SlowStatements,
  collections: readonly NumberedCollection[],
): Promise<ReadonlyMap<string, number>> {
  const signal = AbortSignal.timeout(maxSizesWaitMs);
  try {
    const client = { caller: "", signal };
    const tables = collections.flatMap(({ number }) => tablesOf(number));
    const read = async (run: Run) => (await run(selectSizes(tables, await isCluster(run)))).rows;
    const rows = await slow.inSnapshot(read, client);
    if (rows === unfinished) return new Map();
    const byTable = new Map(rows.map(([table, bytes]) => [table, Number(bytes)]));
    const sizeOf = ({ number }: NumberedCollection) =>
      tablesOf(number).reduce((sum, table) => sum + (byTable.get(table) ?? 0), 0);
    return new Map(collections.map((each) => [each.name, sizeOf(each)]));
  } catch (error) {
    if (signal.aborted) return new Map();
    throw error;
  }
}

/** How far the logs of all collections go. */
const selectLogHeads: Statement = { sql: "select number, sequence, gaps_up_to from holdfast_heads" };

/** The pause between two polls, in milliseconds. Another instance's commit is seen within 300 ms. */
export const pollMs = 200;

/** The heads of one store. */
export class Heads {
  readonly #run: Run;
  readonly #declarations: Pick<Declarations, "catalogue" | "reload">;
  #polling: { timer: NodeJS.Timeout | undefined } | undefined;

  constructor(run: Run, declarations: Pick<Declarations, "catalogue" | "reload">) {
    this.#run = run;
    this.#declarations = declarations;
  }

  /** The head of the log of each collection, by name. */
  async read(): Promise<ReadonlyMap<string, LogHead>> {
    const { rows } = await this.#run(selectLogHeads);
    const byNumber = new Map(
      rows.map(([number, sequence, gapsUpTo]) => [
        Number(number),
        { sequence: toPlace(Number(sequence)), gapsUpTo: toPlace(Number(gapsUpTo)) },
      ]),
    );
    const numbers = () =>
      new Set([...this.#declarations.catalogue.byName.values()].map(({ number }) => number));
    const known = numbers();
    // Another instance has created a collection.
    if ([...byNumber.keys()].some((number) => !known.has(number))) await this.#declarations.reload();
    const heads = new Map<string, LogHead>();
    for (const { name, number } of this.#declarations.catalogue.byName.values()) {
      const head = byNumber.get(number);
      if (head !== undefined) heads.set(name, head);
    }
    return heads;
  }

  /** Calls `onChange` with the names of collections whose sequences change, until `stopPolling`. */
  startPolling(onChange: (names: readonly string[]) => void): void {
    this.stopPolling();
    const polling: { timer: NodeJS.Timeout | undefined } = { timer: undefined };
    this.#polling = polling;
    let before: ReadonlyMap<string, LogHead> | undefined;
    const poll = async () => {
      try {
        const now = await this.read();
        const changed = [...now].filter(([name, { sequence }]) => before?.get(name)?.sequence !== sequence);
        if (changed.length > 0 && this.#polling === polling) onChange(changed.map(([name]) => name));
        before = now;
      } catch {
        // The database cannot be reached now. The next poll compares with the last one that worked.
      }
      if (this.#polling === polling) polling.timer = setTimeout(poll, pollMs).unref();
    };
    void poll();
  }

  /** Stops. */
  stopPolling(): void {
    clearTimeout(this.#polling?.timer);
    this.#polling = undefined;
  }
}
