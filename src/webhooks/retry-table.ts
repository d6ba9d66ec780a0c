/** The failed deliveries of one webhook that the service will send again, in memory. It sends and stores nothing. */
import type { Attempted } from "./outcome.ts";
import type { DeliveryRecord, Versioned } from "./records.ts";

/** A delivery that failed. */
export interface Retry {
  attempted: Attempted;
  /** The version of its record. */
  version: number;
  /** Unix time in milliseconds. */
  nextAt: number;
}

/** The most retries at the same time. */
const maxUnderWay = 16;

/** The most failed deliveries. At the limit, new events wait in the log. */
const maxRetries = 1_000;

/** The retry table of one webhook. */
export class RetryTable {
  readonly #retries = new Map<string, Retry>();
  readonly #underWay = new Set<string>();

  constructor(records: readonly Versioned<DeliveryRecord>[]) {
    for (const { value, version } of records) this.note(value, version);
  }

  /** Whether the table stays within its limit if this many attempts fail. */
  hasSpaceFor(attempts: number): boolean {
    return this.#retries.size + attempts < maxRetries;
  }

  /** The retries that are due now, the earliest first. Call `take` before each starts. */
  dueAt(now: number): readonly Retry[] {
    return this.#waiting()
      .filter(({ nextAt }) => nextAt <= now)
      .sort((a, b) => a.nextAt - b.nextAt)
      .slice(0, maxUnderWay - this.#underWay.size);
  }

  /** Notes that a retry starts. It is under way until its outcome is stored. */
  take({ attempted: { event } }: Retry): void {
    this.#underWay.add(event);
  }

  /** The time of the next retry; Infinity if a response comes first. */
  get nextAt(): number {
    return this.#waiting().reduce((next, { nextAt }) => Math.min(next, nextAt), Number.POSITIVE_INFINITY);
  }

  #waiting(): Retry[] {
    if (this.#underWay.size >= maxUnderWay) return [];
    return [...this.#retries.values()].filter(({ attempted: { event } }) => !this.#underWay.has(event));
  }

  /** Notes a delivery as it is stored. */
  note({ state, nextAt, ...record }: DeliveryRecord, version: number): void {
    this.#underWay.delete(record.event);
    if (state !== "retrying") {
      this.#retries.delete(record.event);
      return;
    }
    const { webhook, event, type, collection, sequence, kind, attempts } = record;
    const attempted = { webhook, event, type, collection, sequence, kind, attempts };
    this.#retries.set(event, { attempted, version, nextAt: nextAt ?? 0 });
  }

  /** The failed deliveries as they will be when these records are stored. */
  after(records: readonly DeliveryRecord[]): readonly Pick<DeliveryRecord, "collection" | "sequence">[] {
    const stored = new Set(records.map(({ event }) => event));
    const others = [...this.#retries.values()].filter(({ attempted: { event } }) => !stored.has(event));
    return [
      ...others.map(({ attempted }) => attempted),
      ...records.filter(({ state }) => state === "retrying"),
    ];
  }
}
