/** What copies and walks read in a database. */

import { type Cell, type ItemsTable, layouts, type PageSize } from "../../core/copy/contents.ts";
import { type ContentsDriver, ContentsPlans } from "../../core/copy/stored-contents.ts";
import { sliceReads, type WalkedStore } from "../../core/walk.ts";
import { typesOf } from "../commit/statements.ts";
import { texts } from "../connection/arrays.ts";
import { type Connections, type Run, runPlan, type Statement } from "../connection/connections.ts";
import { describeError, failureOf } from "../connection/failures.ts";
import { transact, transactionModes } from "../connection/transaction.ts";
import { storePlans } from "../postgres-dialect.ts";
import { idOf, keyOf } from "../tables/id-keys.ts";
import { keysOf } from "../tables/key-column.ts";
import { resourcesTable, wordsTable } from "../tables/tables.ts";

const plans = new ContentsPlans(storePlans);

/** Reads a database. `run` runs one statement. */
export function postgresContents(run: Run): ContentsDriver {
  return {
    plans,
    run: (plan) => runPlan(plan, run),
    async page(table, after, size) {
      const { rows } = await run(selectPage(table, after, size));
      return rows.map(table.toItem);
    },
  };
}

/** The server measures the rows, so that a page is one statement, and no more texts are sent. */
function selectPage(
  { kind, name, columns, shown, toKey }: ItemsTable,
  after: Cell | undefined,
  size: PageSize,
): Statement {
  const { columns: declared, long } = layouts[kind];
  const [key] = columns;
  const [type] = Object.values(typesOf(declared));
  const from = after === undefined ? "" : `where ${key} > $3::${type}`;
  const measured = long === undefined ? "0" : `coalesce(octet_length(${long}), 0)`;
  const bytes = kind === "resources" ? "size" : measured;
  return {
    sql: `select ${shown}
      from (select *, sum(bytes) over (order by ${key} rows unbounded preceding) as running
        from (select *, ${bytes} as bytes from ${name} ${from} order by ${key} limit $1::bigint) as chunk
      ) as measured
      where running <= $2::bigint or running = bytes order by ${key}`,
    values: [size.items, size.bytes, ...(after === undefined ? [] : [toKey(after)])],
  };
}

/** The rows of the store on these connections, for a walk. Each slice is a transaction of its own. */
export function walkedDatabase(connections: Connections): WalkedStore {
  return {
    damageIn: (error) => (failureOf(error) === "other" ? describeError(error) : undefined),
    slice: (work) =>
      transact(connections, transactionModes.snapshot, (transaction) =>
        work(
          sliceReads({
            ...postgresContents((statement) => transaction.run(statement)),
            async wordCounts({ number, idKind }, resources) {
              const { rows } = await transaction.run({
                sql: `select key, max(times) filter (where word = ''), coalesce(sum(times) filter (where word <> ''), 0)
                  from ${wordsTable(number)} where key = any($1::text[]) group by key`,
                values: [texts(resources.map(({ id }) => keyOf(idKind, id)))],
              });
              const intact = rows.filter(([, counted, summed]) => Number(counted) === Number(summed));
              return new Map(intact.map(([key, counted]) => [idOf(idKind, String(key)), Number(counted)]));
            },
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
