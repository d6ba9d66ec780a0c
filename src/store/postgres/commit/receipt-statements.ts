/** SQL that counts receipts. */
import type { Statement } from "../connection/connections.ts";

/** Other transactions cannot change receipts until the end of this one. */
export const lockReceipts: Statement = { sql: "lock table holdfast_receipts in share row exclusive mode" };

/** Counts all receipts, if they were never counted. `isRecount` counts them in any case. */
export function countReceipts({ isRecount = false } = {}): Statement {
  return {
    sql: `insert into holdfast_meta select 'receipts', count(*) from holdfast_receipts
      union all select 'answers', coalesce(sum(octet_length(answer)), 0)::bigint from holdfast_receipts
      on conflict ${isRecount ? "(name) do update set value = excluded.value" : "do nothing"}`,
  };
}

/** One row for each total that exists. */
export const selectReceiptTotals: Statement = {
  sql: "select name from holdfast_meta where name in ('receipts', 'answers')",
};
