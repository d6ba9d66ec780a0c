/** Stores the outcomes of the deliveries of one webhook, together with the place of the webhook. */
import type { Position } from "../changes/position.ts";
import type { Change } from "../store/port/commit.ts";
import type { Done } from "./attempts.ts";
import { deadRecord, reasonToDisable, recordAfter, stateAfter } from "./outcome.ts";
import type { WebhookParts } from "./parts.ts";
import { marksOf, owedAt } from "./place.ts";
import { type DeliveryRecord, deliveryId, put, type Versioned, type WebhookState } from "./records.ts";
import { RetryTable } from "./retry-table.ts";
import { deliveriesName, statesName, type Webhook, webhooksName } from "./webhook.ts";

/** A position that moved without a delivery is stored this often, in milliseconds. */
const idleMs = 60_000;

/** A record to write, and the version that it replaces. */
interface Outcome {
  record: DeliveryRecord;
  version: number | undefined;
}

/** What one commit writes. */
interface Write {
  outcomes: readonly Outcome[];
  state: WebhookState;
  position: Position;
  /** Why the webhook becomes disabled. */
  reason?: string | undefined;
}

/** The records of one webhook. Each method that writes throws PRECONDITION_FAILED if another instance has written. */
export class Journal {
  readonly #parts: WebhookParts;
  readonly #webhook: Versioned<Webhook>;
  /** The deliveries that are tried again. */
  readonly retries: RetryTable;
  #state: Versioned<WebhookState> | undefined;
  #storedPosition: Position | undefined;
  #storedAt: number;
  #isDisabled = false;

  private constructor(
    parts: WebhookParts,
    webhook: Versioned<Webhook>,
    read: { state: Versioned<WebhookState> | undefined; retries: RetryTable },
  ) {
    this.#parts = parts;
    this.#webhook = webhook;
    this.#state = read.state;
    this.retries = read.retries;
    this.#storedAt = parts.clock.now();
  }

  /** Reads the state and the retry table. */
  static async open(parts: WebhookParts, webhook: Versioned<Webhook>): Promise<Journal> {
    const { id } = webhook.value;
    const state = await parts.records.state(id);
    const retries = new RetryTable(await parts.records.deliveriesIn(id, "retrying"));
    return new Journal(parts, webhook, { state, retries });
  }

  /** `undefined` if it no longer exists in the store. */
  get state(): WebhookState | undefined {
    return this.#state?.value;
  }

  /** Whether it has disabled the webhook. */
  get isDisabled(): boolean {
    return this.#isDisabled;
  }

  /** The latest time to store the position: Unix time in milliseconds. */
  get positionDueAt(): number {
    return this.#storedAt + idleMs;
  }

  /** Stores the outcomes of attempts with the position, so that the position moves only together with them. */
  async storeOutcomes(done: readonly Done[], position: Position): Promise<void> {
    let state = this.#known();
    let reason: string | undefined;
    for (const { due, result, at } of done) {
      if (due.body === undefined) state = { ...state, lost: state.lost + 1 };
      else {
        state = stateAfter(state, result, at);
        if (!this.#isDisabled) reason ??= reasonToDisable(state, result, at);
      }
    }
    const outcomes = await Promise.all(done.map((each) => this.#outcomeOf(each)));
    await this.#commit({ outcomes, state, position, reason });
  }

  async #outcomeOf({ due: { attempted, version, body }, result, at }: Done): Promise<Outcome> {
    const { records, random } = this.#parts;
    if (body !== undefined)
      return { record: recordAfter(attempted, result, { at, random: random() }), version };
    const before = await records.delivery(attempted.webhook, attempted.event);
    return { record: deadRecord(before?.value, recordAfter(attempted, result, { at, random: 0 })), version };
  }

  /** Counts changes that the log no longer has. */
  async addLost(lost: number, position: Position): Promise<void> {
    const state = this.#known();
    await this.#commit({ outcomes: [], state: { ...state, lost: state.lost + lost }, position });
  }

  /** Stores a position that has moved. */
  async storePosition(position: Position): Promise<void> {
    this.#storedAt = this.#parts.clock.now();
    if (position === this.#storedPosition || this.#isDisabled) return;
    await this.#commit({ outcomes: [], state: this.#known(), position });
  }

  #known(): WebhookState {
    return this.#state?.value ?? { marks: {}, lost: 0 };
  }

  async #commit(write: Write): Promise<void> {
    const { outcomes, position, reason } = write;
    const { records, clock, warn } = this.#parts;
    const { id } = this.#webhook.value;
    const state = this.#stateAfter(write);
    const changes: Change[] = [put(statesName, id, this.#state, state)];
    for (const { record, version } of outcomes)
      changes.push(put(deliveriesName, deliveryId(id, record.event), versionOf(version), record));
    if (reason !== undefined)
      changes.push(put(webhooksName, id, this.#webhook, { ...this.#webhook.value, enabled: false }));
    await records.commit(changes, clock.now());
    this.#state = { value: state, version: (this.#state?.version ?? 0) + 1 };
    this.#storedPosition = position;
    this.#storedAt = clock.now();
    for (const { record, version = 0 } of outcomes) this.retries.note(record, version + 1);
    if (reason === undefined) return;
    this.#isDisabled = true;
    warn(`the webhook ${id} is disabled: ${reason}`);
  }

  #stateAfter({ outcomes, state, position, reason }: Write): WebhookState {
    const marks = { ...state.marks, ...marksOf(position) };
    if (this.#isDisabled || reason !== undefined)
      return { ...state, marks, owes: undefined, disabledReason: reason ?? state.disabledReason };
    const failed = this.retries.after(outcomes.map(({ record }) => record));
    return { ...state, marks, owes: owedAt(this.#webhook.value, marks, failed) };
  }
}

function versionOf(version: number | undefined): { version: number } | undefined {
  return version === undefined ? undefined : { version };
}
