/**
 * Runs one worker for each consumer of a kind, in the instance that holds the lease of the store. `worker.ts` handles the events of one
 * consumer.
 */
import { Problem } from "../../errors.ts";
import { Lease, leaseLost, renewMs } from "../../lease.ts";
import { isOvertaken, put, type Versioned } from "../../records.ts";
import type { ConsumeParts, Consumer, Outcome } from "./consumer.ts";
import { type DeliveryRecord, deliveriesName, deliveryId, putState } from "./consumer-records.ts";
import { recordAfter, stateAfter } from "./retries.ts";
import { consume } from "./worker.ts";

/** A consumer whose worker runs. */
interface Running {
  version: number;
  stop: () => void;
  done: Promise<void>;
}

/** A worker that failed starts again after this time, in milliseconds. */
const restartMs = 1_000;

/** The consumers of one kind in one service. It looks at them every few seconds, and at once after `wake`. */
export class ConsumerEngine {
  readonly #parts: ConsumeParts;
  readonly #lease: Lease;
  readonly #running = new Map<string, Running>();
  /** Why consumers cannot get their events, by their ids. Each reason was logged once. */
  #misfits: ReadonlyMap<string, string> = new Map();
  readonly #stopping = new AbortController();
  #wake: AbortController = new AbortController();
  #loop: Promise<void> | undefined;
  /** Aborted when this instance loses the lease. There is another one for the time after that. */
  #leaseLost = new AbortController();

  constructor(parts: ConsumeParts) {
    this.#parts = parts;
    this.#lease = new Lease(parts, parts.kind.name);
  }

