/** How a copy reads a database. The caller decides which transaction each read belongs to. */
import { type Cell, type Column, type ItemsTable, layouts, type PageSize } from "../../core/copy/contents.ts";
import { type ContentsDriver, ContentsPlans } from "../../core/copy/stored-contents.ts";
import type { Statement, StatementResult } from "../connection/connections.ts";
import { postgresDialect, runPlan } from "../postgres-dialect.ts";

const plans = new ContentsPlans(postgresDialect);

/** Reads a database. `run` runs one statement. */
export function postgresContents(run: (statement: Statement) => Promise<StatementResult>): ContentsDriver {
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
  const from = after === undefined ? "" : `where ${key} > $3::${typeOf(declared[0])}`;
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

/** The type of a column in a statement. */
export function typeOf({ name, type }: Column): "bigint" | "json" | "text" {
  if (type === "integer") return "bigint";
  return name === "doc" ? "json" : "text";
}
