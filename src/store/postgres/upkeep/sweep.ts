/** Removes old changes and expired receipts, in small steps. */
import { decideAsync } from "../../decision.ts";
import { owedIn, statesOfWebhooks } from "../../owed.ts";
import type { ChangeLogs, Retention } from "../../retention.ts";
import { removeExpired } from "../commit/receipts.ts";
import type { Connections } from "../connection/connections.ts";
import { smallWrite, transact } from "../connection/transaction.ts";
import { isUnfinished } from "../tables/prepare.ts";
import {
  deleteChangesUpTo,
  selectChangeSizes,
  selectHeads,
  selectNumbers,
  selectTexts,
} from "./statements.ts";

/** The limits of one step. */
export const slice = { changes: 500, bytes: 1024 * 1024 };
const maxReceipts = 500;

/** Removes some old changes and expired receipts. Returns whether there may be more. */
export async function sweepSome(
  connections: Connections,
  retention: Retention,
  now: number,
): Promise<boolean> {
  if (await isUnfinished(connections)) return false; // the copy must be compared before anything is removed
  const hadReceipts = await transact(connections, smallWrite, async (transaction) => {
    const hasRemoved = await removeExpired(transaction, now, maxReceipts);
    if (!hasRemoved) await transaction.rollBack(); // nothing to flush
    return hasRemoved;
  });
  return (await decideAsync(retention.step(now), logsOf(connections))) || hadReceipts;
}

function logsOf(connections: Connections): ChangeLogs {
  return {
    async heads() {
      const { rows } = await connections.run(selectHeads);
      return rows.map(([number, sequence]) => ({ number: Number(number), sequence: Number(sequence) }));
    },
    async after(number, sequence, limit) {
      const { rows } = await connections.run(selectChangeSizes(number, sequence, limit));
      return rows.map(([each, at, bytes]) => ({
        sequence: Number(each),
        at: Number(at),
        bytes: Number(bytes),
      }));
    },
    async owed() {
      const { rows } = await connections.run(selectNumbers);
      const collections = rows.map(([number, name]) => ({ number: Number(number), name: String(name) }));
      const states = collections.find(({ name }) => name === statesOfWebhooks);
      if (states === undefined) return new Map<number, number>();
      const found = await connections.run(selectTexts(states.number));
      return owedIn(
        found.rows.map(([text]) => String(text)),
        collections,
      );
    },
    async remove(number, upTo) {
      await connections.run(deleteChangesUpTo(number, upTo));
    },
  };
}
