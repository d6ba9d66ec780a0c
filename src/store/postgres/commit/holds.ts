/**
 * Holds. An import holds its collection, and a rewind holds its collections and those that constraints connect with them, until
 * the transaction ends. Writes to a collection that is held wait outside of all transactions, so that other writes do not wait
 * with them. A hold is an advisory lock of the database, which every instance sees. Its statements read the heads, because a Citus
 * cluster then runs them on the node of the store, and not on the node that the instance is connected to.
 */
import { setTimeout as pass } from "node:timers/promises";
import { createBackOff } from "../../core/back-off.ts";
import { inProgress, WorkInProgress } from "../../core/loads.ts";
import { integers } from "../connection/arrays.ts";
import type { Connections, Statement } from "../connection/connections.ts";
import { sqlState } from "../connection/failures.ts";
import type { Transaction } from "../connection/transaction.ts";

/** The key of a lock. Another store in the same database has another table, and therefore another key. */
const key = "tableoid::integer, number";

/** SQL: whether no other transaction holds a collection. Then nobody can hold it until the transaction ends. */
export function isFreeSql(number: number): string {
  return `(select pg_try_advisory_xact_lock_shared(${key}) from holdfast_heads where number = ${number})`;
}

/** The collections among these that another transaction holds. Nobody can hold the others until the transaction ends. */
export async function findHeld(
  database: Pick<Connections, "run">,
  numbers: readonly number[],
): Promise<ReadonlySet<number>> {
  if (numbers.length === 0) return new Set();
  const { rows } = await database.run({
    sql: `select number, pg_try_advisory_xact_lock_shared(${key}) from holdfast_heads where number = any($1::integer[])`,
    values: [integers(numbers)],
  });
  return new Set(rows.flatMap(([number, isFree]) => (isFree === "f" ? [Number(number)] : [])));
}

/**
 * Locks those heads that no other transaction holds, in the order of their numbers. Returns number, sequence and number of the
 * declaration. Without the `case`, a plan could take the locks of other collections before it compares their numbers.
 */
export function lockFreeHeads(numbers: readonly number[]): Statement {
  return {
    sql: `select number, sequence, declared from holdfast_heads where number = any($1::integer[])
      and case when number = any($1::integer[]) then pg_try_advisory_xact_lock_shared(${key}) end order by number for update`,
    values: [integers(numbers)],
  };
}

/** Locks heads, also held ones, in the order of their numbers. Returns number, sequence, number of the declaration, and count. */
export function lockHeads(numbers: readonly number[]): Statement {
  return {
    sql: `select number, sequence, declared, count from holdfast_heads
      where number = any($1::integer[]) order by number for update`,
    values: [integers(numbers)],
  };
}

/** Holds collections until the transaction ends. Waits for the writes to them. Throws UNAVAILABLE if others hold them too long. */
export async function hold(transaction: Transaction, numbers: Iterable<number>): Promise<void> {
  const sql = `select pg_advisory_xact_lock(${key}) from holdfast_heads where number = any($1::integer[]) order by number`;
  await transaction.run({ sql, values: [integers([...numbers])] }).catch((error: unknown) => {
    throw sqlState(error) === "55P03" ? inProgress() : error; // lock_not_available
  });
}

/** Another transaction holds collections that a write needs. Nothing was written. */
export class Held extends WorkInProgress {
  readonly numbers: readonly number[];

  constructor(numbers: Iterable<number>) {
    super();
    this.numbers = [...numbers];
  }
}

/** The pauses between two tests whether a hold has ended, in milliseconds. */
const pauses = { first: 10, most: 200 };

/** The writes of one store that wait for holds. */
export class HeldWrites {
  readonly #connections: Connections;
  readonly #maxWaitMs: number;
  readonly #secondsLeft: (waitedMs: number) => number;
  /** The known holds, by the number of the collection. Each resolves when the hold has ended. */
  readonly #ends = new Map<number, Promise<void>>();

  /** `secondsLeft` estimates how long the work in progress still takes. */
  constructor(connections: Connections, maxWaitMs: number, secondsLeft: (waitedMs: number) => number) {
    this.#connections = connections;
    this.#maxWaitMs = maxWaitMs;
    this.#secondsLeft = secondsLeft;
  }

  /** Does work on collections, and repeats it while it throws Held. Throws UNAVAILABLE if that takes too long. */
  async whenFree<T>(collections: readonly number[], work: () => Promise<T>): Promise<T> {
    const since = performance.now();
    let numbers = collections;
    for (;;) {
      if (this.#ends.size > 0) await this.#untilFree(numbers, since);
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Held)) throw error;
        numbers = error.numbers;
        for (const number of numbers)
          if (!this.#ends.has(number)) this.#ends.set(number, this.#findEnd(number));
      }
    }
  }

  async #untilFree(numbers: readonly number[], since: number): Promise<void> {
    const ends = numbers.flatMap((number) => this.#ends.get(number) ?? []);
    if (ends.length === 0) return;
    const waited = new AbortController();
    const { signal } = waited;
    const left = Math.max(0, this.#maxWaitMs - (performance.now() - since));
    const over = pass(left, true, { signal, ref: false }).catch(() => false);
    try {
      if ((await Promise.race([Promise.all(ends), over])) === true)
        throw inProgress(this.#secondsLeft(performance.now() - since));
    } finally {
      waited.abort();
    }
  }

  /** Tests repeatedly whether a hold has ended. After an error, the write that waits tests it itself. */
  async #findEnd(number: number): Promise<void> {
    const nextPause = createBackOff(pauses);
    const isHeld = () => findHeld(this.#connections, [number]);
    do await pass(nextPause(), undefined, { ref: false });
    while ((await isHeld().catch(() => new Set())).size > 0);
    this.#ends.delete(number);
  }
}
