/** Makes sure that a database is one that the store can work on. */
import { setTimeout as pass } from "node:timers/promises";
import { StartError } from "../../../errors.ts";
import { countReceipts, lockReceipts, selectReceiptTotals } from "../commit/receipt-statements.ts";
import type { Connections } from "../connection/connections.ts";
import { failureOf } from "../connection/failures.ts";
import { beginnings, smallWrite, transact } from "../connection/transaction.ts";
import { addSecret, readSecret } from "./secret.ts";
import {
  lockCatalogue,
  raiseFormatNumber,
  renameSuperseded,
  selectFirstFormat,
  selectFormat,
  selectIsCopied,
} from "./statements.ts";
import { answersIndex, copyingTable, firstFormatNumber, formatNumber, storeTables } from "./tables.ts";

const maxTries = 20;

/** What is wanted of a database. */
export interface Wanted {
  /** A copy into it may have been broken off. @default false */
  mayBeUnfinished?: boolean;
  /** It must be a store already: nothing is made. @default false */
  isThere?: boolean;
  /** A store of an older format becomes one of this format. No service of the older version can use it then. @default false */
  mayRaise?: boolean;
}

/** Makes the tables of a store where there are none. Throws StartError where the database is not fit for one, or not as is wanted. */
export async function prepareDatabase(connections: Connections, wanted: Wanted = {}): Promise<void> {
  const { rows } = await connections.run({ sql: "show server_encoding" });
  if (rows[0]?.[0] !== "UTF8")
    throw new StartError(
      `The database must use the encoding UTF8, not ${rows[0]?.[0]}. Create another database.`,
    );
  const { isMade, isUnfinished } = await lookForTables(connections);
  if (isUnfinished && wanted.mayBeUnfinished !== true)
    throw new StartError(
      'The database holds an incomplete copy. Run the same "npx holdfast copy" again, or choose another store.',
    );
  if (!isMade && wanted.isThere === true) throw new StartError("The database contains no store.");
  if (!isMade) await makeTables(connections);
  await requireFormat(connections, wanted);
  if (wanted.isThere !== true) await addReceiptTotals(connections);
  const secret = await readSecret((statement) => connections.run(statement));
  if (secret.length > 0) return;
  if (wanted.isThere === true) throw olderVersion();
  await connections.run(addSecret());
}

/** Commands that do not read the change log also work on an older format. */
async function requireFormat(connections: Connections, { mayRaise, isThere }: Wanted): Promise<void> {
  const { rows } = await connections.run(selectFormat);
  const format = Number(rows[0]?.[0]);
  if (format === formatNumber) return;
  if (!(format >= firstFormatNumber && format < formatNumber))
    throw new StartError(
      `The store in the database has format ${format}, but this version of Holdfast uses format ${formatNumber}. Use the version that wrote it.`,
    );
  if (mayRaise === true) await raiseFormat(connections);
  else if (isThere === true) throw olderVersion();
}

function olderVersion(): StartError {
  return new StartError(
    "The database was last used by an older version of Holdfast. Start the service of this version on it once, without --read-only, and try again.",
  );
}

/** One collection at a time, so that few locks are held at once. What was interrupted goes on from there. */
async function raiseFormat(connections: Connections): Promise<void> {
  const { rows } = await connections.run(selectFirstFormat);
  for (const [table] of rows)
    await transact(connections, beginnings.longWrite, async (transaction) => {
      await transaction.run(lockCatalogue);
      const { rows: left } = await transaction.run(selectFirstFormat);
      if (left.some(([each]) => each === table)) await transaction.run(renameSuperseded(String(table)));
    });
  await connections.run(raiseFormatNumber);
}

/** Whether a copy into the database was broken off, or is under way. */
export async function isUnfinished(database: Pick<Connections, "run">): Promise<boolean> {
  const { rows } = await database.run(selectIsCopied);
  return rows[0]?.[0] === "t";
}

/** Whoever may not create tables can still work on those that are there. */
async function lookForTables(connections: Connections) {
  const { rows } = await connections.run({
    sql: `select to_regclass('holdfast_receipts_by_expiry'), to_regclass('${copyingTable}')`,
  });
  const [made, copying] = rows[0] ?? [];
  return { isMade: made != null, isUnfinished: copying != null };
}

/** Counts the receipts of a store that an older version made. The role of the service may not be allowed to make the index. */
async function addReceiptTotals(connections: Connections): Promise<void> {
  const { rows } = await connections.run(selectReceiptTotals);
  if (rows.length > 0) return;
  await connections.run({ sql: answersIndex }).catch((error: unknown) => {
    if (failureOf(error) !== "denied") throw error;
  });
  await transact(connections, beginnings.longWrite, async (transaction) => {
    await transaction.run(lockReceipts);
    await transaction.run(countReceipts());
  });
}

/** Several instances may start at once: then one makes the tables, and the others find them made. */
async function makeTables(connections: Connections): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await transact(connections, smallWrite, async (transaction) => {
        for (const sql of storeTables) await transaction.run({ sql });
        await transaction.run(lockCatalogue);
      });
      return;
    } catch (error) {
      if (failureOf(error) !== "conflict" || tries === maxTries) throw error;
      await pass(Math.random() * 20 * tries);
    }
  }
}
