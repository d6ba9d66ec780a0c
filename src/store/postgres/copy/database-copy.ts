/** A database in copies and backups: what a copy reads and writes, and a backup of one snapshot into a SQLite file. */
import { type CopySource, type CopyTarget, type ItemsTable, layouts } from "../../core/copy/contents.ts";
import { type BackupFile, type BackupOptions, copyStore } from "../../core/copy/copy.ts";
import { StoredContents, StoredTarget, type TargetDriver } from "../../core/copy/stored-contents.ts";
import type { VerifiedContents } from "../../core/copy/verify.ts";
import { type Cells, insertRows, typesOf } from "../commit/statements.ts";
import {
  type Connections,
  openCommandConnections,
  type Statement,
  withStartErrors,
} from "../connection/connections.ts";
import { openSnapshot, transact, transactionModes } from "../connection/transaction.ts";
import { askRows } from "../postgres-dialect.ts";
import { Catalogue, catalogueSql, toCollection } from "../tables/declared-catalogue.ts";
import { keysOf } from "../tables/key-column.ts";
import { migrateAll } from "../tables/migrate.ts";
import { isUnfinished, prepareDatabase } from "../tables/prepare.ts";
import { resourcesTable } from "../tables/tables.ts";
import { buildNext } from "../upkeep/background.ts";
import { postgresContents } from "./database-contents.ts";

/** Opens the store in the database at `url` as the source of a copy. This and all methods throw StartError. */
export async function openPostgresSource(url: string): Promise<CopySource> {
  const { connections, close } = openCommandConnections(url);
  try {
    await withStartErrors(prepareDatabase(connections, { mustExist: true }));
    let snapshot = await withStartErrors(openSnapshot(connections));
    const contents = new StoredContents(
      postgresContents((statement) => withStartErrors(snapshot.run(statement))),
    );
    return Object.assign(contents, {
      async refresh() {
        await snapshot.end();
        snapshot = await withStartErrors(openSnapshot(connections));
      },
      async close() {
        await snapshot.end();
        await close();
      },
    });
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the database at `url` as the target of a copy. Throws StartError, also from each method. */
export async function openPostgresTarget(url: string): Promise<CopyTarget> {
  const { connections, close } = openCommandConnections(url);
  try {
    await withStartErrors(prepareDatabase(connections, { mayBeUnfinished: true }));
    return new StoredTarget({ ...targetDriver(connections), close });
  } catch (error) {
    await close();
    throw error;
  }
}

function targetDriver(connections: Connections): Omit<TargetDriver, "close"> {
  const run = (statement: Statement) => withStartErrors(connections.run(statement));
  return {
    ...postgresContents(run),
    isIncomplete: () => withStartErrors(isUnfinished(connections)),
    transact: (work) =>
      withStartErrors(
        transact(connections, transactionModes.longWrite, (transaction) =>
          work({
            run: (plan) => transaction.runPlan(plan),
            declare: (records) => migrateAll(transaction, records),
          }),
        ),
      ),
    addsKeys: true, // an update would write all resources again
    add: (table, rows) => askRows(insertItems(table, rows as readonly Cells[])),
    async finish() {
      let catalogue = new Catalogue([]);
      const reload = async () => {
        const { rows } = await run({ sql: catalogueSql });
        catalogue = new Catalogue(rows.map(toCollection));
      };
      await reload();
      for (const number of catalogue.byNumber.keys()) await run({ sql: `analyze ${resourcesTable(number)}` });
      const parts = { connections, catalogue: () => catalogue, reload };
      while (await withStartErrors(buildNext(parts))) {}
    },
  };
}

function insertItems({ kind, collection, name, columns }: ItemsTable, rows: readonly Cells[]): Statement[] {
  const types = Object.values(typesOf(layouts[kind].columns)).map(
    (type, n) => [columns[n], columns[n] === "doc" ? "json" : type] as const,
  );
  const target = { table: name, columns: Object.fromEntries(types) };
  if (kind !== "resources") return insertRows(target, rows);
  const text = columns.indexOf("doc");
  return insertRows(
    { table: name, columns: { ...target.columns, size: "integer", keys: "bytea[]" } },
    rows.map((row) => {
      const doc = String(row[text]);
      return [...row, Buffer.byteLength(doc), collection === undefined ? null : keysOf(collection, doc)];
    }),
  );
}

/** Backs up the store in the database at `url`. Throws StartError, and the reason of the signal if it is aborted. */
export async function backUpPostgres(
  url: string,
  { openTarget }: BackupFile,
  options: BackupOptions,
): Promise<VerifiedContents> {
  // It copies a single moment, so it does not look for later changes.
  const source = Object.assign(await openPostgresSource(url), { refresh: async () => {} });
  try {
    const target = await openTarget();
    try {
      return await copyStore(source, target, options);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
