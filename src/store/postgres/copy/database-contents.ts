/** What copies and walks read in a database. */

import { foldedTable, foldingVersion } from "../../../collection/folding.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { type Cell, type ItemsTable, layouts, type PageSize } from "../../core/copy/contents.ts";
import { type ContentsDriver, ContentsPlans } from "../../core/copy/stored-contents.ts";
import { type Fault, nameOfPlace } from "../../core/findings.ts";
import { searchedWords } from "../../core/search-index.ts";
import {
  type IntactResource,
  type SliceDriver,
  type Surplus,
  sliceReads,
  sliceSize,
} from "../../core/slice-reads.ts";
import type { WalkedStore } from "../../core/walk.ts";
import { typesOf } from "../commit/statements.ts";
import { wordRows } from "../commit/words.ts";
import { integers, texts } from "../connection/arrays.ts";
import { type Connections, type Run, runPlan, type Statement } from "../connection/connections.ts";
import { describeError, failureOf } from "../connection/failures.ts";
import { transact, transactionModes } from "../connection/transaction.ts";
import { storePlans } from "../postgres-dialect.ts";
import { idOf, keyOf } from "../tables/id-keys.ts";
import { keysOf } from "../tables/key-column.ts";
import { resourcesTable, wordsTable } from "../tables/tables.ts";

const plans = new ContentsPlans(storePlans);

/** Reads a database. `run` runs one statement. */
export function postgresContents(run: Run): ContentsDriver {
  return {
    plans,
    run: (plan) => runPlan(plan, run),
    async page(table, after, size) {
      const { rows } = await run(selectPage(table, after, size));
      return rows.map(table.toItem);
    },
  };
}

/** The server measures the rows, so that a page is one statement, and no more texts are sent. */
function selectPage(
  { kind, name, columns, shown, toKey }: ItemsTable,
  after: Cell | undefined,
  size: PageSize,
): Statement {
  const { columns: declared, long } = layouts[kind];
  const [key] = columns;
  const [type] = Object.values(typesOf(declared));
  const from = after === undefined ? "" : `where ${key} > $3::${type}`;
  const measured = long === undefined ? "0" : `coalesce(octet_length(${long}), 0)`;
  const bytes = kind === "resources" ? "size" : measured;
  return {
    sql: `select ${shown}
      from (select *, sum(bytes) over (order by ${key} rows unbounded preceding) as running
        from (select *, ${bytes} as bytes from ${name} ${from} order by ${key} limit $1::bigint) as chunk
      ) as measured
      where running <= $2::bigint or running = bytes order by ${key}`,
    values: [size.items, size.bytes, ...(after === undefined ? [] : [toKey(after)])],
  };
}

/**
 * The rows of the store on these connections, for a walk. Each slice is a transaction of its own. `isThorough`: also compares all search
 * words with the resources, and counts all stored responses.
 */
export function walkedDatabase(connections: Connections, { isThorough = false } = {}): WalkedStore {
  return {
    damageIn: (error) => (failureOf(error) === "other" ? describeError(error) : undefined),
    slice: (work) =>
      transact(connections, transactionModes.snapshot, (transaction) =>
        work(sliceReads(sliceDriver((statement) => transaction.run(statement), isThorough))),
      ),
  };
}

function sliceDriver(run: Run, isThorough: boolean): SliceDriver {
  return {
    ...postgresContents(run),
    isThorough,
    ownCounters: ["words", "declared"],
    derivedTables: { keys: "resources", words: "words" },
    keyFaults: (collection, resources) => keyFaults(run, collection, resources),
    miscounted: (collection, resources) => wrongWords(run, collection, resources, isThorough),
    // A collection has many words, so a walk with pauses would take hours. The folded characters take one long turn.
    ...(isThorough && {
      wrongFolds: () => wrongFolds(run),
      surplusWords: (collection, after) => surplusWords(run, collection, after as string | undefined),
    }),
    brokenWords: (collection) => brokenWords(run, collection, isThorough),
  };
}

