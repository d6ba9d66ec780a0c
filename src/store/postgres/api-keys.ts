/** API keys in the database. */
import { KeyPlans, StoredKeys } from "../core/key-plans.ts";
import type { Statement, StatementResult } from "./connection/connections.ts";
import { retryOnce } from "./connection/retry.ts";
import { postgresDialect, runPlan } from "./postgres-dialect.ts";
import { findCopyingTable } from "./tables/tables.ts";

/** While a copy into the database is incomplete, its keys stay as they are. */
const plans = new KeyPlans(postgresDialect, `${findCopyingTable} is null`);

/** The keys in the database. Each change is its own statement, and it is on disk when its promise resolves. */
export function postgresKeys(run: (statement: Statement) => Promise<StatementResult>): StoredKeys {
  return new StoredKeys(plans, {
    read: (plan) => runPlan(plan, (statement) => retryOnce(() => run(statement))),
    write: (change) => runPlan(plans.change(change), run),
  });
}
