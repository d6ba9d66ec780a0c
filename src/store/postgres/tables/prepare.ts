/** Checks that a database can be a store, and prepares it. */
import { StartError } from "../../../errors.ts";
import { countReceipts, lockReceipts, selectReceiptTotals } from "../commit/receipt-statements.ts";
import type { Connections } from "../connection/connections.ts";
import { failureOf } from "../connection/failures.ts";
import { retryConflicts } from "../connection/retry.ts";
import { smallWrite, transact, transactionModes } from "../connection/transaction.ts";
import { requireOnePlace } from "./cluster.ts";
import { ownRelation, requireOneSchema } from "./schema.ts";
import { addSecret, readSecret } from "./secret.ts";
import {
  lockCatalogue,
  selectFormat,
  selectIsUnfinished,
  selectOlder,
  upgradeCollection,
  upgradeFormatNumber,
} from "./statements.ts";
import { answersIndex, findCopyingTable, firstFormatNumber, formatNumber, storeTables } from "./tables.ts";

const maxTries = 20;

/** The options of `prepareDatabase`. */
export interface PrepareOptions {
  /** The database can contain an incomplete copy. @default false */
  mayBeUnfinished?: boolean;
  /** The database must already be a store, so nothing is created. @default false */
  mustExist?: boolean;
  /**
   * A store of an older format is upgraded to this format. Then no service of the older version can use it. @default
   * false
   */
  mayUpgrade?: boolean;
}

/**
 * Creates the tables of a store if they do not exist. Throws StartError if the database cannot be a store, or not with
 * these options.
 */
export async function prepareDatabase(connections: Connections, options: PrepareOptions = {}): Promise<void> {
  const { rows } = await connections.run({ sql: "show server_encoding" });
  if (rows[0]?.[0] !== "UTF8")
    throw new StartError(
      `The database must use the encoding UTF8, not ${rows[0]?.[0]}. Create another database.`,
    );
  await requireOneSchema(connections);
  await requireOnePlace(connections);
  const { hasTables, isUnfinished } = await findTables(connections);
  if (isUnfinished && options.mayBeUnfinished !== true)
    throw new StartError(
      'The database holds an incomplete copy. Run the same "npx holdfast copy" again, or choose another store.',
    );
  if (!hasTables && options.mustExist === true) throw new StartError("The database contains no store.");
  if (!hasTables) await makeTables(connections);
  await requireFormat(connections, options);
  if (options.mustExist !== true) await addMissingTotals(connections);
  const secret = await readSecret((statement) => connections.run(statement));
  if (secret.length > 0) return;
  if (options.mustExist === true) throw olderVersion();
  await connections.run(addSecret());
}

/** Commands that do not read the change log also work on an older format. */
async function requireFormat(
  connections: Connections,
  { mayUpgrade, mustExist }: PrepareOptions,
): Promise<void> {
  const { rows } = await connections.run(selectFormat);
  const format = Number(rows[0]?.[0]);
  if (format === formatNumber) return;
  if (!(format >= firstFormatNumber && format < formatNumber))
    throw new StartError(
      `The store in the database has format ${format}, but this version of Holdfast uses format ${formatNumber}. Use the version that wrote it.`,
    );
  if (mayUpgrade === true) await upgradeFormat(connections);
  else if (mustExist === true) throw olderVersion();
}

function olderVersion(): StartError {
  return new StartError(
    "The database was last used by an older version of Holdfast. Start the service of this version on it once, without --read-only, and try again.",
  );
}

/**
 * Upgrades one collection at a time, so that few locks are held at once. An interrupted run continues with the remaining
 * ones.
 */
async function upgradeFormat(connections: Connections): Promise<void> {
  const { rows } = await connections.run(selectOlder);
  for (const number of rows.map(([each]) => Number(each)))
    await transact(connections, transactionModes.longWrite, async (transaction) => {
      await transaction.run(lockCatalogue);
      const { rows: left } = await transaction.run(selectOlder);
      const column = left.find(([each]) => Number(each) === number)?.[1];
      if (column == null) return; // another instance has upgraded it
      for (const sql of upgradeCollection(number, column)) await transaction.run({ sql });
    });
  await connections.run(upgradeFormatNumber);
}

/** Whether the database contains an incomplete copy. */
export async function isUnfinished(database: Pick<Connections, "run">): Promise<boolean> {
  const { rows } = await database.run(selectIsUnfinished);
  return rows[0]?.[0] === "t";
}

/**
 * Finds the tables without creating them, because a role without the permission to create tables can still use them.
 */
async function findTables(connections: Connections) {
  const { rows } = await connections.run({
    sql: `select ${ownRelation("'holdfast_receipts_by_expiry'")}, ${findCopyingTable}`,
  });
  const [made, copying] = rows[0] ?? [];
  return { hasTables: made != null, isUnfinished: copying != null };
}

/**
 * Counts the receipts of a store from an older version. A role without the permission to create an index can skip the
 * index.
 */
async function addMissingTotals(connections: Connections): Promise<void> {
  const { rows } = await connections.run(selectReceiptTotals);
  if (rows.length > 0) return;
  await connections.run({ sql: answersIndex }).catch((error: unknown) => {
    if (failureOf(error) !== "denied") throw error;
  });
  await transact(connections, transactionModes.longWrite, async (transaction) => {
    await transaction.run(lockReceipts);
    await transaction.run(countReceipts());
  });
}

/** Creates the tables. If several instances start at the same time, one creates the tables and the others find them. */
async function makeTables(connections: Connections): Promise<void> {
  await retryConflicts(maxTries, () =>
    transact(connections, smallWrite, async (transaction) => {
      for (const sql of storeTables) await transaction.run({ sql });
      await transaction.run(lockCatalogue);
    }),
  );
}
