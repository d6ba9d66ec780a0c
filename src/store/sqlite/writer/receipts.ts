/** The receipts of idempotent writes on the writer's connection. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { receiptPatterns } from "../../core/receipts.ts";
import type { Receipt } from "../../port/commit.ts";
import { type ReceiptLimits, receiptLimits } from "../../port/options.ts";

/** The limits of one call of `trim`, during which no write happens. It can exceed `textLength` by one receipt. */
const trimLimits = { receipts: 200, textLength: 256 * 1024 };

/** The receipts of all collections. */
export class Receipts {
  readonly limits: ReceiptLimits;
  readonly #find: StatementSync;
  readonly #keep: StatementSync;
  readonly #expired: StatementSync;
  readonly #oldestAnswered: StatementSync;
  readonly #mentioning: StatementSync;
  readonly #read: StatementSync;
  readonly #length: StatementSync;
  readonly #remove: StatementSync;
  readonly #total: StatementSync;
  readonly #addToTotal: StatementSync;

  constructor(database: DatabaseSync, limits: ReceiptLimits = receiptLimits) {
    this.limits = limits;
    this.#find = database.prepare("select expires_at from receipts where key = ?");
    this.#keep = database.prepare(
      "insert into receipts (key, fingerprint, answer, expires_at, brief) values (?, ?, ?, ?, ?)",
    );
    this.#expired = database.prepare(
      `select key, octet_length(answer) as length from receipts
       where expires_at <= ? order by expires_at limit ?`,
    );
    this.#oldestAnswered = database.prepare(
      "select key from receipts where answer <> '' order by expires_at limit 1",
    );
    this.#mentioning = database.prepare(
      `select key, exists (select 1 from json_each(?) where instr(receipts.key, value)) as isOwn from receipts
       where isOwn or instr(brief || '"', ?) or exists (select 1 from json_each(?) where instr(answer, value))`,
    );
    this.#read = database.prepare("select fingerprint, brief, expires_at from receipts where key = ?");
    this.#length = database.prepare("select octet_length(answer) as length from receipts where key = ?");
    this.#remove = database.prepare("delete from receipts where key = ?");
    this.#total = database.prepare("select value from meta where name = ?");
    this.#addToTotal = database.prepare("update meta set value = value + ? where name = ?");
  }

  /** The time at which the receipt with this key expires. */
  expiryOf(key: string): number | undefined {
    const row = this.#find.get(key);
    return row === undefined ? undefined : Number(row.expires_at);
  }

  /** The number of receipts. */
  get count(): number {
    return this.#totalOf("receipts");
  }

  /** Stores a receipt. It replaces an expired one with the same key. */
  keep({ key, fingerprint, answer, brief = "", expiresAt }: Receipt): void {
    const length = Buffer.byteLength(answer);
    const isKept = length <= this.limits.answer;
    this.#delete(key);
    this.#keep.run(key, fingerprint, isKept ? answer : "", expiresAt, brief);
    this.#addToTotals(1, isKept ? length : 0);
    while (this.#totalOf("answers") > this.limits.answers && this.#removeOldestAnswer());
  }

  /** Whether a receipt has expired. */
  hasExpired(now: number): boolean {
    return this.#expired.get(now, 1) !== undefined;
  }

  /** Removes some expired receipts, the oldest first. */
  trim(now: number): void {
    let length = 0;
    for (const expired of this.#expired.all(now, trimLimits.receipts)) {
      if (length > trimLimits.textLength) return;
      this.#delete(String(expired.key));
      length += Number(expired.length);
    }
  }

  /**
   * Removes the responses that contain the resource with this id, or its path. A few other responses can match too. Their
   * receipts stay without fingerprint, because a retry must not create the resource again. The receipts of requests to the
   * resource itself are deleted, because a retry of such a request finds no resource.
   */
  erase(id: string): void {
    const { inKey, inBrief, inAnswer } = receiptPatterns(id);
    const patterns = [JSON.stringify(inKey), inBrief, JSON.stringify(inAnswer)];
    for (const { key, isOwn } of this.#mentioning.all(...patterns)) {
      if (isOwn === 1) this.#delete(String(key));
      else this.#removeAnswer(String(key), { onlyKey: true });
    }
  }

  /** Returns whether there was a response to remove. */
  #removeOldestAnswer(): boolean {
    const oldest = this.#oldestAnswered.get();
    if (oldest === undefined) return false;
    this.#removeAnswer(String(oldest.key));
    return true;
  }

  /** Removes the response of a receipt. With `onlyKey`, only the key and the expiry time are left. */
  #removeAnswer(key: string, { onlyKey = false } = {}): void {
    const row = this.#read.get(key);
    if (row === undefined) return;
    // Not an update: it would leave free space between other rows, which new rows cannot use, because they go to the end.
    this.#delete(key);
    const { fingerprint, brief, expires_at: expiresAt } = row;
    const [newFingerprint, newBrief] = onlyKey ? ["", ""] : [String(fingerprint), String(brief)];
    this.#keep.run(key, newFingerprint, "", Number(expiresAt), newBrief);
    this.#addToTotals(1, 0);
  }

  #delete(key: string): void {
    const row = this.#length.get(key);
    if (row === undefined) return;
    this.#remove.run(key);
    this.#addToTotals(-1, -Number(row.length));
  }

  #addToTotals(receipts: number, answers: number): void {
    if (receipts !== 0) this.#addToTotal.run(receipts, "receipts");
    if (answers !== 0) this.#addToTotal.run(answers, "answers");
  }

  #totalOf(name: "receipts" | "answers"): number {
    return Number(this.#total.get(name)?.value);
  }
}
