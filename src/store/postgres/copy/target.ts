/** A database as the target of a copy. */
import { StartError } from "../../../errors.ts";
import type { CollectionOutline, CopyTarget, Item, Outline, Section } from "../../core/copy/contents.ts";
import { runTogether } from "../commit/values.ts";
import {
  type CommandConnections,
  type Connections,
  openCommandConnections,
  withStartErrors,
} from "../connection/connections.ts";
import { type Transaction, transact, transactionModes } from "../connection/transaction.ts";
import { logPlans, secretPlans } from "../postgres-dialect.ts";
import { migrateAll } from "../tables/migrate.ts";
import { isUnfinished, prepareDatabase } from "../tables/prepare.ts";
import { lockCatalogue } from "../tables/statements.ts";
import { buildSearchIndexes } from "../upkeep/background.ts";
import { PostgresContents } from "./contents.ts";
import * as statements from "./statements.ts";

/** Opens the database at `url` as the target of a copy. Throws StartError, also from each method. */
export async function openPostgresTarget(url: string): Promise<CopyTarget> {
  const command = openCommandConnections(url);
  try {
    await withStartErrors(prepareDatabase(command.connections, { mayBeUnfinished: true }));
    const target = new PostgresTarget(command);
    await target.reloadCatalogue();
    return target;
  } catch (error) {
    await command.close();
    throw error;
  }
}

/** The database during a copy. */
class PostgresTarget extends PostgresContents implements CopyTarget {
  readonly #connections: Connections;
  readonly close: () => Promise<void>;

  constructor({ connections, close }: CommandConnections) {
    super((statement) => connections.run(statement));
    this.#connections = connections;
    this.close = close;
  }

  async mark(): Promise<string | undefined> {
    if (!(await withStartErrors(isUnfinished(this.#connections)))) return undefined;
    const { rows } = await this.run(statements.selectMark);
    return String(rows[0]?.[0]);
  }

  async begin({ collections }: Outline, mark: string): Promise<boolean> {
    const hasStarted = await this.#transact(async (transaction) => {
      await transaction.run(lockCatalogue); // prevents other copies and migrations
      const { rows } = await transaction.run(statements.selectAnything);
      if (rows.length > 0) return false;
      await transaction.run(statements.createMark);
      await transaction.run(statements.insertMark(mark));
      // The copy adds the keys of indexes with the resources, because an update would write all resources again.
      const bare = collections.map(({ name, idKind, indexes, unique }) => ({
        name,
        idKind,
        indexes,
        unique,
      }));
      await migrateAll(
        transaction,
        bare.map((each) => ({ ...each, schema: undefined, search: [] })),
      );
      return true;
    });
    await this.reloadCatalogue();
    return hasStarted;
  }

  async write(
    section: Section,
    items: readonly Item[],
    mark: { before: string; after: string },
  ): Promise<void> {
    await this.#transact(async (transaction) => {
      const moved = transaction.run(statements.moveMark(mark));
      const keyed = "collection" in section ? this.find(section.collection) : undefined;
      const added = statements.insertItems(section, { ...this.tableOf(section), keyed }, items);
      const inserted = runTogether(transaction, added);
      const [{ rows: marks }] = await Promise.all([moved, inserted]);
      if (marks.length !== 1) throw new StartError("Another copy into the same store is in progress.");
    });
  }

  async complete(outline: Outline, onDone: (collection: CollectionOutline) => void): Promise<void> {
    await this.#transact((transaction) => this.#setCounters(transaction, outline));
    for (const collection of outline.collections) {
      await this.#transact((transaction) => migrateAll(transaction, [collection]));
      await this.run(statements.analyze(this.find(collection.name).number));
      onDone(collection);
    }
    await this.reloadCatalogue();
    while (await withStartErrors(buildSearchIndexes(this.#connections, this.catalogue))) {}
  }

  async release(): Promise<void> {
    await this.run(statements.dropMark);
  }

  async #setCounters(transaction: Transaction, { secret, groups, collections }: Outline): Promise<void> {
    await transaction.runPlan(secretPlans.replace(secret));
    await transaction.run(statements.setGroups(groups));
    await transaction.run(statements.countReceipts);
    for (const collection of collections) {
      const number = this.find(collection.name).number;
      await transaction.run(statements.setHead(number, collection));
      await transaction.run(statements.setLastId(number, collection.lastId));
      if (collection.gapsUpTo > 0) await transaction.runPlan(logPlans.noteGaps(number, collection.gapsUpTo));
    }
  }

  #transact<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return withStartErrors(transact(this.#connections, transactionModes.longWrite, work));
  }
}
