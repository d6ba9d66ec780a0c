/** Writes the records of one consumer while its events are handled. */
import { put, type Versioned } from "../../records.ts";
import type { Change } from "../../store/port/commit.ts";
import type { Position } from "../position.ts";
import type { Done, RetryTable } from "./attempts.ts";
import type { ConsumeParts, Consumer } from "./consumer.ts";
import {
  type ConsumerState,
  consumersName,
  type DeliveryRecord,
  deliveriesName,
  deliveryId,
  newState,
} from "./consumer-records.ts";
import { type EventReader, marksOf, owedAt } from "./event-reader.ts";
import { recordAfter, stateAfter } from "./retries.ts";

/** A position that moved without a delivery is stored this often, in milliseconds. */
const idleMs = 60_000;

/** Old deliveries are removed after this time (in milliseconds) or this many deliveries. */
const cleanup = { ms: 3_600_000, deliveries: 200 };

/** A record to write, and the version that it replaces. */
interface Written {
  record: DeliveryRecord;
  version: number | undefined;
}

/** What one commit writes. */
interface Write {
  deliveries: readonly Written[];
  state: ConsumerState;
  position: Position;
  /** Why the consumer becomes disabled. */
  reason?: string | undefined;
}

/** The records of one consumer, as its worker writes them. Each method that writes throws PRECONDITION_FAILED if another instance has written. */
export class Journal {
  readonly #parts: ConsumeParts;
  readonly #consumer: Consumer;
  readonly #reader: EventReader;
  /** The deliveries that are tried again. */
  readonly retries: RetryTable;
  #state: Versioned<ConsumerState> | undefined;
  #storedPosition: Position | undefined;
  #storedAt: number;
  #isDisabled = false;
  #cleanedAt = 0;
  /** The deliveries that were stored after the last cleanup. */
  #deliveries = 0;

  constructor(
    parts: ConsumeParts,
    consumer: Consumer,
    read: { state: Versioned<ConsumerState> | undefined; retries: RetryTable; reader: EventReader },
  ) {
    this.#parts = parts;
    this.#consumer = consumer;
    this.#state = read.state;
    this.retries = read.retries;
    this.#reader = read.reader;
    this.#storedAt = parts.clock.now();
  }

  get state(): ConsumerState | undefined {
    return this.#state?.value;
  }

  /** Whether it has disabled the consumer. */
  get isDisabled(): boolean {
    return this.#isDisabled;
  }

  /** The latest time to store the position: Unix time in milliseconds. */
  get positionDueAt(): number {
    return this.#storedAt + idleMs;
  }

  /** Stores the outcomes of attempts with the position, so that the position moves only together with them. */
  async storeOutcomes(done: readonly Done[]): Promise<void> {
    const { position } = this.#reader; // read at once, because further attempts end in the meantime
    let state = this.#known;
    let reason: string | undefined;
    for (const { due, outcome, at } of done) {
      if (due.body === undefined) state = { ...state, lost: state.lost + 1 };
      else {
        state = stateAfter(state, outcome, at);
        if (!this.#isDisabled) reason ??= this.#parts.kind.reasonToDisable(state, outcome, at);
      }
    }
    const deliveries = await Promise.all(done.map((each) => this.#writtenOf(each)));
    await this.#commit({ deliveries, state, position, reason });
    this.#deliveries += done.length;
  }

  async #writtenOf({ due: { attempted, version, body }, outcome, at }: Done): Promise<Written> {
    const { records, random } = this.#parts;
    if (body !== undefined)
      return { record: recordAfter(attempted, outcome, { at, random: random() }), version };
    const before = await records.delivery(attempted.consumer, attempted.event);
    const now = recordAfter(attempted, outcome, { at, random: 0 });
    // It keeps the result of the last attempt, if there was one.
    return { record: { ...(before?.value ?? now), state: "dead", error: now.error, nextAt: null }, version };
  }

  /** Counts changes that the log no longer has. */
  async addLost(lost: number): Promise<void> {
    const { position } = this.#reader;
    const state = this.#known;
    await this.#commit({ deliveries: [], state: { ...state, lost: state.lost + lost }, position });
  }

  /** Stores the position if it has moved. */
  async storePosition(): Promise<void> {
    const { position } = this.#reader;
    this.#storedAt = this.#parts.clock.now();
    if (position === this.#storedPosition || this.#isDisabled) return;
    await this.#commit({ deliveries: [], state: this.#known, position });
  }

  /** Removes old deliveries if it is time. */
  async cleanUp(): Promise<void> {
    const { records, clock } = this.#parts;
    const now = clock.now();
    if (this.#deliveries < cleanup.deliveries && now - this.#cleanedAt < cleanup.ms) return;
    if (!(await records.removeOld(this.#consumer.id, now))) return;
    this.#cleanedAt = now;
    this.#deliveries = 0;
  }

  get #known(): ConsumerState {
    return this.#state?.value ?? newState;
  }

  async #commit(write: Write): Promise<void> {
    const { deliveries, position, reason } = write;
    const { records, clock, warn, kind } = this.#parts;
    const { id, label } = this.#consumer;
    const state = this.#stateAfter(write);
    const changes: Change[] = [put(consumersName, id, this.#state?.version, state)];
    for (const { record, version } of deliveries)
      changes.push(put(deliveriesName, deliveryId(record), version, record));
    if (reason !== undefined) changes.push(...kind.disable(this.#consumer));
    await records.commit(changes, clock.now());
    this.#state = { value: state, version: (this.#state?.version ?? 0) + 1 };
    this.#storedPosition = position;
    this.#storedAt = clock.now();
    for (const { record, version = 0 } of deliveries) this.retries.note(record, version + 1);
    if (reason === undefined) return;
    this.#isDisabled = true;
    warn(`${label} is disabled: ${reason}`);
  }

  #stateAfter({ deliveries, state, position, reason }: Write): ConsumerState {
    const marks = { ...state.marks, ...marksOf(position) };
    if (this.#isDisabled || reason !== undefined)
      return { ...state, marks, owes: undefined, disabledReason: reason ?? state.disabledReason };
    const failed = this.retries.after(deliveries.map(({ record }) => record));
    return { ...state, marks, owes: owedAt(this.#consumer, marks, failed) };
  }
}
