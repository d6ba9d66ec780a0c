/**
 * The receipts of idempotent writes, and their totals. A transaction changes the totals last. So where several transactions write,
 * none waits for another one while it holds the totals.
 */
import { Problem } from "../../errors.ts";
import type { KeptReceipt } from "../port/commit.ts";
import { type ReceiptLimits, receiptLimits } from "../port/options.ts";
import type { Dialect } from "../sql/dialect.ts";
import { type Plan, together, type Value } from "../sql/plans.ts";
import {
  allOf,
  receipts as columns,
  command,
  firstOf,
  numberOf,
  numbersOf,
  query,
  type RowOf,
  select,
} from "../sql/table.ts";
import { checksumOfReceipt, damageOf, nameOfReceipt } from "./checksums.ts";
import type { StagedReceipt } from "./commits/staged-changes.ts";

/** A change of the totals: of the number of receipts, and of the bytes of all responses. */
export interface ReceiptTotals {
  receipts: number;
  answers: number;
}

/** The limits of one step that removes receipts. A step can exceed `bytes` by one receipt. */
const step = { receipts: 200, bytes: 256 * 1024 };

/** The receipts of a store. */
export class ReceiptPlans {
  readonly limits: ReceiptLimits;
  readonly #dialect: Dialect;
  readonly #sql: ReturnType<typeof makeTexts>;

  constructor(dialect: Dialect, limits: ReceiptLimits = receiptLimits) {
    this.limits = limits;
    this.#dialect = dialect;
    this.#sql = makeTexts(dialect);
  }

  /** The receipts with these keys, valid or not. */
  *find(keys: readonly string[]): Plan<ReadonlyMap<string, KeptReceipt>> {
    const rows = yield* this.#sql.find(this.#dialect.list(keys));
    return new Map(rows.map((row) => [row.key, toReceipt(row)]));
  }

  /** When the receipts with these keys expire: Unix time in milliseconds. */
  *expiries(keys: readonly string[]): Plan<ReadonlyMap<string, number>> {
    const rows = yield* this.#sql.expiries(this.#dialect.list(keys));
    return new Map(rows.map((row) => [row.key, row.expires_at]));
  }

  /** The receipt with this key, valid or not. On SQLite, this is faster than a list of one key. */
  *findOne(key: string): Plan<KeptReceipt | undefined> {
    const row = yield* this.#sql.findOne(key);
    return row && toReceipt(row);
  }

  /** The number of receipts. */
  count(): Plan<number> {
    return this.#sql.total("receipts");
  }

