/**
 * Reads the catalogue of the database, keeps it in memory, and applies new declarations. Other services can change the
 * database at any time, so the copy in memory can be out of date.
 */
import { type CollectionRecord, isDeclared } from "../../port/record.ts";
import type { Connections } from "../connection/connections.ts";
import { retryConflicts } from "../connection/failures.ts";
import { smallWrite, type Transaction, transact, transactionModes } from "../connection/transaction.ts";
import {
  Catalogue,
  type NumberedCollection,
  servedCatalogueSql,
  toCollection,
} from "./declared-catalogue.ts";
import { migrateServed } from "./migrate.ts";

/** The maximum number of attempts at a migration, if other services change the catalogue at the same time. */
const maxTries = 10;

/** The declarations in one database. */
export class Declarations {
  readonly #connections: Connections;
  readonly #long: Connections;
  #catalogue = new Catalogue([]);
  #reloading: Promise<void> | undefined;

  /** `long`: connections without a timeout. */
  constructor(connections: Connections, long: Connections) {
    this.#connections = connections;
    this.#long = long;
  }

  /** The catalogue in memory, as it was last read. */
  get catalogue(): Catalogue {
    return this.#catalogue;
  }

  /** Reads the catalogue again. Calls at the same time share one read. */
  reload(): Promise<void> {
    this.#reloading ??= this.#reload().finally(() => {
      this.#reloading = undefined;
    });
    return this.#reloading;
  }

  /**
   * The collection with this name. If the catalogue in memory lacks it, this looks in the database, because another service
   * can have created it.
   */
  async find(name: string): Promise<NumberedCollection | undefined> {
    const known = this.#catalogue.byName.get(name);
    if (known !== undefined || name.includes("\0")) return known;
    const sql = "select 1 from holdfast_collections where name = $1::text";
    const { rows } = await this.#connections.run({ sql, values: [name] });
    if (rows.length > 0) await this.reload();
    return this.#catalogue.byName.get(name);
  }

  /** Creates collections, or changes their declarations. Throws StartError. */
  async migrate(plan: readonly CollectionRecord[]): Promise<void> {
    if (plan.every((record) => isDeclared(this.#catalogue.byName.get(record.name), record))) return;
    await retryConflicts(maxTries, () =>
      this.#transact(plan, (transaction) => migrateServed(transaction, plan)),
    );
    await this.#reload();
  }

  /** A migration of an existing collection has no timeout, because the collection can be large. */
  #transact(
    plan: readonly CollectionRecord[],
    work: (transaction: Transaction) => Promise<void>,
  ): Promise<void> {
    const areNew = plan.every(({ name }) => !this.#catalogue.byName.has(name));
    return areNew
      ? transact(this.#connections, smallWrite, work)
      : transact(this.#long, transactionModes.longWrite, work);
  }

  async #reload(): Promise<void> {
    const { rows } = await this.#connections.run({ sql: servedCatalogueSql });
    this.#catalogue = new Catalogue(rows.map(toCollection));
  }
}
