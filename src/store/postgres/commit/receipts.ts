/**
 * Receipts in a transaction, and their totals. A transaction locks the totals last. A transaction that has them therefore
 * waits for no other one.
 */
import type { StagedChanges } from "../../commits/staged-changes.ts";
import { type ReceiptLimits, receiptPatterns } from "../../receipts.ts";
import type { Row } from "../connection/connections.ts";
import type { Transaction } from "../connection/transaction.ts";
import {
  blankReceiptsOf,
  deleteExpired,
  deleteReceipts,
  deleteReceiptsOf,
  dropAnswers,
  keepReceipts,
  lockExpiredReceipts,
  lockOldestAnswers,
  raiseReceiptTotal,
} from "./receipt-statements.ts";

/** By how much totals change. */
interface Delta {
  receipts: number;
  answers: number;
}

/** Receipts whose answers are looked at in one statement. */
const slice = 100;

/**
 * Stores the staged receipts, in the place of those that have expired. Gives by how much the totals change; `undefined`
 * if another instance has stored one of them.
 */
export async function storeReceipts(
  transaction: Transaction,
  { receipts }: StagedChanges,
  { replaced, bounds }: { replaced: readonly string[]; bounds: ReceiptLimits },
): Promise<Delta | undefined> {
  const staged = [...receipts.values()];
  const rows = staged.map(({ brief = "", answer, ...others }) => {
    const isKept = Buffer.byteLength(answer) <= bounds.answer;
    return { ...others, brief, answer: isKept ? answer : "" };
  });
  const now = Math.max(...staged.map(({ at }) => at));
  const [expired, { count }] = await Promise.all([
    replaced.length === 0 ? undefined : transaction.run(deleteExpired(replaced, now)),
    transaction.run(keepReceipts(rows)),
  ]);
  if (count < rows.length) return undefined;
  const gone = deltaOf(expired?.rows ?? [], 0);
  const answers = rows.reduce((sum, { answer }) => sum + Buffer.byteLength(answer), 0);
  return { receipts: rows.length - gone.receipts, answers: answers - gone.answers };
}

/** Raises the totals, as the last of all rows. Gives whether there are more receipts than there can be. */
export async function raiseTotals(
  transaction: Transaction,
  { receipts, answers }: Delta,
  bounds: ReceiptLimits,
): Promise<boolean> {
  const [stored, kept] = await Promise.all([
    transaction.run(raiseReceiptTotal("receipts", receipts)),
    transaction.run(raiseReceiptTotal("answers", answers)),
  ]);
  const excess = Number(kept.rows[0]?.[0]) - bounds.answers;
  if (excess > 0 && answers > 0) await dropOldest(transaction, excess);
  return receipts > 0 && Number(stored.rows[0]?.[0]) > bounds.keys;
}

/** Removes the answers of the oldest receipts until so many bytes are gone. */
async function dropOldest(transaction: Transaction, excess: number): Promise<void> {
  let dropped = 0;
  while (dropped < excess) {
    const { rows } = await transaction.run(lockOldestAnswers(slice));
    if (rows.length === 0) break;
    const keys: string[] = [];
    for (const [key, length] of rows) {
      if (dropped >= excess) break;
      keys.push(String(key));
      dropped += Number(length);
    }
    await transaction.run(dropAnswers(keys));
  }
  await transaction.run(raiseReceiptTotal("answers", -dropped));
}

/** Removes some of the receipts that have expired. Gives whether there may be more. */
export async function removeExpired(transaction: Transaction, now: number, limit: number): Promise<boolean> {
  const { rows } = await transaction.run(lockExpiredReceipts(now, limit));
  if (rows.length === 0) return false;
  await transaction.run(deleteReceipts(rows.map(([key]) => String(key))));
  await lower(transaction, deltaOf(rows, 1));
  return true;
}

/** Removes the traces of an erased resource from receipts. It must be the last part of the transaction. */
export async function eraseFromReceipts(transaction: Transaction, id: string): Promise<void> {
  const patterns = receiptPatterns(id);
  const removed = await transaction.run(deleteReceiptsOf(patterns));
  const blanked = await transaction.run(blankReceiptsOf(patterns));
  const { receipts, answers } = deltaOf(removed.rows, 0);
  await lower(transaction, { receipts, answers: answers + deltaOf(blanked.rows, 0).answers });
}

async function lower(transaction: Transaction, { receipts, answers }: Delta): Promise<void> {
  if (receipts > 0) await transaction.run(raiseReceiptTotal("receipts", -receipts));
  if (answers > 0) await transaction.run(raiseReceiptTotal("answers", -answers));
}

/** How many rows there are, and the sum of the lengths in a column. */
function deltaOf(rows: readonly Row[], column: number): Delta {
  return { receipts: rows.length, answers: rows.reduce((sum, row) => sum + Number(row[column]), 0) };
}
