/** What a walk (`walk.ts`) reads in one slice, on every kind of store. */
import { isDeepStrictEqual } from "node:util";
import { formatPath } from "../../collection/paths.ts";
import type { Plan, Row, Value } from "../sql/plans.ts";
import { numberOf, query, textsOf } from "../sql/table.ts";
import type { NumberedCollection, ReadableCatalogue } from "./catalogue.ts";
import type { LoggedRowKey } from "./changes-since.ts";
import type { Contents, PageSize } from "./copy/contents.ts";
import { type ContentsDriver, StoredContents } from "./copy/stored-contents.ts";
import { referencesOf } from "./entries.ts";
import type { DerivedRows, Fault } from "./findings.ts";
import type { CollectionCounts } from "./log-plans.ts";
import { receiptTotals, storeNumbers } from "./store-numbers.ts";

/** The most that one slice reads. On a slow machine, this takes 10 ms. */
export const sliceSize: PageSize = { items: 250, bytes: 256 * 1024 };

/** A resource whose checksum is right. */
export interface IntactResource {
  id: string;
  text: string;
}

/** The reads of one slice. All of them see one snapshot. */
export interface SliceReads extends Pick<Contents, "items"> {
  /** The name of a table in messages, from its name without the prefix of the kind of store. */
  table(name: string): string;
  catalogue(): Promise<ReadableCatalogue>;
  /** The numbers of collections that lack a row: of their declaration, or with their counters. `table`: the one that lacks it. */
  lost(): Promise<readonly { number: number; table: string }[]>;
  counts(collection: NumberedCollection): Promise<CollectionCounts>;
  /** The columns in the head of a collection with numbers that the service never writes. */
  wrongCounters(collection: NumberedCollection): Promise<readonly string[]>;
  /** The table with the last ids, without the prefix of the kind of store. */
  readonly lastIds: string;
  /** The highest integer id that the collection has given, as the store says. */
  lastId(collection: NumberedCollection): Promise<number>;
  /** What is wrong with the rows that are made from these resources. */
  faults(collection: NumberedCollection, resources: readonly IntactResource[]): Promise<readonly Fault[]>;
  /** The name of the table with the rows that a fault is about, in messages. */
  tableOf(kind: Fault["kind"] | DerivedRows, collection: NumberedCollection): string;
  /** Looks at rows of a table that is made from the resources, after a place; from the first one without it. */
  surplus(kind: DerivedRows, collection: NumberedCollection, after: unknown): Promise<Surplus>;
  /** What is wrong with the search words of a collection. */
  brokenWords(collection: NumberedCollection): Promise<string | undefined>;
  /** The ids of deletes in a part of the log that the table of deleted ids lacks, or has with an earlier version. */
  forgottenDeletes(
    collection: NumberedCollection,
    range: { after: number; upTo: number },
  ): Promise<readonly string[]>;
  /** The changes after a sequence, in order. Throws DATA_DAMAGED. */
  changes(collection: NumberedCollection, after: number, limit: number): Promise<readonly LoggedRowKey[]>;
  /** The numbers of the whole store, by their names. */
  numbers(): Promise<ReadonlyMap<string, number>>;
  /** The number of receipts, and the bytes of their responses. `undefined` if the walk is not thorough, because this reads all of them. */
  receipts(): Promise<{ receipts: number; answers: number } | undefined>;
  /** Characters whose folded forms in the store are wrong. */
  wrongFolds(): Promise<readonly string[]>;
  /** The names of resources with keys that the service never gives. */
  wrongKeys(collection: NumberedCollection): Promise<readonly string[]>;
}

/** Rows that match no resource. */
export interface Surplus {
  /** For each row, what it is about. */
  rows: readonly string[];
  /** The place of the last row that was read; `undefined` at the end. */
  last: unknown;
}

const noSurplus: Surplus = { rows: [], last: undefined };

/** How one kind of store reads a slice. The collections are those of the snapshot. */
export interface SliceDriver extends ContentsDriver {
  /** Whether to read everything at once that slices cannot compare: all search words and receipts. */
  readonly isThorough: boolean;
  /** The columns with numbers that only the heads of this kind of store have. */
  readonly ownCounters: readonly string[];
  /** The tables with the keys of indexes, and with the search words. */
  readonly derivedTables: Readonly<Record<"keys" | "words", string>>;
  /** What is wrong with the keys of resources in the declared indexes, and with their sizes. */
  keyFaults(collection: NumberedCollection, resources: readonly IntactResource[]): Promise<readonly Fault[]>;
  /** The ids of the resources whose search words are not those of their texts. The collection has search words. */
  miscounted(
    collection: NumberedCollection,
    resources: readonly IntactResource[],
  ): Promise<readonly string[]>;
  /** As `SliceReads.surplus`, if entries or words are rows of their own that a slice can read. */
  surplusEntries?(collection: NumberedCollection, after: unknown): Promise<Surplus>;
  surplusWords?(collection: NumberedCollection, after: unknown): Promise<Surplus>;
  /** As in `SliceReads`. The collection has search words. */
  brokenWords?(collection: NumberedCollection): Promise<string | undefined>;
  wrongFolds?(): Promise<readonly string[]>;
  wrongKeys?(collection: NumberedCollection): Promise<readonly string[]>;
}

