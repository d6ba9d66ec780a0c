/** Integer ids and numbers of groups. Only the database gives them, so no two instances give the same. */
import { Problem } from "../../../errors.ts";
import { type Batch, createBatch, type Outcome } from "../../batch.ts";
import type { Outcome as Answer, Connections, Statement } from "../connection/connections.ts";
import { retryOnce } from "../connection/retry.ts";
import { reserveGroups, reserveIds } from "./statements.ts";

/** Runs a statement, on its own or in a transaction. */
type Run = (statement: Statement) => Promise<Answer>;

interface Reservation {
  /** The number of the collection. */
  number: number;
  n: number;
}

/** The ids of all collections. */
export class IdNumbers {
  readonly #connections: Connections;
  /** By the number of the collection: no id up to this one will be given again. */
  readonly #seen = new Map<number, number>();

  readonly #reservations: Batch<Reservation, number>;

  constructor(connections: Connections, maxBatchSize: number) {
    this.#connections = connections;
    const perform = (calls: readonly Reservation[]) => this.#reserveTogether(calls);
    this.#reservations = createBatch({ perform, maxBatchSize, maxConcurrent: 1 });
  }

  /** Reserves `n` ids of a collection and returns the first. Calls that arrive together are one statement. */
  reserve(number: number, n: number): Promise<number> {
    return this.#reservations.run({ number, n });
  }

  /** An id of a collection up to which all are out of use. */
  seen(number: number): number {
    return this.#seen.get(number) ?? 0;
  }

  /** Takes `n` ids out of use and gives the first, in a transaction that may yet be taken back. */
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
    // Where nobody knows whether they were taken, it costs nothing but a gap to take others.
    const last = await retryOnce(() => lastOf((statement) => this.#connections.run(statement), number, n));
    this.#seen.set(number, Math.max(this.seen(number), last));
    return last - n + 1;
  }
}

async function lastOf(run: Run, number: number, n: number): Promise<number> {
  const { rows } = await run(reserveIds(number, n));
  const last = rows[0]?.[0];
  if (last === undefined) throw new Problem("UNAVAILABLE", "The collection has no integer ids left.");
  return Number(last);
}

/** Numbers are reserved in blocks, so most groups need no statement. */
const blockSize = 1_000;

/** Numbers for groups of changes, which no other group has on any instance. A crash leaves a gap. */
export class GroupNumbers {
  readonly #connections: Connections;
  #next = 1;
  #last = 0;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Reserves numbers until at least `n` are left. One caller at a time. */
  async ensure(n: number): Promise<void> {
    if (this.#last - this.#next + 1 >= n) return;
    const size = Math.max(n, blockSize);
    const { rows } = await this.#connections.run(reserveGroups(size));
    this.#last = Number(rows[0]?.[0]);
    this.#next = this.#last - size + 1;
  }

  /** The next number. */
  next(): number {
    if (this.#next > this.#last) throw new Error("There are no group numbers left.");
    return this.#next++;
  }
}
