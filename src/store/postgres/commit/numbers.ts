/** Reserves integer ids and numbers of groups in the database, so that two services never use the same one. */
import { Problem } from "../../../errors.ts";
import { requireGroup } from "../../core/checksums.ts";
import { Batch, type Outcome } from "../../port/batch.ts";
import type { Connections, Run } from "../connection/connections.ts";
import { retryOnce } from "../connection/failures.ts";
import { smallWrite, transact } from "../connection/transaction.ts";
import { postgresDialect } from "../postgres-dialect.ts";
import { findHeld, Held } from "./holds.ts";
import { reserveIds } from "./statements.ts";

interface Reservation {
  /** The number of the collection. */
  number: number;
  n: number;
}

/** Reserves integer ids, for all collections. */
export class IdNumbers {
  readonly #connections: Connections;
  /** The highest id that this service has reserved, by the number of the collection. */
  readonly #seen = new Map<number, number>();

  readonly #reservations: Batch<Reservation, number>;

  constructor(connections: Connections, maxBatchSize: number) {
    this.#connections = connections;
    const perform = (calls: readonly Reservation[]) => this.#reserveTogether(calls);
    this.#reservations = new Batch({ perform, maxBatchSize, maxConcurrent: 1 });
  }

  /**
   * Reserves `n` ids of a collection and returns the first. Calls that arrive together are one statement. Throws Held while another
   * transaction holds the collection.
   */
  reserve(number: number, n: number): Promise<number> {
    return this.#reservations.run({ number, n });
  }

  /** The highest id of a collection that this service has reserved; 0 before the first one. */
  seen(number: number): number {
    return this.#seen.get(number) ?? 0;
  }

  /** Like `reserve`, but as part of a transaction. If the transaction is rolled back, the ids are free again. */
  async reserveWithin(run: Run, number: number, n: number): Promise<number> {
    return (await lastOf(run, number, n)) - n + 1;
  }

  async #reserveTogether(calls: readonly Reservation[]): Promise<readonly Outcome<number>[]> {
    const outcomes = new Map<Reservation, Outcome<number>>();
    for (const [number, own] of Map.groupBy(calls, (call) => call.number)) {
      const total = own.reduce((sum, { n }) => sum + n, 0);
      const reserved = await this.#take(number, total).catch((error: unknown) => ({ error }));
      let next = typeof reserved === "number" ? reserved : 0;
      for (const call of own) {
        outcomes.set(call, typeof reserved === "number" ? { answer: next } : reserved);
        next += call.n;
      }
    }
    return calls.map((call) => outcomes.get(call) as Outcome<number>);
  }

  async #take(number: number, n: number): Promise<number> {
    // If the first attempt reserved ids without a response, the second reserves others. This only leaves a gap.
    const last = await retryOnce(() =>
      transact(this.#connections, smallWrite, async (transaction) => {
        const run: Run = (statement) => transaction.run(statement);
        const held = await findHeld(transaction, [number]);
        if (held.size > 0) throw new Held(held); // the statement would wait, and reservations of others with it
        const [reserved] = await Promise.all([lastOf(run, number, n), transaction.commit()]);
        return reserved;
      }).catch(throwCause),
    );
    this.#seen.set(number, Math.max(this.seen(number), last));
    return last - n + 1;
  }
}

/** Nobody has the ids of a reservation whose outcome is unknown, so it is a lost connection like any other. */
function throwCause(error: unknown): never {
  throw error instanceof Problem && error.code === "OUTCOME_UNKNOWN" ? error.cause : error;
}

async function lastOf(run: Run, number: number, n: number): Promise<number> {
  const { rows } = await run(reserveIds(number, n));
  const last = rows[0]?.[0];
  if (last === undefined) throw new Problem("UNAVAILABLE", "The collection has no integer ids left.");
  return Number(last);
}

/** Numbers are reserved in blocks, so most groups need no statement. */
const blockSize = 1_000;

/** Numbers for groups of changes. No other group has the same number, on any service. Unused ones leave a gap. */
export class GroupNumbers {
  readonly #connections: Connections;
  #next = 1;
  #last = 0;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Takes `n` numbers. Returns a function that gives the next of them. */
  async take(n: number): Promise<() => number> {
    if (this.#last - this.#next + 1 < n) {
      const size = Math.max(n, blockSize);
      const [last = 0] = await this.#connections.runPlan(postgresDialect.raise([["groups", size]]));
      this.#last = requireGroup(last);
      this.#next = last - size + 1;
    }
    let next = this.#next;
    this.#next += n;
    const end = this.#next;
    return () => {
      if (next === end) throw new Error("There are no group numbers left.");
      return next++;
    };
  }
}