/** The reads of one slice, in an open snapshot. */
export function sliceReads(driver: SliceDriver): SliceReads {
  const { catalogue, logs, historyOf, dialect } = driver.plans.store;
  const contents = new StoredContents(driver);
  const table = (name: string) => dialect.tablePrefix + name;
  return {
    table,
    lastIds: dialect.lastIds.slice(dialect.tablePrefix.length),
    catalogue: () => driver.run(catalogue.readable()),
    items: (...args) => contents.items(...args),
    lost: () => driver.run(lostRows(driver)),
    counts: ({ number }) => driver.run(logs.counts(number)),
    wrongCounters: ({ number }) => driver.run(wrongCounters(driver, number)),
    lastId: ({ number }) => driver.run(lastIdIn(driver, number)),
    async faults({ name }, resources) {
      const collection = await contents.find(name);
      const { references, search, numbers: slots } = collection;
      const isGathered = search.length > 0 && slots.building?.words === undefined;
      const miscounted = isGathered ? await driver.miscounted(collection, resources) : [];
      const of = search.map(formatPath).join(", ");
      return [
        ...(await driver.keyFaults(collection, resources)),
        ...(references.length === 0 ? [] : await driver.run(misreferred(driver, collection, resources))),
        ...miscounted.map((id): Fault => ({ id, kind: "words", of })),
      ];
    },
    tableOf(kind, { number }) {
      if (kind === "references") return table(`refers_${number}`);
      if (kind === "size") return table(`resources_${number}`);
      const { keys, words } = driver.derivedTables;
      return table(`${kind === "words" ? words : keys}_${number}`);
    },
    async surplus(kind, { name }, after) {
      const collection = await contents.find(name);
      if (kind === "entries") return (await driver.surplusEntries?.(collection, after)) ?? noSurplus;
      if (kind === "words")
        return collection.search.length === 0
          ? noSurplus
          : ((await driver.surplusWords?.(collection, after)) ?? noSurplus);
      return collection.references.length === 0
        ? noSurplus
        : driver.run(surplusReferences(driver, collection, after as Value | undefined));
    },
    async brokenWords({ name }) {
      const collection = await contents.find(name);
      if (collection.search.length === 0) return undefined;
      const isGathered = collection.numbers.building?.words === undefined;
      if (isGathered && (await driver.run(wordsVersionIn(driver, collection.number))) === "")
        return `their version is missing in the table ${table("heads")}, so the service never completes them`;
      return driver.brokenWords?.(collection);
    },
    forgottenDeletes: ({ number }, range) => driver.run(forgottenDeletes(driver, number, range)),
    changes: (collection, ...page) => driver.run(historyOf(collection).keysAfter(...page)),
    numbers: () => driver.run(storeNumbers(dialect)),
    receipts: async () => (driver.isThorough ? driver.run(receiptTotals(dialect)) : undefined),
    wrongFolds: async () => (await driver.wrongFolds?.()) ?? [],
    wrongKeys: async (collection) => (await driver.wrongKeys?.(collection)) ?? [],
  };
}

/** Rows that must be together in several tables for each collection. */
function lostRows({ plans }: ContentsDriver): Plan<{ number: number; table: string }[]> {
  const { tablePrefix, lastIds } = plans.store.dialect;
  const collections = `${tablePrefix}collections`;
  const heads = `${tablePrefix}heads`;
  const lacking = (table: string, others: string) =>
    `select number, '${table}' from ${others} where number not in (select number from ${table})`;
  const pairs = [
    [heads, collections],
    [collections, heads],
    ...(lastIds === heads ? [] : [[lastIds, collections] as const]),
  ] as const;
  return query<[], { number: number; table: string }[]>(
    pairs.map((pair) => lacking(...pair)).join(" union all "),
    (rows) => rows.map(([number, table]) => ({ number: Number(number), table: String(table) })),
  )();
}

/** The counters in every head. Each has at least the value 0, except the sum of the checksums. */
const counters = ["sequence", "count", "checksums", "gaps_up_to", "unlogged_up_to", "trimmed_up_to"];

