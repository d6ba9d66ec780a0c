/** SQL for receipts and their totals. */
import type { ReceiptPatterns } from "../../receipts.ts";
import { bigints, texts } from "../connection/arrays.ts";
import type { Statement } from "../connection/connections.ts";

/** Receipts by their keys. */
export function selectReceipts(keys: readonly string[]): Statement {
  return {
    sql: "select key, fingerprint, answer, brief, expires_at from holdfast_receipts where key = any($1::text[])",
    values: [texts(keys)],
  };
}

/** A receipt as a set statement takes it. */
export interface ReceiptRow {
  key: string;
  fingerprint: string;
  answer: string;
  brief: string;
  expiresAt: number;
  at: number;
}

/** Keeps receipts. Fewer than asked for: another instance was faster. Those that have expired must be removed before. */
export function keepReceipts(rows: readonly ReceiptRow[]): Statement {
  return {
    sql: `insert into holdfast_receipts (key, fingerprint, answer, brief, expires_at)
      select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
      on conflict do nothing`,
    values: [
      texts(rows.map(({ key }) => key)),
      texts(rows.map(({ fingerprint }) => fingerprint)),
      texts(rows.map(({ answer }) => answer)),
      texts(rows.map(({ brief }) => brief)),
      bigints(rows.map(({ expiresAt }) => expiresAt)),
    ],
  };
}

/** Removes those of some receipts that have expired; gives the length of each answer. */
export function deleteExpired(keys: readonly string[], now: number): Statement {
  return {
    sql: `delete from holdfast_receipts where key = any($1::text[]) and expires_at <= $2
      returning octet_length(answer)`,
    values: [texts(keys), now],
  };
}

/** How many receipts there are. */
export const selectReceiptCount: Statement = {
  sql: "select value from holdfast_meta where name = 'receipts'",
};

/** The totals of receipts. Whatever changes receipts raises the totals last, in this order: so nobody waits in a circle. */
export type ReceiptTotal = "receipts" | "answers";

/** Raises a total of receipts, which locks it to the end of the transaction; gives the new total. */
export function raiseReceiptTotal(total: ReceiptTotal, by: number): Statement {
  return {
    sql: "update holdfast_meta set value = value + $2 where name = $1 returning value",
    values: [total, by],
  };
}

/** Nobody changes receipts until the end of the transaction. */
export const lockReceipts: Statement = { sql: "lock table holdfast_receipts in share row exclusive mode" };

/** Counts all receipts, unless they are counted already; `isAgain`: in any case. */
export function countReceipts({ isAgain = false } = {}): Statement {
  return {
    sql: `insert into holdfast_meta select 'receipts', count(*) from holdfast_receipts
      union all select 'answers', coalesce(sum(octet_length(answer)), 0)::bigint from holdfast_receipts
      on conflict ${isAgain ? "(name) do update set value = excluded.value" : "do nothing"}`,
  };
}

/** Whether receipts are counted. */
export const selectReceiptTotals: Statement = {
  sql: "select name from holdfast_meta where name in ('receipts', 'answers')",
};

/** The receipts with an answer that expire first, with the length of each. Those that others are changing are passed over. */
export function lockOldestAnswers(limit: number): Statement {
  return {
    sql: `select key, octet_length(answer) from holdfast_receipts where answer <> ''
      order by expires_at limit $1 for update skip locked`,
    values: [limit],
  };
}

/** Removes the answers of receipts. */
export function dropAnswers(keys: readonly string[]): Statement {
  return {
    sql: "update holdfast_receipts set answer = '' where key = any($1::text[])",
    values: [texts(keys)],
  };
}

/** Some of the receipts that have expired, the oldest first, with the length of each answer. Others that change them are not waited for. */
export function lockExpiredReceipts(now: number, limit: number): Statement {
  return {
    sql: `select key, octet_length(answer) from holdfast_receipts where expires_at <= $1
      order by expires_at limit $2 for update skip locked`,
    values: [now, limit],
  };
}

/** Removes receipts. */
export function deleteReceipts(keys: readonly string[]): Statement {
  return { sql: "delete from holdfast_receipts where key = any($1::text[])", values: [texts(keys)] };
}

const holds = (texts: string, column: string) =>
  `exists (select 1 from unnest(${texts}::text[]) as part (held) where strpos(${column}, held) > 0)`;

/** Removes receipts of requests to a resource that is erased; gives the length of each answer. */
export function deleteReceiptsOf({ inKey }: ReceiptPatterns): Statement {
  return {
    sql: `delete from holdfast_receipts where ${holds("$1", "key")} returning octet_length(answer)`,
    values: [texts(inKey)],
  };
}

/** Takes all that came of the requests out of receipts that tell of an erased resource; gives how long each answer was. */
export function blankReceiptsOf({ inBrief, inAnswer }: ReceiptPatterns): Statement {
  return {
    sql: `with found as (select key, octet_length(answer) as length from holdfast_receipts
        where strpos(brief || '"', $1) > 0 or ${holds("$2", "answer")} for update)
      update holdfast_receipts as known set fingerprint = '', answer = '', brief = ''
      from found where known.key = found.key returning found.length`,
    values: [inBrief, texts(inAnswer)],
  };
}
