/** Removes changes and receipts that are no longer to be kept, by small statements. */
import type { History } from "../history.ts";
import type { Connections } from "./connections.ts";
import { isUnfinished } from "./prepare.ts";
import { removeExpired } from "./receipts.ts";
import * as statements from "./statements.ts";
import { smallWrite, transact } from "./transaction.ts";

/** What one statement removes at most. */
const slice = { changes: 500, textLength: 1024 * 1024, receipts: 500 };

const dayMs = 86_400_000;

/** Removes some of what is no longer to be kept. Gives whether there may be more. */
export async function sweepSome(connections: Connections, history: History, now: number): Promise<boolean> {
  if (await isUnfinished(connections)) return false; // what a copy has brought is compared first
  const hadReceipts = await transact(connections, smallWrite, (transaction) =>
    removeExpired(transaction, now, slice.receipts),
  );
  if (history === "forever") return hadReceipts;
  const { rows } = await connections.run(statements.selectHeads);
  let isMore = hadReceipts;
  for (const [number, sequence] of rows) {
    const collection = { number: Number(number), sequence: Number(sequence) };
    if (await sweepChanges(connections, collection, { history, now })) isMore = true;
  }
  return isMore;
}

async function sweepChanges(
  connections: Connections,
  { number, sequence }: { number: number; sequence: number },
  { history, now }: { history: Exclude<History, "forever">; now: number },
): Promise<boolean> {
  const young = history === "none" ? Number.POSITIVE_INFINITY : now - history.keepDays * dayMs;
  const upTo = sequence - (history === "none" ? 0 : history.keepChanges);
  if (upTo <= 0) return false;
  const { rows } = await connections.run(statements.selectOldestChanges(number, upTo, slice.changes));
  let last: number | undefined;
  let length = 0;
  for (const [each, at, size] of rows) {
    if (Number(at) >= young || length > slice.textLength) break;
    last = Number(each);
    length += Number(size);
  }
  if (last === undefined) return false;
  await connections.run(statements.deleteChangesUpTo(number, last));
  return true;
}