function wrongCounters({ plans, ownCounters }: SliceDriver, number: number): Plan<readonly string[]> {
  const { tablePrefix, lastIds } = plans.store.dialect;
  const own = ownCounters.map((name) => `head.${name}`);
  const columns = [...counters.map((name) => `head.${name}`), "ids.last_id", ...own];
  return query<[number], readonly string[]>(
    `select ${columns.join(", ")} from ${tablePrefix}heads as head
      left join ${lastIds} as ids on ids.number = head.number where head.number = $1::integer`,
    ([row = []]) => {
      const counterOf = (name: string) => Number(row[columns.indexOf(name)] ?? 0);
      const sequence = counterOf("head.sequence");
      const isWrong = (name: string) => {
        const value = counterOf(name);
        if (!Number.isSafeInteger(value)) return true;
        const isMark = /_up_to$/.test(name);
        // A change without history is also one that the log can lack.
        if (name === "head.unlogged_up_to" && value > counterOf("head.gaps_up_to")) return true;
        return (value < 0 && name !== "head.checksums") || (isMark && value > sequence);
      };
      return columns.filter(isWrong).map((name) => name.replace(/^\w+\./, ""));
    },
  )(number);
}

function lastIdIn({ plans }: ContentsDriver, number: number): Plan<number> {
  return query<[number], number>(
    `select last_id from ${plans.store.dialect.lastIds} where number = $1::integer`,
    numberOf,
  )(number);
}

/** The version of the search words of a collection; an empty text without one. */
function wordsVersionIn({ plans }: ContentsDriver, number: number): Plan<string> {
  return query<[number], string>(
    `select words_version from ${plans.store.dialect.tablePrefix}heads where number = $1::integer`,
    ([row]) => String(row?.[0] ?? ""),
  )(number);
}

function forgottenDeletes(
  { plans }: ContentsDriver,
  number: number,
  { after, upTo }: { after: number; upTo: number },
): Plan<readonly string[]> {
  const { tablePrefix } = plans.store.dialect;
  return query<[number, number], readonly string[]>(
    `select change.id from ${tablePrefix}changes_${number} as change
      left join ${tablePrefix}deleted_${number} as deleted on deleted.id = change.id
      where change.sequence > $1::bigint and change.sequence <= $2::bigint and change.kind = 'deleted'
        and (deleted.version is null or deleted.version < change.version)`,
    textsOf,
  )(after, upTo);
}

/** The resources whose rows in the table of references do not match their texts. */
function* misreferred(
  { plans }: ContentsDriver,
  { number, idKind, references }: NumberedCollection,
  resources: readonly IntactResource[],
): Plan<readonly Fault[]> {
  const { tablePrefix, keyColumn, keyOf, idOf, among, list } = plans.store.dialect;
  const column = `resource.${keyColumn}`;
  const rows = yield* query<[Value], readonly Row[]>(
    `select ${column}, refers.attribute, refers.target from ${tablePrefix}resources_${number} as resource
      join ${tablePrefix}refers_${number} as refers on refers.key = resource.key where ${among(column, 1)}`,
    (found) => found,
  )(list(resources.map(({ id }) => keyOf(idKind, id))));
  const found = Map.groupBy(rows, ([key]) => idOf(idKind, key));
  return resources.flatMap(({ id, text }) => {
    const wanted = Map.groupBy(referencesOf(JSON.parse(text), references), ([attribute]) => attribute);
    const stored = Map.groupBy(
      (found.get(id) ?? []).map(([, ...names]) => names),
      ([attribute]) => String(attribute),
    );
    return [...new Set([...wanted.keys(), ...stored.keys()])]
      .filter((of) => !isDeepStrictEqual(namesOf(wanted.get(of)), namesOf(stored.get(of))))
      .map((of): Fault => ({ id, kind: "references", of }));
  });
}

function namesOf(rows: readonly Row[] = []): Set<string> {
  return new Set(rows.map((row) => JSON.stringify(row)));
}

/** References of resources that do not exist. */
function* surplusReferences(
  { plans }: ContentsDriver,
  { number }: NumberedCollection,
  after: Value | undefined,
): Plan<Surplus> {
  const { tablePrefix } = plans.store.dialect;
  const table = `${tablePrefix}refers_${number}`;
  const rows = yield* query<readonly Value[], readonly Row[]>(
    `select refers.key, refers.attribute, refers.target, case when resource.key is null then 1 else 0 end
      from (select key, attribute, target from ${table} ${after === undefined ? "" : "where key > $1"}
        order by key limit ${sliceSize.items}) as refers
      left join ${tablePrefix}resources_${number} as resource on resource.key = refers.key order by refers.key`,
    (found) => found,
  )(...(after === undefined ? [] : [after]));
  const lost = rows.filter(([, , , isSurplus]) => Number(isSurplus) === 1);
  return {
    rows: lost.map(([, attribute, target]) => `"${attribute}" of no resource, with the id ${target}`),
    last: rows.at(-1)?.[0],
  };
}
