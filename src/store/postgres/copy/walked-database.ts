/** What a walk reads in a database (`store/core/walk.ts`). Each slice is a transaction of its own. */
import { sliceReads, type WalkedStore } from "../../core/walk.ts";
import { texts } from "../connection/arrays.ts";
import type { Connections } from "../connection/connections.ts";
import { transact, transactionModes } from "../connection/transaction.ts";
import { historyOf } from "../postgres-dialect.ts";
import { idOf, keyOf } from "../tables/id-keys.ts";
import { keysOf } from "../tables/indexes.ts";
import { resourcesTable, wordsTable } from "../tables/tables.ts";
import { postgresContents } from "./database-copy.ts";

/** The rows of the store on these connections. */
export function walkedDatabase(connections: Connections): WalkedStore {
  return {
    slice: (work) =>
      transact(connections, transactionModes.snapshot, (transaction) =>
        work(
          sliceReads({
            ...postgresContents((statement) => transaction.run(statement)),
            historyOf,
            wordCountOf: (number) =>
              `${wordsTable(number)} as words where word = '' and words.key = resource.key`,
            async misindexed(collection, resources) {
              const { number, idKind, slots, uniqueSlots } = collection;
              const differs = [...slots, ...uniqueSlots].map(
                ({ slot }) => `resource.keys[${slot}] is distinct from (wanted.keys::bytea[])[${slot}]`,
              );
              const { rows } = await transaction.run({
                sql: `select key from unnest($1::text[], $2::text[]) as wanted (key, keys)
                  join ${resourcesTable(number)} as resource using (key) where ${differs.join(" or ")}`,
                values: [
                  texts(resources.map(({ id }) => keyOf(idKind, id))),
                  texts(resources.map(({ text }) => keysOf(collection, text))),
                ],
              });
              return rows.map(([key]) => idOf(idKind, String(key)));
            },
          }),
        ),
      ),
  };
}
