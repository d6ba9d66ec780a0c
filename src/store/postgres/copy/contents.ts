/** Reads everything in a database for a copy. The caller decides which transaction each read belongs to. */
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
import { withStartErrors } from "../connection/command-connections.ts";
import type { Row, Statement, StatementResult } from "../connection/connections.ts";
import { runPlan, secretPlans } from "../postgres-dialect.ts";
import { Catalogue, catalogueSql, toCollection } from "../tables/catalogue.ts";
import { idOf, keyOf } from "../tables/id-keys.ts";
import {
  countItems,
  type ItemsTable,
  selectCounters,
  selectFirstItems,
  selectGroups,
  selectItems,
} from "./statements.ts";

/** The contents of a database. */
export class PostgresContents implements Contents {
  readonly #run: (statement: Statement) => Promise<StatementResult>;
  #catalogue = new Catalogue([]);

  constructor(run: (statement: Statement) => Promise<StatementResult>) {
    this.#run = run;
  }

  /** The catalogue as it was last read. */
  get catalogue(): Catalogue {
    return this.#catalogue;
  }

  async outline(): Promise<Outline> {
    await this.reloadCatalogue();
    const { rows: groups } = await this.run(selectGroups);
    const secret = await runPlan(secretPlans.read(), (statement) => this.run(statement));
    const { rows } = await this.run(selectCounters);
    const counters = new Map(rows.map(([number, ...others]) => [Number(number), others.map(Number)]));
    const collections = [...this.#catalogue.byNumber.values()].map((collection) => {
      const [sequence = 0, count = 0, lastId = 0, gapsUpTo = 0] = counters.get(collection.number) ?? [];
      return outlineOf(collection, { sequence, gapsUpTo, count, lastId });
    });
    return { secret, groups: Number(groups[0]?.[0]), collections };
  }

  async count(section: Section): Promise<number> {
    const { rows } = await this.run(countItems(this.tableOf(section)));
    return Number(rows[0]?.[0]);
  }

  async items(section: Section, after: Cell | undefined, size: PageSize): Promise<readonly Item[]> {
    const table = this.tableOf(section);
    const statement =
      after === undefined
        ? selectFirstItems(table, size)
        : selectItems(table, this.#keyOf(section, after), size);
    const { rows } = await this.run(statement);
    return rows.map((row) => this.#toItem(section, row));
  }

  /** Reads the catalogue again. */
  async reloadCatalogue(): Promise<void> {
    const { rows } = await this.run({ sql: catalogueSql });
    this.#catalogue = new Catalogue(rows.map(toCollection));
  }

  /** The table with the items of a section. */
  tableOf(section: Section): ItemsTable {
    if (!("collection" in section)) return { kind: section.kind };
    const keyed = this.#collection(section.collection);
    return { kind: section.kind, number: keyed.number, keyed };
  }

  /** The number in the names of a collection's tables. */
  numberOf(name: string): number {
    return this.#collection(name).number;
  }

  /** An item in the form of its table: with a key instead of an id. */
  toRow(section: Section, [key = null, ...others]: Item): Item {
    return [this.#keyOf(section, key), ...others];
  }

  /** Runs a statement. Turns errors into StartErrors. */
  protected run(statement: Statement): Promise<StatementResult> {
    return withStartErrors(this.#run(statement));
  }

  #keyOf(section: Section, key: Cell): Cell {
    if (section.kind !== "resources") return key;
    return keyOf(this.#collection(section.collection).idKind, String(key));
  }

  #toItem(section: Section, row: Row): Item {
    const cells = layouts[section.kind].columns.map(({ type }, n) => {
      const cell = row[n] ?? null;
      return type === "integer" && cell !== null ? Number(cell) : cell;
    });
    if (section.kind !== "resources") return cells;
    return cells.with(0, idOf(this.#collection(section.collection).idKind, String(cells[0])));
  }

  #collection(name: string) {
    const known = this.#catalogue.byName.get(name);
    if (known === undefined) throw new Error(`The store has no collection ${JSON.stringify(name)}.`);
    return known;
  }
}