  /** Starts to work. Without a history, no consumer runs. */
  start(): void {
    if (this.#parts.feed !== undefined) this.#loop ??= this.#run();
  }

  /**
   * Handles every change until now and every delivery that is due: one consumer after the other, until none has anything to do. Changes that
   * consumers make meanwhile count. Only for an engine that was not started, and that alone uses the store. Throws the errors of the store.
   */
  async catchUp(): Promise<void> {
    const catchingUp = this.#catchUp();
    this.#loop = catchingUp.catch(() => {});
    await catchingUp;
  }

  async #catchUp(): Promise<void> {
    const { signal } = this.#stopping;
    for (let hasBegun = true; hasBegun && !signal.aborted; ) {
      hasBegun = false;
      for (const each of this.#fitting(await this.#parts.kind.all()))
        hasBegun = (await this.#handleAll(each)) || hasBegun;
    }
  }

  /** Returns whether the consumer can have more to do. */
  async #handleAll(consumer: Consumer): Promise<boolean> {
    const { feed } = this.#parts;
    if (feed === undefined) return false;
    try {
      return await consume(
        {
          ...this.#parts,
          feed,
          stopped: this.#stopping.signal,
          leaseLost: this.#leaseLost.signal,
          holdsLease: () => this.#lease.isHeld,
          endsIdle: true,
        },
        consumer,
      );
    } catch (error) {
      if (isOvertaken(error)) return true; // an administrator has changed the consumer
      throw error;
    }
  }

  /** Looks at the consumers now. */
  wake(): void {
    this.#wake.abort();
  }

  /** Makes the worker of a consumer read its records again. Events without an outcome are handed out again. */
  restart(id: string): void {
    this.#running.get(id)?.stop();
  }

  /** Ends all attempts. Events without an outcome are handed out again after the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopAll();
    this.wake();
    await this.#loop;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    await this.#lease.release().catch(() => {}); // the lease expires by itself
  }

  /**
   * Stores the outcome of an attempt that somebody else has made. The worker can have tried the same event in the meantime, and the consumer can
   * be removed. A success ends a time of failures: the worker of the consumer then starts again, because it knows only the state before.
   */
  async record(before: Versioned<DeliveryRecord>, outcome: Outcome, at: number): Promise<DeliveryRecord> {
    const { records, random } = this.#parts;
    const { consumer, event } = before.value;
    const record = recordAfter(before.value, outcome, { at, random: random() });
    const changes = [put(deliveriesName, deliveryId(record), before.version, record)];
    const state = outcome.isDelivered ? await records.state(consumer) : undefined;
    const endsFailing = state?.value.failingSince !== undefined;
    if (endsFailing) changes.push(putState(consumer, state, stateAfter(state.value, outcome, at)));
    try {
      await records.commit(changes, at);
      if (endsFailing) this.restart(consumer);
      return record;
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      const now = await records.delivery(consumer, event);
      return now === undefined ? record : this.record(now, outcome, at);
    }
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#wake = new AbortController();
      await this.#look();
      if (this.#stopping.signal.aborted) break;
      const { clock } = this.#parts;
      await clock.until(clock.now() + renewMs, this.#wake.signal);
    }
    this.#stopAll(); // the last look can have started some
  }

  #stopAll(): void {
    for (const { stop } of this.#running.values()) stop();
  }

  async #look(): Promise<void> {
    if (!this.#parts.isReady()) return;
    const { kind, warn } = this.#parts;
    try {
      const consumers = await kind.all();
      if (consumers.length === 0) this.#match([]);
      else if (await this.#lease.take()) this.#match(this.#fitting(consumers));
      else this.#loseLease();
    } catch (error) {
      if (!(error instanceof Problem)) warn(`${kind.name}: ${(error as Error).message}`);
      if (!this.#lease.isHeld) this.#loseLease(); // the store cannot be reached
    }
  }

  /** Another instance hands out the events without an outcome. So what still handles them here must end. */
  #loseLease(): void {
    this.#match([]);
    this.#leaseLost.abort(new Error(leaseLost));
    this.#leaseLost = new AbortController();
  }

  /** Without the consumers that do not fit the configuration. What they wait for stays in the history. */
  #fitting(consumers: readonly Consumer[]): Consumer[] {
    const { kind, warn } = this.#parts;
    const misfits = new Map<string, string>();
    for (const each of consumers) {
      const reason = kind.misfitOf(each);
      if (reason === undefined) continue;
      misfits.set(each.id, reason);
      if (this.#misfits.get(each.id) !== reason) warn(`${each.label} delivers nothing: ${reason}`);
    }
    this.#misfits = misfits;
    return consumers.filter(({ id }) => !misfits.has(id));
  }

  /** Starts and stops workers, so that each of these consumers has one and no other consumer has one. */
  #match(consumers: readonly Consumer[]): void {
    const wanted = new Map(consumers.map((each) => [each.id, each]));
    for (const [id, { version, stop }] of this.#running) if (wanted.get(id)?.version !== version) stop();
    for (const each of wanted.values()) if (!this.#running.has(each.id)) this.#startWorker(each);
  }

  #startWorker(consumer: Consumer): void {
    const { feed } = this.#parts;
    if (feed === undefined) return;
    const { id, version } = consumer;
    const stopped = new AbortController();
    const own = {
      stopped: stopped.signal,
      leaseLost: this.#leaseLost.signal,
      holdsLease: () => this.#lease.isHeld,
    };
    const done = consume({ ...this.#parts, feed, ...own }, consumer)
      .then(() => {})
      .catch((error: unknown) => this.#afterFailure(error, stopped.signal))
      .finally(() => {
        this.#running.delete(id);
        this.wake(); // it starts again if it is still wanted
      });
    this.#running.set(id, { version, stop: () => stopped.abort(), done });
  }

  /** Waits before a worker starts again after an error, which can come from the store. A worker that was overtaken does not wait. */
  async #afterFailure(error: unknown, stopped: AbortSignal): Promise<void> {
    if (isOvertaken(error)) return;
    if (!(error instanceof Problem)) this.#parts.warn(`${this.#parts.kind.name}: ${(error as Error).stack}`);
    const { clock } = this.#parts;
    await clock.until(clock.now() + restartMs, stopped);
  }
}
