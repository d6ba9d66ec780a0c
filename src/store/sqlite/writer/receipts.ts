/** The receipts of idempotent writes, on the connection that writes. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Receipt } from "../../commit.ts";
import { type ReceiptLimits, receiptLimits, receiptPatterns } from "../../receipts.ts";

/** What one call of `trim` removes at most, but for a single larger one: nobody else writes meanwhile. */
const slice = { receipts: 200, textLength: 256 * 1024 };

/** Brings a file up to date that was made before receipts were counted. */
export function addReceiptTotals(database: DatabaseSync): void {
  const columns = database.prepare("select name from pragma_table_xinfo('receipts')").all();
  if (columns.some(({ name }) => name === "brief")) return;
  database.exec(`
    begin immediate;
    alter table receipts add column brief text not null default '';
    create index receipts_with_answer on receipts (expires_at) where answer <> '';
    insert into meta select 'receipts', count(*) from receipts;
    insert into meta select 'answers', coalesce(sum(octet_length(answer)), 0) from receipts;
    commit
  `);
}

/** All receipts, whatever their writes were about. */
export class Receipts {
  readonly bounds: ReceiptLimits;
  readonly #find: StatementSync;
  readonly #keep: StatementSync;
  readonly #expired: StatementSync;
  readonly #answered: StatementSync;
  readonly #holding: StatementSync;
  readonly #read: StatementSync;
  readonly #length: StatementSync;
  readonly #remove: StatementSync;
  readonly #total: StatementSync;
  readonly #count: StatementSync;

  constructor(database: DatabaseSync, bounds: ReceiptLimits = receiptLimits) {
    this.bounds = bounds;
    this.#find = database.prepare("select expires_at from receipts where key = ?");
    this.#keep = database.prepare(
      "insert into receipts (key, fingerprint, answer, expires_at, brief) values (?, ?, ?, ?, ?)",
    );
    this.#expired = database.prepare(
      `select key, octet_length(answer) as length from receipts
       where expires_at <= ? order by expires_at limit ?`,
    );
    this.#answered = database.prepare(
      "select key from receipts where answer <> '' order by expires_at limit 1",
    );
    this.#holding = database.prepare(
      `select key, exists (select 1 from json_each(?) where instr(receipts.key, value)) as isOwn from receipts
       where isOwn or instr(brief || '"', ?) or exists (select 1 from json_each(?) where instr(answer, value))`,
    );
    this.#read = database.prepare("select fingerprint, brief, expires_at from receipts where key = ?");
    this.#length = database.prepare("select octet_length(answer) as length from receipts where key = ?");
    this.#remove = database.prepare("delete from receipts where key = ?");
    this.#total = database.prepare("select value from meta where name = ?");
    this.#count = database.prepare("update meta set value = value + ? where name = ?");
  }

  /** When the receipt with this key expires. */
  expiryOf(key: string): number | undefined {
    const row = this.#find.get(key);
    return row === undefined ? undefined : Number(row.expires_at);
  }

  /** How many there are. */
  get count(): number {
    return this.#totalOf("receipts");
  }

  /** Keeps a receipt, in the place of one that has expired. */
  keep({ key, fingerprint, answer, brief = "", expiresAt }: Receipt): void {
    const length = Buffer.byteLength(answer);
    const isKept = length <= this.bounds.answer;
    this.#forget(key);
    this.#keep.run(key, fingerprint, isKept ? answer : "", expiresAt, brief);
    this.#note(1, isKept ? length : 0);
    while (this.#totalOf("answers") > this.bounds.answers && this.#dropOldest());
  }

  /** Whether there is one that has expired. */
  isDue(now: number): boolean {
    return this.#expired.get(now, 1) !== undefined;
  }

  /** Removes some of those that have expired, the oldest first. */
  trim(now: number): void {
    let length = 0;
    for (const expired of this.#expired.all(now, slice.receipts)) {
      if (length > slice.textLength) return;
      this.#forget(String(expired.key));
      length += Number(expired.length);
    }
  }

  /**
   * Removes the answers that hold a resource of this id, or its address, with all that came of the requests; a few others
   * may go with them. Their receipts stay, since a retry must not make the resource anew, but for those of requests to the
   * resource itself, which has nothing left to be changed.
   */
  erase(id: string): void {
    const { inKey, inBrief, inAnswer } = receiptPatterns(id);
    const searched = [JSON.stringify(inKey), inBrief, JSON.stringify(inAnswer)];
    for (const { key, isOwn } of this.#holding.all(...searched)) {
      if (isOwn === 1) this.#forget(String(key));
      else this.#dropAnswer(String(key), { withAll: true });
    }
  }

  /** Gives whether there was one. */
  #dropOldest(): boolean {
    const oldest = this.#answered.get();
    if (oldest === undefined) return false;
    this.#dropAnswer(String(oldest.key));
    return true;
  }

  #dropAnswer(key: string, { withAll = false } = {}): void {
    const row = this.#read.get(key);
    if (row === undefined) return;
    // Not in its place: what it leaves free between others would be of no use to later ones, which go to the end.
    this.#forget(key);
    const { fingerprint, brief, expires_at: expiresAt } = row;
    const [print, rest] = withAll ? ["", ""] : [String(fingerprint), String(brief)];
    this.#keep.run(key, print, "", Number(expiresAt), rest);
    this.#note(1, 0);
  }

  #forget(key: string): void {
    const row = this.#length.get(key);
    if (row === undefined) return;
    this.#remove.run(key);
    this.#note(-1, -Number(row.length));
  }

  #note(receipts: number, answers: number): void {
    if (receipts !== 0) this.#count.run(receipts, "receipts");
    if (answers !== 0) this.#count.run(answers, "answers");
  }

  #totalOf(name: "receipts" | "answers"): number {
    return Number(this.#total.get(name)?.value);
  }
}
