/** Looks for damaged search words in a store's file. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { searchedWords } from "../../core/search-index.ts";
import { resourcesTable } from "../file/tables.ts";
import { patternOf, searchTable } from "../list/search.ts";

/** How many resources a finding names. */
const maxNamed = 3;

/**
 * What is wrong with the search words of a collection that has some. `isThorough`: also compares all of them with the resources. Throws
 * the errors of SQLite.
 */
export function brokenWords(
  database: DatabaseSync,
  collection: NumberedCollection,
  isThorough: boolean,
): string | undefined {
  const table = searchTable(collection.number);
  const row = database.prepare("select * from pragma_integrity_check(?)").get(table);
  const [result] = Object.values(row ?? {});
  if (result !== "ok") return String(result);
  searchOnce(database, collection);
  if (!isThorough || collection.numbers.building?.words !== undefined) return undefined;
  const ids = differingResources(database, collection);
  if (ids.length === 0) return undefined;
  const others = ids.length > maxNamed ? ", and others" : "";
  return `they are not the words of the resources: ${ids.slice(0, maxNamed).join(", ")}${others}`;
}

/** Makes a search, because the check of FTS5 does not read all of its tables. Throws the error of SQLite. */
function searchOnce(database: DatabaseSync, { number, search }: NumberedCollection): void {
  const some = database.prepare(`select doc from ${resourcesTable(number)} where json_valid(doc) limit 20`);
  const [word] = some.all().flatMap(({ doc }) => searchedWords(JSON.parse(String(doc)), search));
  if (word === undefined) return;
  const table = searchTable(number);
  const found = database.prepare(`select bm25(${table}) from ${table} where ${table} match ? limit 1`);
  found.get(patternOf({ beginnings: [word], whole: [] }));
}

/** Into how many groups the resources are divided by their keys. The words of each group have one sum, so that they need little memory. */
const groups = 1 << 16;

/** The names of resources whose words in the index are not those of their texts. */
function differingResources(database: DatabaseSync, collection: NumberedCollection): readonly string[] {
  const sums = new Int32Array(groups);
  const groupOf = (key: number) => ((key % groups) + groups) % groups; // a damaged key can be negative
  compareWords(database, collection, (key, sum) => {
    sums[groupOf(key)] = (sums[groupOf(key)] ?? 0) + sum;
  });
  const differing = new Set([...sums.keys()].filter((group) => sums[group] !== 0).slice(0, maxNamed + 1));
  if (differing.size === 0) return [];
  const byKey = new Map<number, number>();
  compareWords(database, collection, (key, sum) => {
    if (differing.has(groupOf(key))) byKey.set(key, ((byKey.get(key) ?? 0) + sum) | 0);
  });
  const idOf = database.prepare(
    `select cast(id as text) as id from ${resourcesTable(collection.number)} where key = ?`,
  );
  const keys = [...byKey].filter(([, sum]) => sum !== 0).map(([key]) => key);
  return keys.map((key) => {
    const id = idOf.get(key)?.id;
    return id === undefined ? "words of no resource" : `${collection.name}/${id}`;
  });
}

/** Calls `note` with the key of a resource, and a sum for each of its words: added for its text, and subtracted for the index. */
function compareWords(
  database: DatabaseSync,
  { number, search }: NumberedCollection,
  note: (key: number, sum: number) => void,
): void {
  const resources = database.prepare(`select key, doc from ${resourcesTable(number)} where json_valid(doc)`);
  for (const { key, doc } of wideRows(resources))
    for (const [place, word] of searchedWords(JSON.parse(String(doc)), search).entries())
      note(Number(key), sumOfWord(word, place));
  // A table of the connection, so the file stays as it is.
  database.exec(
    `create virtual table temp.words_in_index using fts5vocab(main, ${searchTable(number)}, instance)`,
  );
  try {
    const words = database.prepare(
      'select term, doc, "offset" from temp.words_in_index where col is not null',
    );
    for (const { term, doc, offset } of wideRows(words))
      note(Number(doc), -sumOfWord(String(term), Number(offset)));
  } finally {
    database.exec("drop table temp.words_in_index");
  }
}

/** The rows of a statement. Its integers are big, because a damaged one can be. */
function wideRows(statement: StatementSync) {
  statement.setReadBigInts(true);
  return statement.iterate();
}

function sumOfWord(word: string, place: number): number {
  return crc32(`${word} ${place}`) | 0;
}
