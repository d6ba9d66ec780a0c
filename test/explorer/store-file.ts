/**
 * Reads a store's file with plain SQL, `JSON.parse` and the decompression of Node. It shares no code with the service, so that a
 * mistake in the service cannot hide a loss from the judge. `docs/explanation/store.md` describes the tables.
 */
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { crc32, zstdDecompressSync } from "node:zlib";

/** Everything in a store. */
export interface Contents {
  collections: readonly Collection[];
  /** Key and stored response. */
  receipts: readonly (readonly [key: string, answer: string])[];
  /** Whether it is empty, or a copy into it has not ended. */
  isIncomplete: boolean;
  /** The counters of the store, such as `receipts`. */
  totals: Readonly<Record<string, number>>;
  /** The parts of the secret. */
  secret: string;
  /** The names of the API keys. */
  keys: readonly string[];
  /** For each webhook: the sequence up to which it has handled the changes of books. */
  handled: readonly number[];
  /** What `integrity_check` complains about. */
  damage: readonly string[];
}

/** Everything in one collection. */
export interface Collection {
  name: string;
  sequence: number;
  count: number;
  /** The log can lack changes up to this sequence. */
  gapsUpTo: number;
  /** The last integer id that was given or reserved. */
  lastId: number;
  /** The attributes that are unique, that are searched, and that refer to another collection. */
  unique: readonly string[];
  search: readonly string[];
  references: readonly { attribute: string; collection: string }[];
  resources: readonly Resource[];
  changes: readonly Change[];
  /** The ids in the table of references, as the resource that refers and the one that it refers to. */
  referring: readonly (readonly [id: string, target: string])[];
  /** The ids of the resources that a search for a word finds. Throws if the index of words is incomplete. */
  find(word: string): readonly string[];
}

/** A resource as it is. */
export interface Resource {
  id: string;
  version: number;
  text: string;
}

/** An entry of the change log. */
export interface Change {
  sequence: number;
  id: string;
  version: number;
  kind: string;
  /** The text after the change. `undefined` if the change deleted the resource. */
  text: string | undefined;
}

const empty = { collections: [], receipts: [], totals: {}, secret: "", keys: [], handled: [], damage: [] };

/** Opens a store, gives its contents to `use`, and closes it. Throws if a part cannot be read. */
export function readStore<T>(path: string, use: (contents: Contents) => T): T {
  const database = new DatabaseSync(path);
  try {
    const rows = (sql: string) => database.prepare(sql).all();
    const tables = rows("select name from sqlite_schema").map(({ name }) => name);
    const isIncomplete = tables.includes("copying") || !tables.includes("meta");
    if (isIncomplete) return use({ ...empty, isIncomplete });
    const meta = rows("select name, value from meta").map((row) => [String(row.name), Number(row.value)]);
    const totals: Record<string, number> = Object.fromEntries(meta);
    const collections = rows("select * from collections order by number").map((row) =>
      collectionOf(database, row),
    );
    const states = collections.find(({ name }) => name === "_consumers")?.resources ?? [];
    return use({
      collections: collections.filter(({ name }) => !name.startsWith("_")),
      keys: rows("select name from keys").map(({ name }) => String(name)),
      handled: states.flatMap(({ text }) => JSON.parse(text).marks?.books?.[0] ?? []),
      receipts: rows("select key, answer from receipts").map((row) => [String(row.key), String(row.answer)]),
      totals,
      isIncomplete,
      secret: Object.keys(totals)
        .filter((name) => name.startsWith("secret_"))
        .map((name) => `${name}=${totals[name]}`)
        .join(),
      damage: rows("pragma integrity_check").flatMap(({ integrity_check: text }) =>
        text === "ok" ? [] : String(text),
      ),
    });
  } finally {
    database.close();
  }
}

type Row = Record<string, SQLOutputValue>;

function collectionOf(database: DatabaseSync, row: Row): Collection {
  const number = Number(row.number);
  const rows = (sql: string) => database.prepare(sql).all();
  const json = (name: string) => JSON.parse(String(row[name])) as { path: [string]; collection: string }[];
  const [head] = rows(`select sequence, count, last_id, gaps_up_to from heads where number = ${number}`);
  const resources = rows(`select id, version, doc from resources_${number}`).map(
    ({ id, version, doc }): Resource => ({ id: String(id), version: Number(version), text: String(doc) }),
  );
  const search = (JSON.parse(String(row.search)) as [string][]).map(([attribute]) => attribute);
  const references = json("refers").map(({ path, collection }) => ({ attribute: path[0], collection }));
  return {
    name: String(row.name),
    sequence: Number(head?.sequence),
    gapsUpTo: Number(head?.gaps_up_to),
    count: Number(head?.count),
    lastId: Number(head?.last_id),
    unique: json("uniques").map(({ path }) => path[0]),
    search,
    references,
    resources,
    changes: changesOf(
      rows(`select sequence, id, version, kind, superseded from changes_${number} order by sequence`),
      resources,
    ),
    referring:
      references.length === 0
        ? []
        : rows(
            `select id, target from refers_${number} left join resources_${number} using (key) order by id, target`,
          ).map(({ id, target }) => [String(id), String(target)]),
    find: search.length === 0 ? () => [] : searchOf(database, number),
  };
}

/** The change log with the text after each change. A row has the text before its change, often as a difference from the one after. */
function changesOf(rows: readonly Row[], resources: readonly Resource[]): Change[] {
  const next = new Map(resources.map(({ id, text }) => [id, text]));
  const latestFirst = rows.toReversed().map((row): Change => {
    const id = String(row.id);
    const text = next.get(id);
    if (row.superseded === null) next.delete(id);
    else next.set(id, textBefore(String(row.superseded), text ?? ""));
    return { sequence: Number(row.sequence), id, version: Number(row.version), kind: String(row.kind), text };
  });
  return latestFirst.reverse();
}

/** The text before a change: whole, as runs of the next text (`~r`), or compressed with the next text as dictionary (`~z`). */
function textBefore(kept: string, next: string): string {
  if (!kept.startsWith("~")) return kept;
  const dictionary = Buffer.from(next);
  const content = kept.slice(2);
  if (kept.startsWith("~z")) {
    const base64 = content.slice(content.indexOf(":") + 1);
    return zstdDecompressSync(Buffer.from(base64, "base64"), { dictionary }).toString();
  }
  const [length, checksum, ...pieces] = content.split(",");
  const text = Buffer.concat(
    pieces.map((piece, n) => {
      if (n % 2 === 1) return Buffer.from(piece, "base64");
      const [from = 0, size = 0] = piece.split("+").map(Number);
      return dictionary.subarray(from, from + size);
    }),
  );
  if (text.length !== Number(length) || crc32(text) !== Number(checksum))
    throw new Error("a text of the change log differs from another text than the next one");
  return text.toString();
}

function searchOf(database: DatabaseSync, number: number): Collection["find"] {
  const state = database.prepare(`select words_version from heads where number = ${number}`).get();
  if (state?.words_version === null) throw new Error(`the words of collection ${number} are not complete`);
  // The table can have words of a resource that no longer exists: such a row has no id.
  const find = database.prepare(
    `select id from search_${number} left join resources_${number} on key = search_${number}.rowid
     where search_${number} match ?`,
  );
  return (word) => find.all(`"${word}"*`).map(({ id }) => String(id));
}
