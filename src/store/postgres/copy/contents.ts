/** Reads everything in a database for a copy. The caller decides which transaction each read belongs to. */
import {
  type Cell,
  type Contents,
  type Item,
  type ItemsTable,
  itemsTable,
  type Outline,
  outlineOf,
  type PageSize,
  type Section,
} from "../../core/copy/contents.ts";
import { type Statement, type StatementResult, withStartErrors } from "../connection/connections.ts";
import { postgresDialect, runPlan, secretPlans } from "../postgres-dialect.ts";
import { Catalogue, catalogueSql, type NumberedCollection, toCollection } from "../tables/catalogue.ts";
import { selectCounters, selectGroups, selectItems } from "./statements.ts";

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
      const [sequence = 0, count = 0, checksums = 0, lastId = 0, gapsUpTo = 0] =
        counters.get(collection.number) ?? [];
      return outlineOf(collection, { sequence, gapsUpTo, count, checksums: checksums | 0, lastId });
    });
    return { secret, groups: Number(groups[0]?.[0]), collections };
  }

  async count(section: Section): Promise<number> {
    const { rows } = await this.run({ sql: `select count(*) from ${this.tableOf(section).name}` });
    return Number(rows[0]?.[0]);
  }

  async items(section: Section, after: Cell | undefined, size: PageSize): Promise<readonly Item[]> {
    const table = this.tableOf(section);
    const { rows } = await this.run(selectItems(section, table, { after, size }));
    return rows.map(table.toItem);
  }

  /** The table with the items of a section. */
  tableOf(section: Section): ItemsTable {
    return itemsTable(postgresDialect, section, "collection" in section ? this.find(section.collection) : {});
  }

  /** A collection. */
  find(name: string): NumberedCollection {
    const known = this.#catalogue.byName.get(name);
    if (known === undefined) throw new Error(`The store has no collection ${JSON.stringify(name)}.`);
    return known;
  }

  /** Reads the catalogue again. */
  async reloadCatalogue(): Promise<void> {
    const { rows } = await this.run({ sql: catalogueSql });
    this.#catalogue = new Catalogue(rows.map(toCollection));
  }

  /** Runs a statement. Turns errors into StartErrors. */
  protected run(statement: Statement): Promise<StatementResult> {
    return withStartErrors(this.#run(statement));
  }
}
