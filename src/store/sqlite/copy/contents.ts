/** A store's file as a whole, read on one connection. Whoever calls decides which transaction a read belongs to. */
import type { DatabaseSync } from "node:sqlite";
import {
  type Cell,
  type Contents,
  type Item,
  layouts,
  type Outline,
  outlineOf,
  type PageSize,
  type Section,
} from "../../copy/whole.ts";
import { type NumberedCollection, readCatalogue } from "../file/catalogue.ts";
import { Gaps } from "../file/gaps.ts";
import { toSqliteId } from "../file/ids.ts";
import { openError } from "../file/open-file.ts";
import { readSecret } from "../file/secret.ts";
import { changesTable, resourcesTable } from "../file/tables.ts";

/** Where the items of a section are. */
export interface TableOfSection {
  table: string;
  /** Quoted, in the order of the layout. */
  columns: readonly string[];
  /** What stands in the table for a key. */
  toKey(key: Cell): Cell | bigint;
}

/** Reads everything that the file holds. */
export class SqliteContents implements Contents {
  readonly #path: string;
  readonly #database: DatabaseSync;

  constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.#database = database;
  }

  outline(): Promise<Outline> {
    return this.#withStartErrors(() => this.#outline());
  }

  count(section: Section): Promise<number> {
    return this.#withStartErrors(() => {
      const { table } = this.tableOf(section);
      return Number(this.#database.prepare(`select count(*) as n from ${table}`).get()?.n);
    });
  }

  items(section: Section, after: Cell | undefined, size: PageSize): Promise<readonly Item[]> {
    return this.#withStartErrors(() => this.#items(section, after, size));
  }

  #outline(): Outline {
    const groups = this.#database.prepare("select value from meta where name = 'groups'").get()?.value;
    const heads = this.#database.prepare(
      "select sequence, count, last_id as lastId from heads where number = ?",
    );
    const gaps = new Gaps(this.#database);
    const collections = [...readCatalogue(this.#database).values()].map((collection) => {
      const { sequence, count, lastId } = heads.get(collection.number) ?? {};
      const gapsUpTo = gaps.upTo(collection.number);
      const counters = { sequence: Number(sequence), gapsUpTo, count: Number(count), lastId: Number(lastId) };
      return outlineOf(collection, counters);
    });
    return { secret: readSecret(this.#database), groups: Number(groups), collections };
  }

  #items(section: Section, after: Cell | undefined, size: PageSize): readonly Item[] {
    const { table, columns, toKey } = this.tableOf(section);
    const from = after === undefined ? "" : `where ${columns[0]} > ?`;
    const statement = this.#database.prepare(
      `select ${columns.join(", ")} from ${table} ${from} order by ${columns[0]} limit ?`,
    );
    statement.setReturnArrays(true);
    const begin = after === undefined ? [] : [toKey(after)];
    return takePage(statement.iterate(...begin, size.items) as Iterable<unknown>, section, size.bytes);
  }

  /** Where the items of a section are. */
  tableOf(section: Section): TableOfSection {
    const columns = layouts[section.kind].columns.map(({ name }) => `"${name}"`);
    const asIs = (key: Cell) => key;
    if (!("collection" in section)) return { table: section.kind, columns, toKey: asIs };
    const { number, idKind } = this.#require(section.collection);
    if (section.kind === "changes") return { table: changesTable(number), columns, toKey: asIs };
    return { table: resourcesTable(number), columns, toKey: (key) => toSqliteId(idKind, String(key)) };
  }

  /** What goes wrong is told in one line. */
  async #withStartErrors<T>(read: () => T): Promise<T> {
    try {
      return read();
    } catch (error) {
      throw openError(this.#path, error);
    }
  }

  #require(name: string): Pick<NumberedCollection, "number" | "idKind"> {
    const row = this.#database
      .prepare("select number, id_kind as idKind from collections where name = ?")
      .get(name);
    if (row === undefined) throw new Error(`The store has no collection ${JSON.stringify(name)}.`);
    return { number: Number(row.number), idKind: row.idKind as NumberedCollection["idKind"] };
  }
}

/** Takes items until their long texts are as much as one page may hold, but at least one. */
function takePage(rows: Iterable<unknown>, { kind }: Section, maxBytes: number): Item[] {
  const { columns, long } = layouts[kind];
  const longAt = columns.findIndex(({ name }) => name === long);
  const items: Item[] = [];
  let bytes = 0;
  for (const row of rows as Iterable<Cell[]>) {
    const [key, ...others] = row;
    // Ids are texts everywhere else.
    const item = [kind === "resources" ? String(key) : (key as Cell), ...others];
    bytes += Buffer.byteLength(String(item[longAt] ?? ""));
    if (items.length > 0 && bytes > maxBytes) break;
    items.push(item);
  }
  return items;
}
