/** How a copy reads a store's file, on one connection. The caller decides on transactions. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { type Cell, type Item, type ItemsTable, layouts, type PageSize } from "../../core/copy/contents.ts";
import { type ContentsDriver, ContentsPlans } from "../../core/copy/stored-contents.ts";
import type { Row } from "../../sql/plans.ts";
import { PlanRunner, sqliteDialect } from "../sqlite-dialect.ts";

const plans = new ContentsPlans(sqliteDialect);

/** Reads a file. `toError` replaces the errors of SQLite. */
export function sqliteContents(
  database: DatabaseSync,
  toError: (error: unknown) => unknown = (error) => error,
): ContentsDriver {
  const runner = new PlanRunner(database);
  const attempt = async <T>(read: () => T): Promise<T> => {
    try {
      return read();
    } catch (error) {
      throw toError(error);
    }
  };
  return {
    plans,
    run: (plan) => attempt(() => runner.run(plan)),
    page: (...args) => attempt(() => readPage(database, ...args)),
  };
}

/** Reads row by row, because the size of a page is only known then. A statement that measures the rows first takes longer. */
function readPage(
  database: DatabaseSync,
  { kind, name, columns, shown, toKey, toItem }: ItemsTable,
  after: Cell | undefined,
  size: PageSize,
): readonly Item[] {
  const from = after === undefined ? "" : `where ${columns[0]} > ?`;
  const statement = database.prepare(`select ${shown} from ${name} ${from} order by ${columns[0]} limit ?`);
  statement.setReturnArrays(true);
  const start = after === undefined ? [] : [toKey(after) as SQLInputValue];
  const longAt = columns.indexOf(layouts[kind].long ?? "");
  const items: Item[] = [];
  let bytes = 0;
  for (const row of statement.iterate(...start, size.items) as Iterable<unknown>) {
    const item = toItem(row as Row);
    bytes += Buffer.byteLength(String(item[longAt] ?? ""));
    if (items.length > 0 && bytes > size.bytes) break;
    items.push(item);
  }
  return items;
}
