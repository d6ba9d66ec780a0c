/** SQL for receipts and their totals. */
import type { ReceiptPatterns } from "../../core/receipts.ts";
import { texts } from "../connection/arrays.ts";
import type { Statement } from "../connection/connections.ts";
import { insertNewRows } from "./values.ts";

/** The receipts with these keys. */
export function selectReceipts(keys: readonly string[]): Statement {
  return {
    sql: "select key, fingerprint, answer, brief, expires_at from holdfast_receipts where key = any($1::text[])",
    values: [texts(keys)],
  };
}

/** A receipt, as `insertReceipts` takes it. */
export interface ReceiptRow {
  key: string;
  fingerprint: string;
  answer: string;
  brief: string;
  expiresAt: number;
  at: number;
}

const receiptTypes = {
  key: "text",
  fingerprint: "text",
  answer: "text",
  brief: "text",
  expires_at: "bigint",
} as const;

/**
 * Adds receipts. The statements return the keys of the added ones: fewer, if another instance has added one of them. Expired
 * receipts with these keys must be deleted first.
 */
export function insertReceipts(rows: readonly ReceiptRow[]): Statement[] {
  return insertNewRows(
    { table: "holdfast_receipts", columns: receiptTypes },
    rows.map((row) => [row.key, row.fingerprint, row.answer, row.brief, row.expiresAt]),
  );
}

/** Deletes the receipts with these keys that have expired. Returns the length of each answer. */
export function deleteExpiredReceipts(keys: readonly string[], now: number): Statement {
  return {
    sql: `delete from holdfast_receipts where key = any($1::text[]) and expires_at <= $2::bigint
      returning octet_length(answer)`,
    values: [texts(keys), now],
  };
}

/** The number of receipts. */
export const selectReceiptCount: Statement = {
  sql: "select value from holdfast_meta where name = 'receipts'",
};

/** The totals of receipts. Every transaction locks them last and in this order, so there is no deadlock. */
export type ReceiptTotal = "receipts" | "answers";

/** Adds to a total, and locks it until the end of the transaction. Returns the new total. */
export function raiseReceiptTotal(total: ReceiptTotal, by: number): Statement {
  return {
    sql: "update holdfast_meta set value = value + $2::bigint where name = $1::text returning value",
    values: [total, by],
  };
}

/** Sets the totals of all receipts, after a copy has added them. */
export const countReceipts: Statement = {
  sql: `insert into holdfast_meta select 'receipts', count(*) from holdfast_receipts
    union all select 'answers', coalesce(sum(octet_length(answer)), 0)::bigint from holdfast_receipts
    on conflict (name) do update set value = excluded.value`,
};

/**
 * The receipts with an answer that expire first, with the length of each answer. Skips receipts that other transactions
 * have locked.
 */
export function lockOldestAnswers(limit: number): Statement {
  return {
    sql: `select key, octet_length(answer) from holdfast_receipts where answer <> ''
      order by expires_at limit $1::bigint for update skip locked`,
    values: [limit],
  };
}

/** Removes the answers of receipts. The receipts remain. */
export function clearAnswers(keys: readonly string[]): Statement {
  return {
    sql: "update holdfast_receipts set answer = '' where key = any($1::text[])",
    values: [texts(keys)],
  };
}

/**
 * Expired receipts, the oldest first, with the length of each answer. Skips receipts that other transactions have
 * locked.
 */
export function lockExpiredReceipts(now: number, limit: number): Statement {
  return {
    sql: `select key, octet_length(answer) from holdfast_receipts where expires_at <= $1::bigint
      order by expires_at limit $2::bigint for update skip locked`,
    values: [now, limit],
  };
}

/** Deletes receipts. */
export function deleteReceipts(keys: readonly string[]): Statement {
  return { sql: "delete from holdfast_receipts where key = any($1::text[])", values: [texts(keys)] };
}

const containsOneOf = (texts: string, column: string) =>
  `exists (select 1 from unnest(${texts}) as part (held) where strpos(${column}, held) > 0)`;

/** Deletes the receipts of requests to an erased resource. Returns the length of each answer. */
export function deleteReceiptsOf({ inKey }: ReceiptPatterns): Statement {
  return {
    sql: `delete from holdfast_receipts where ${containsOneOf("$1::text[]", "key")} returning octet_length(answer)`,
    values: [texts(inKey)],
  };
}

/** Removes the contents of receipts that mention an erased resource. Returns the length that each answer had. */
export function blankReceiptsOf({ inBrief, inAnswer }: ReceiptPatterns): Statement {
  return {
    sql: `with found as (select key, octet_length(answer) as length from holdfast_receipts
        where strpos(brief || '"', $1::text) > 0 or ${containsOneOf("$2::text[]", "answer")} for update)
      update holdfast_receipts as known set fingerprint = '', answer = '', brief = ''
      from found where known.key = found.key returning found.length`,
    values: [inBrief, texts(inAnswer)],
  };
}