/** Compares the keys and the sizes of resources with their texts. */
async function keyFaults(
  run: Run,
  collection: NumberedCollection,
  resources: readonly IntactResource[],
): Promise<readonly Fault[]> {
  const { number, idKind, slots, uniqueSlots } = collection;
  const places = [...slots, ...uniqueSlots];
  const differs = places.map(
    ({ slot }) => `resource.keys[${slot}] is distinct from (wanted.keys::bytea[])[${slot}]`,
  );
  const { rows } = await run({
    sql: `select key, ${["size <> wanted.bytes", ...differs].join(", ")}
      from unnest($1::text[], $2::text[], $3::integer[]) as wanted (key, keys, bytes)
      join ${resourcesTable(number)} as resource using (key)
      where ${["size <> wanted.bytes", ...differs].join(" or ")}`,
    values: [
      texts(resources.map(({ id }) => keyOf(idKind, id))),
      texts(resources.map(({ text }) => keysOf(collection, text))),
      integers(resources.map(({ text }) => Buffer.byteLength(text))),
    ],
  });
  return rows.flatMap(([key, hasWrongSize, ...areWrong]) => {
    const id = idOf(idKind, String(key));
    const size: Fault[] = hasWrongSize === "t" ? [{ id, kind: "size", of: "" }] : [];
    const wrong = places.filter((_, n) => areWrong[n] === "t");
    return [
      ...size,
      ...wrong.map(
        (place): Fault => ({ id, kind: "index" in place ? "entry" : "unique", of: nameOfPlace(place) }),
      ),
    ];
  });
}

/** The resources whose search words in the table are not those of their texts. `isThorough`: compares the words, and not only their number. */
async function wrongWords(
  run: Run,
  { number, idKind, search }: NumberedCollection,
  resources: readonly IntactResource[],
  isThorough: boolean,
): Promise<readonly string[]> {
  const keys = texts(resources.map(({ id }) => keyOf(idKind, id)));
  const { rows } = await run({
    sql: isThorough
      ? `select key, word, times from ${wordsTable(number)} where key = any($1::text[])`
      : `select key, '', max(times) filter (where word = '') from ${wordsTable(number)} where key = any($1::text[])
          group by key having max(times) filter (where word = '') = coalesce(sum(times) filter (where word <> ''), 0)`,
    values: [keys],
  });
  const found = Map.groupBy(rows, ([key]) => String(key));
  const isRight = ({ id, text }: IntactResource) => {
    const key = keyOf(idKind, id);
    const words = wordRows(key, searchedWords(JSON.parse(text), search));
    const wanted = isThorough ? words : words.filter(({ word }) => word === "");
    const stored = new Map(found.get(key)?.map(([, word, times]) => [String(word), Number(times)]));
    return stored.size === wanted.length && wanted.every(({ word, times }) => stored.get(word) === times);
  };
  return resources.filter((each) => !isRight(each)).map(({ id }) => id);
}

/** Words of resources that do not exist. */
async function surplusWords(
  run: Run,
  { number }: NumberedCollection,
  after: string | undefined,
): Promise<Surplus> {
  const { rows } = await run({
    sql: `select words.key, min(words.word), bool_and(resource.key is null)
      from (select key, word from ${wordsTable(number)} where key > $1::text order by key limit $2::bigint) as words
      left join ${resourcesTable(number)} as resource on resource.key = words.key group by words.key order by words.key`,
    values: [after ?? "", sliceSize.items],
  });
  const lost = rows.filter(([, , isSurplus]) => isSurplus === "t");
  return {
    rows: lost.map(([key]) => `words of the resource ${key}, which does not exist`),
    last: rows.at(-1)?.[0],
  };
}

/** Compares the number of all words with the head. */
async function brokenWords(
  run: Run,
  { number, numbers }: NumberedCollection,
  isThorough: boolean,
): Promise<string | undefined> {
  if (!isThorough || numbers.building?.words !== undefined) return undefined;
  const { rows } = await run({
    sql: `select words, (select coalesce(sum(times), 0) from ${wordsTable(number)} where word = '')
      from holdfast_heads where number = $1::integer`,
    values: [number],
  });
  const [counter, found] = rows[0] ?? [];
  return counter === found ? undefined : `their counter is ${counter}, but the resources have ${found}`;
}

/** Compares what filters fold characters to with this version. */
async function wrongFolds(run: Run): Promise<readonly string[]> {
  const { rows } = await run({
    sql: "select character, folded from holdfast_folds where version = $1::text",
    values: [foldingVersion],
  });
  const { characters, folded } = foldedTable();
  const stored = new Map(rows.map(([character, now]) => [character, now]));
  const wrong = characters.filter((character, n) => stored.get(character) !== folded[n]);
  const known = new Set(characters);
  return [...wrong, ...[...stored.keys()].filter((each) => !known.has(String(each))).map(String)];
}