  /**
   * Stores receipts. Returns the change of the totals, or `undefined` if another transaction has stored one of them. Then this
   * transaction must be rolled back.
   */
  *add(receipts: readonly StagedReceipt[]): Plan<ReceiptTotals | undefined> {
    const replaced = receipts.filter(({ replaces }) => replaces).map(({ key }) => key);
    const now = receipts.reduce((latest, { at }) => Math.max(latest, at), 0);
    const rows = receipts.map(({ key, fingerprint, answer, brief = "", expiresAt }) => {
      const fits = Buffer.byteLength(answer) <= this.limits.answer;
      return withChecksum({ key, fingerprint, answer: fits ? answer : "", expires_at: expiresAt, brief });
    });
    const insert = this.#dialect.insertNew(this.#sql.table, columns, rows);
    const [removed, added] =
      replaced.length === 0
        ? [[], yield* insert]
        : yield* together(this.#sql.removeExpired(this.#dialect.list(replaced), now), insert);
    if (added < rows.length) return undefined;
    return minus(totalsOf(rows.map(({ answer }) => Buffer.byteLength(answer))), totalsOf(removed));
  }

  /** Adds to the totals. Above the limit, the oldest receipts lose their responses. Returns whether there are too many receipts. */
  *raise(totals: ReceiptTotals): Plan<boolean> {
    const { count, bytes } = yield* this.#raise(totals);
    const excess = bytes - this.limits.answers;
    if (excess > 0 && totals.answers > 0) yield* this.#shorten(excess);
    return totals.receipts > 0 && count > this.limits.keys;
  }

  /** Whether a receipt has expired. */
  *hasExpired(now: number): Plan<boolean> {
    return (yield* this.#sql.expired(now, 1)).length > 0;
  }

  /** Removes some expired receipts, the oldest first. Returns whether there were any. */
  *trim(now: number): Plan<boolean> {
    const chosen = upTo(yield* this.#sql.expired(now, step.receipts), step.bytes);
    if (chosen.length === 0) return false;
    yield* this.#sql.remove(this.#dialect.list(chosen.map(({ key }) => key)));
    yield* this.#raise(minus(none, totalsOf(chosen.map(({ length }) => length))));
    return true;
  }

  /**
   * Removes the responses that contain the resource with this id, or its path. A few other responses can match too. Their
   * receipts stay without fingerprint, because a retry must not create the resource again. The receipts of requests to the
   * resource itself are deleted, because a retry of such a request finds no resource. It must come last in the transaction.
   */
  *erase(id: string): Plan<void> {
    const { inKey, inBrief, inAnswer } = patternsOf(id);
    const parts = (texts: readonly string[]) => this.#dialect.records(texts.map((part) => ({ part })));
    const own = yield* this.#sql.removeOwn(parts(inKey));
    const others = yield* this.#sql.mentioning(inBrief, parts(inAnswer));
    yield* this.#withoutAnswer(others, (row) => ({ ...row, fingerprint: "", brief: "" }));
    const blanked = { receipts: 0, answers: totalsOf(others.map(({ length }) => length)).answers };
    yield* this.#raise(minus(minus(none, totalsOf(own)), blanked));
  }

  /** Removes the responses of the oldest receipts until at least `excess` bytes are free. */
  *#shorten(excess: number): Plan<void> {
    let freed = 0;
    while (freed < excess) {
      const oldest = upTo(yield* this.#sql.answered(step.receipts), excess - freed);
      if (oldest.length === 0) break;
      yield* this.#withoutAnswer(oldest, (row) => row);
      freed += totalsOf(oldest.map(({ length }) => length)).answers;
    }
    yield* this.#raise({ receipts: 0, answers: -freed });
  }

  /**
   * Replaces receipts by rows without response. An update would leave free space between rows of SQLite, which new rows cannot
   * use, because they go to the end.
   */
  *#withoutAnswer(receipts: readonly { key: string }[], change: (row: Shortened) => Shortened): Plan<void> {
    if (receipts.length === 0) return;
    const rows = yield* this.#sql.take(this.#dialect.list(receipts.map(({ key }) => key)));
    const shortened = rows.map((row) => withChecksum({ ...change(row), answer: "" }));
    yield* this.#dialect.insertNew(this.#sql.table, columns, shortened);
  }

  *#raise({ receipts, answers }: ReceiptTotals): Plan<{ count: number; bytes: number }> {
    const changes = [["receipts", receipts] as const, ["answers", answers] as const];
    const [count = 0, bytes = 0] = yield* this.#dialect.raise(changes);
    return { count, bytes };
  }
}

type ReceiptRow = RowOf<typeof columns>;
type Shortened = Omit<ReceiptRow, "answer" | "checksum">;

function withChecksum(row: Omit<ReceiptRow, "checksum">): ReceiptRow {
  return { ...row, checksum: checksumOfReceipt(row) };
}

function makeTexts({ tablePrefix, among, position, given, skipLocked }: Dialect) {
  const table = `${tablePrefix}receipts`;
  const whole = select(columns, "key", "fingerprint", "answer", "brief", "expires_at", "checksum");
  const shortened = select(columns, "key", "fingerprint", "brief", "expires_at");
  const expiry = select(columns, "key", "expires_at");
  const sized = select({ key: "text", length: "int" }, "key", "length");
  const length = "octet_length(answer) as length";
  const hasPart = (text: string, place: number) =>
    `exists (select 1 from ${given({ part: "text" }, place)} as wanted where ${position(text, "wanted.part")} > 0)`;
  return {
    table,
    find: query<[Value], ReceiptRow[]>(
      `select ${whole.sql} from ${table} where ${among("key", 1)}`,
      allOf(whole),
    ),
    expiries: query<[Value], Pick<ReceiptRow, "key" | "expires_at">[]>(
      `select ${expiry.sql} from ${table} where ${among("key", 1)}`,
      allOf(expiry),
    ),
    findOne: query<[string], ReceiptRow | undefined>(
      `select ${whole.sql} from ${table} where key = $1::text`,
      firstOf(whole),
    ),
    total: query<[string], number>(`select value from ${tablePrefix}meta where name = $1::text`, numberOf),
    removeExpired: query<[Value, number], number[]>(
      `delete from ${table} where ${among("key", 1)} and expires_at <= $2::bigint returning octet_length(answer)`,
      numbersOf,
    ),
    expired: query<[number, number], { key: string; length: number }[]>(
      `select key, ${length} from ${table} where expires_at <= $1::bigint order by expires_at limit $2::bigint${skipLocked}`,
      allOf(sized),
    ),
    answered: query<[number], { key: string; length: number }[]>(
      `select key, ${length} from ${table} where answer <> '' order by expires_at limit $1::bigint${skipLocked}`,
      allOf(sized),
    ),
    remove: command<[Value]>(`delete from ${table} where ${among("key", 1)}`),
    take: query<[Value], Shortened[]>(
      `delete from ${table} where ${among("key", 1)} returning ${shortened.sql}`,
      allOf(shortened),
    ),
    removeOwn: query<[Value], number[]>(
      `delete from ${table} where ${hasPart("key", 1)} returning octet_length(answer)`,
      numbersOf,
    ),
    mentioning: query<[string, Value], { key: string; length: number }[]>(
      `select key, ${length} from ${table} where ${position(`brief || '"'`, "$1::text")} > 0 or ${hasPart("answer", 2)}`,
      allOf(sized),
    ),
  };
}

const none: ReceiptTotals = { receipts: 0, answers: 0 };

function totalsOf(lengths: readonly number[]): ReceiptTotals {
  return { receipts: lengths.length, answers: lengths.reduce((sum, each) => sum + each, 0) };
}

function minus(a: ReceiptTotals, b: ReceiptTotals): ReceiptTotals {
  return { receipts: a.receipts - b.receipts, answers: a.answers - b.answers };
}

/** The first ones, until their lengths reach `bytes`. */
function upTo<T extends { length: number }>(all: readonly T[], bytes: number): T[] {
  let sum = 0;
  return all.filter(({ length }) => {
    const isBefore = sum < bytes;
    sum += length;
    return isBefore;
  });
}

/** Throws DATA_DAMAGED. */
function toReceipt(row: ReceiptRow): KeptReceipt {
  if (checksumOfReceipt(row) !== row.checksum)
    throw new Problem("DATA_DAMAGED", damageOf(nameOfReceipt(row)));
  const { key, fingerprint, answer, brief, expires_at: expiresAt } = row;
  const kept = { key, fingerprint, expiresAt, ...(brief !== "" && { brief }) };
  return { ...kept, answer: answer === "" ? undefined : answer };
}

/** Texts by which the receipts about a resource are found. */
interface Patterns {
  /** The key of a request to the resource contains one of these. */
  inKey: readonly string[];
  /** `brief`, with a quotation mark added, contains this. */
  inBrief: string;
  /** A response with the resource contains one of these. A few other responses contain them too. */
  inAnswer: readonly string[];
}

/** The patterns for the resource with this id, and for its path. */
function patternsOf(id: string): Patterns {
  const address = `/${encodeURIComponent(id)}`;
  const values = [`"id":${JSON.stringify(id)}`, `"id":${id},`, `"id":${id}}`].map(asString);
  return {
    inKey: [`${address}"`, `${address}/`],
    inBrief: `${address}"`,
    inAnswer: [...values, `${address}"`, `${address}\\"`],
  };
}

/** The text as it appears inside a JSON string. */
function asString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
