/** Reads the complete contents of a store's file on one connection. The caller decides on transactions. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import {
  type Cell,
  type Contents,
  type Item,
  type ItemsTable,
  itemsTable,
  layouts,
  type Outline,
  outlineOf,
  type PageSize,
  type Section,
} from "../../core/copy/contents.ts";
import type { Row } from "../../sql/plans.ts";
import { type NumberedCollection, readCatalogue } from "../file/catalogue.ts";
import { openError } from "../file/open-file.ts";
import { logPlans, PlanRunner, secretPlans, sqliteDialect } from "../sqlite-dialect.ts";

/** The contents of a file. */
export class SqliteContents implements Contents {
  readonly #path: string;
  readonly #database: DatabaseSync;
  protected readonly plans: PlanRunner;

  constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.#database = database;
    this.plans = new PlanRunner(database);
  }

  outline(): Promise<Outline> {
    return this.#withStartErrors(() => this.#outline());
  }

  count(section: Section): Promise<number> {
    return this.#withStartErrors(() => {
      const { name } = this.tableOf(section);
      return Number(this.#database.prepare(`select count(*) as n from ${name}`).get()?.n);
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
    const collections = [...readCatalogue(this.#database).values()].map((collection) => {
      const { sequence, count, checksums, lastId } = heads.get(collection.number) ?? {};
      const gapsUpTo = this.plans.run(logPlans.gapsUpTo(collection.number));
      return outlineOf(collection, {
        sequence: Number(sequence),
        gapsUpTo,
        count: Number(count),
        checksums: Number(checksums),
        lastId: Number(lastId),
      });
    });
    return { secret: this.plans.run(secretPlans.read()), groups: Number(groups), collections };
  }

  /** As `items`, but with the errors of SQLite. */
  readItems(section: Section, after: Cell | undefined, size: PageSize): readonly Item[] {
    const { name, columns, shown, toKey, toItem } = this.tableOf(section);
    const from = after === undefined ? "" : `where ${columns[0]} > ?`;
    const statement = this.#database.prepare(
      `select ${shown} from ${name} ${from} order by ${columns[0]} limit ?`,
    );
    statement.setReturnArrays(true);
    const start = after === undefined ? [] : [toKey(after) as SQLInputValue];
    const longAt = columns.indexOf(layouts[section.kind].long ?? "");
    const items: Item[] = [];
    let bytes = 0;
    for (const row of statement.iterate(...start, size.items) as Iterable<unknown>) {
      const item = toItem(row as Row);
      bytes += Buffer.byteLength(String(item[longAt] ?? ""));
      if (items.length > 0 && bytes > size.bytes) break;
      items.push(item);
    }
    return items;
  }

  /** The table with the items of a section. */
  tableOf(section: Section): ItemsTable {
    return itemsTable(sqliteDialect, section, "collection" in section ? this.find(section.collection) : {});
  }

  /** Turns errors of SQLite into StartErrors. */
  async #withStartErrors<T>(read: () => T): Promise<T> {
    try {
      return read();
    } catch (error) {
      throw openError(this.#path, error);
    }
  }

  /** The number and the kind of ids of a collection. */
  protected find(name: string): Pick<NumberedCollection, "number" | "idKind"> {
    const row = this.#database
      .prepare("select number, id_kind as idKind from collections where name = ?")
      .get(name);
    if (row === undefined) throw new Error(`The store has no collection ${JSON.stringify(name)}.`);
    return { number: Number(row.number), idKind: row.idKind as NumberedCollection["idKind"] };
  }
}
