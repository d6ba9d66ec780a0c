/** The store's secret in its database. */
import { newSecret, secretNames } from "../../core/secret.ts";
import { bigints, texts } from "../connection/arrays.ts";
import type { Statement, StatementResult } from "../connection/connections.ts";

const names = secretNames.map((name) => `'${name}'`).join(", ");

/** Adds a secret to a new store. Another instance can have created the store first: all parts are added or none. */
export function addSecret(): Statement {
  const rows = secretNames.map((name, n) => `('${name}', $${n + 1}::bigint)`);
  return {
    sql: `insert into holdfast_meta values ${rows.join(", ")} on conflict do nothing`,
    values: newSecret(),
  };
}

/** The parts of the secret. */
export async function readSecret(
  run: (statement: Statement) => Promise<Pick<StatementResult, "rows">>,
): Promise<readonly number[]> {
  const { rows } = await run({
    sql: `select value from holdfast_meta where name in (${names}) order by name`,
  });
  return rows.map(([value]) => Number(value));
}

/** Replaces the secret with that of another store. */
export function replaceSecret(parts: readonly number[]): Statement {
  return {
    sql: `update holdfast_meta set value = part.value
      from unnest($1::text[], $2::bigint[]) as part (name, value) where holdfast_meta.name = part.name`,
    values: [texts([...secretNames]), bigints([...parts])],
  };
}
