/**
 * Receipts in a transaction, and their totals. A transaction locks the totals last, so it never waits for another one
 * while it holds these locks.
 */
import type { StagedChanges } from "../../core/commits/staged-changes.ts";
import { receiptPatterns } from "../../core/receipts.ts";
import type { ReceiptLimits } from "../../port/options.ts";
import type { Row } from "../connection/connections.ts";
import type { Transaction } from "../connection/transaction.ts";
import {
  blankReceiptsOf,
  clearAnswers,
  deleteExpiredReceipts,
  deleteReceipts,
  deleteReceiptsOf,
  insertReceipts,
  lockExpiredReceipts,
  lockOldestAnswers,
  raiseReceiptTotal,
} from "./receipt-statements.ts";
import { runTogether } from "./values.ts";

/** A change of the totals. */
interface TotalsDelta {
  receipts: number;
  answers: number;
}

/** How many receipts one statement locks. */
const lockedAtOnce = 100;

/**
 * Stores the staged receipts, and deletes the expired ones with the same keys (`replaced`). Returns the change of the
 * totals, or `undefined` if another instance has stored one of these receipts.
 */
export async function storeReceipts(
  transaction: Transaction,
  { receipts }: StagedChanges,
  { replaced, bounds }: { replaced: readonly string[]; bounds: ReceiptLimits },
): Promise<TotalsDelta | undefined> {
  const staged = [...receipts.values()];
  const rows = staged.map(({ brief = "", answer, ...others }) => {
    const fits = Buffer.byteLength(answer) <= bounds.answer;
    return { ...others, brief, answer: fits ? answer : "" };
  });
  const now = Math.max(...staged.map(({ at }) => at));
  const [expired, inserted] = await Promise.all([
    replaced.length === 0 ? undefined : transaction.run(deleteExpiredReceipts(replaced, now)),
    runTogether(transaction, insertReceipts(rows)),
  ]);
  if (inserted.length < rows.length) return undefined;
  const removed = totalsOf(expired?.rows ?? [], 0);
  const answers = rows.reduce((sum, { answer }) => sum + Buffer.byteLength(answer), 0);
  return { receipts: rows.length - removed.receipts, answers: answers - removed.answers };
}

/**
 * Adds to the totals, which are the last rows that the transaction waits for. Returns whether there are more receipts
 * than the limit.
 */
export async function raiseTotals(
  transaction: Transaction,
  { receipts, answers }: TotalsDelta,
  bounds: ReceiptLimits,
): Promise<boolean> {
  const [stored, kept] = await Promise.all([
    transaction.run(raiseReceiptTotal("receipts", receipts)),
    transaction.run(raiseReceiptTotal("answers", answers)),
  ]);
  const excess = Number(kept.rows[0]?.[0]) - bounds.answers;
  if (excess > 0 && answers > 0) await clearOldestAnswers(transaction, excess);
  return receipts > 0 && Number(stored.rows[0]?.[0]) > bounds.keys;
}

/** Removes the answers of the oldest receipts until at least `excess` bytes are free. */
async function clearOldestAnswers(transaction: Transaction, excess: number): Promise<void> {
  let cleared = 0;
  while (cleared < excess) {
    const { rows } = await transaction.run(lockOldestAnswers(lockedAtOnce));
    if (rows.length === 0) break;
    const keys: string[] = [];
    for (const [key, length] of rows) {
      if (cleared >= excess) break;
      keys.push(String(key));
      cleared += Number(length);
    }
    await transaction.run(clearAnswers(keys));
  }
  await transaction.run(raiseReceiptTotal("answers", -cleared));
}

/** Deletes up to `limit` expired receipts. Returns whether there may be more. */
export async function removeExpired(transaction: Transaction, now: number, limit: number): Promise<boolean> {
  const { rows } = await transaction.run(lockExpiredReceipts(now, limit));
  if (rows.length === 0) return false;
  await transaction.run(deleteReceipts(rows.map(([key]) => String(key))));
  await lowerTotals(transaction, totalsOf(rows, 1));
  return true;
}

/** Removes everything about an erased resource from receipts. It must come last in the transaction. */
export async function eraseFromReceipts(transaction: Transaction, id: string): Promise<void> {
  const patterns = receiptPatterns(id);
  const removed = await transaction.run(deleteReceiptsOf(patterns));
  const blanked = await transaction.run(blankReceiptsOf(patterns));
  const { receipts, answers } = totalsOf(removed.rows, 0);
  await lowerTotals(transaction, { receipts, answers: answers + totalsOf(blanked.rows, 0).answers });
}

async function lowerTotals(transaction: Transaction, { receipts, answers }: TotalsDelta): Promise<void> {
  if (receipts > 0) await transaction.run(raiseReceiptTotal("receipts", -receipts));
  if (answers > 0) await transaction.run(raiseReceiptTotal("answers", -answers));
}

/** The number of rows, and the sum of the lengths in a column. */
function totalsOf(rows: readonly Row[], column: number): TotalsDelta {
  return { receipts: rows.length, answers: rows.reduce((sum, row) => sum + Number(row[column]), 0) };
}
