/** Reads the complete contents of a store's file on one connection. The caller decides on transactions. */
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
} from "../../core/copy/contents.ts";
import { type NumberedCollection, readCatalogue } from "../file/catalogue.ts";
import { openError } from "../file/open-file.ts";
import { changesTable, deletedTable, resourcesTable, toSqliteId } from "../file/tables.ts";
import { logPlans, PlanRunner, secretPlans } from "../sqlite-dialect.ts";

/** The table with the items of a section. */
export interface SectionTable {
  table: string;
  /** The quoted names, in the order of the layout. */
  columns: readonly string[];
  /** The form of a key in the table. */
  toKey(key: Cell): Cell | bigint;
}

/** The contents of a file. */
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
    return this.#withStartErrors(() => this.readItems(section, after, size));
  }

  #outline(): Outline {
    const groups = this.#database.prepare("select value from meta where name = 'groups'").get()?.value;
    const heads = this.#database.prepare(
      "select sequence, count, checksums, last_id as lastId from heads where number = ?",
    );
    const plans = new PlanRunner(this.#database);
    const collections = [...readCatalogue(this.#database).values()].map((collection) => {
      const { sequence, count, checksums, lastId } = heads.get(collection.number) ?? {};
      const gapsUpTo = plans.run(logPlans.gapsUpTo(collection.number));
      return outlineOf(collection, {
        sequence: Number(sequence),
        gapsUpTo,
        count: Number(count),
        checksums: Number(checksums),
        lastId: Number(lastId),
      });
    });
    return { secret: plans.run(secretPlans.read()), groups: Number(groups), collections };
  }

  /** As `items`, but with the errors of SQLite. */
  readItems(section: Section, after: Cell | undefined, size: PageSize): readonly Item[] {
    const { table, columns, toKey } = this.tableOf(section);
    const from = after === undefined ? "" : `where ${columns[0]} > ?`;
    const statement = this.#database.prepare(
      `select ${columns.join(", ")} from ${table} ${from} order by ${columns[0]} limit ?`,
    );
    statement.setReturnArrays(true);
    const start = after === undefined ? [] : [toKey(after)];
    return takePage(statement.iterate(...start, size.items) as Iterable<unknown>, section, size.bytes);
  }

  /** The table with the items of a section. */
  tableOf(section: Section): SectionTable {
    const columns = layouts[section.kind].columns.map(({ name }) => `"${name}"`);
    const unchanged = (key: Cell) => key;
    if (!("collection" in section)) return { table: section.kind, columns, toKey: unchanged };
    const { number, idKind } = this.#require(section.collection);
    if (section.kind === "changes") return { table: changesTable(number), columns, toKey: unchanged };
    if (section.kind === "deleted") return { table: deletedTable(number), columns, toKey: unchanged };
    return { table: resourcesTable(number), columns, toKey: (key) => toSqliteId(idKind, String(key)) };
  }

  /** Turns errors of SQLite into StartErrors. */
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

/** Reads items until their long texts reach `maxBytes`. Returns at least one item, if there is one. */
function takePage(rows: Iterable<unknown>, { kind }: Section, maxBytes: number): Item[] {
  const { columns, long } = layouts[kind];
  const longAt = columns.findIndex(({ name }) => name === long);
  const items: Item[] = [];
  let bytes = 0;
  for (const row of rows as Iterable<Cell[]>) {
    const [key, ...others] = row;
    // The table can contain integer ids. In the common form of all stores, ids are texts.
    const item = [kind === "resources" ? String(key) : (key as Cell), ...others];
    bytes += Buffer.byteLength(String(item[longAt] ?? ""));
    if (items.length > 0 && bytes > maxBytes) break;
    items.push(item);
  }
  return items;
}
