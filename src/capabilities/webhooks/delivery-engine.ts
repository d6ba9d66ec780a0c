/**
 * Runs one worker for each enabled webhook, in the instance that holds the lease of the store. `worker.ts` delivers the events of one
 * webhook.
 */
import { Problem } from "../../errors.ts";
import { Lease, renewMs } from "../../lease.ts";
import { isOvertaken, type Versioned } from "../../records.ts";
import type { WebhookParts } from "./delivery.ts";
import { misfitOf, statesName, type Webhook } from "./webhook.ts";
import { deliver } from "./worker.ts";

/** A webhook whose deliveries run. */
interface Running {
  version: number;
  stop: () => void;
  done: Promise<void>;
}

/** A worker that failed starts again after this time, in milliseconds. */
const restartMs = 1_000;

/** The deliveries of one service. It looks at the webhooks every few seconds, and at once after `wake`. */
export class DeliveryEngine {
  readonly #parts: WebhookParts;
  readonly #lease: Lease;
  readonly #running = new Map<string, Running>();
  /** Why webhooks cannot be delivered to, by their ids. Each reason was logged once. */
  #misfits: ReadonlyMap<string, string> = new Map();
  readonly #stopping = new AbortController();
  #wake: AbortController = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(parts: WebhookParts) {
    this.#parts = parts;
    this.#lease = new Lease(parts, { collection: statesName, id: leaseId });
  }

  /** Starts to deliver. Without a history, all webhooks are disabled instead. */
  start(): void {
    if (this.#parts.feed !== undefined) this.#loop ??= this.#run();
  }

  /** Looks at the webhooks now. */
  wake(): void {
    this.#wake.abort();
  }

  /** Makes the worker of a webhook read its records again. Events without a response are sent again. */
  restart(id: string): void {
    this.#running.get(id)?.stop();
  }

  /** Ends all requests to receivers. Events without a response are sent again after the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#loop;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    await this.#lease.release().catch(() => {}); // the lease expires by itself
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#wake = new AbortController();
      await this.#look();
      if (this.#stopping.signal.aborted) break;
      const { clock } = this.#parts;
      await clock.until(clock.now() + renewMs, this.#wake.signal);
    }
    for (const { stop } of this.#running.values()) stop();
  }

  async #look(): Promise<void> {
    if (!this.#parts.isReady()) return;
    try {
      const webhooks = (await this.#parts.records.all()).filter(({ value }) => value.enabled);
      const leads = webhooks.length > 0 && (await this.#lease.take());
      this.#match(leads ? this.#deliverable(webhooks) : []);
    } catch (error) {
      if (!(error instanceof Problem)) this.#parts.warn(`webhooks: ${(error as Error).message}`);
      if (!this.#lease.isHeld) this.#match([]); // the store cannot be reached
    }
  }

  /** Without the webhooks that do not fit the configuration. What they wait for stays in the history. */
  #deliverable(webhooks: readonly Versioned<Webhook>[]): Versioned<Webhook>[] {
    const misfits = new Map<string, string>();
    for (const { value } of webhooks) {
      const reason = misfitOf(value, this.#parts);
      if (reason === undefined) continue;
      misfits.set(value.id, reason);
      if (this.#misfits.get(value.id) !== reason)
        this.#parts.warn(`the webhook ${value.id} delivers nothing: ${reason}`);
    }
    this.#misfits = misfits;
    return webhooks.filter(({ value }) => !misfits.has(value.id));
  }

  /** Starts and stops workers, so that each of these webhooks has one and no other webhook has one. */
  #match(webhooks: readonly Versioned<Webhook>[]): void {
    const wanted = new Map(webhooks.map((webhook) => [webhook.value.id, webhook]));
    for (const [id, { version, stop }] of this.#running) if (wanted.get(id)?.version !== version) stop();
    for (const webhook of wanted.values())
      if (!this.#running.has(webhook.value.id)) this.#startWorker(webhook);
  }

  #startWorker(webhook: Versioned<Webhook>): void {
    const { feed } = this.#parts;
    if (feed === undefined) return;
    const { id } = webhook.value;
    const stopped = new AbortController();
    const done = deliver({ ...this.#parts, feed, stopped: stopped.signal }, webhook)
      .catch((error: unknown) => this.#afterFailure(error, stopped.signal))
      .finally(() => {
        this.#running.delete(id);
        this.wake(); // it starts again if it is still wanted
      });
    this.#running.set(id, { version: webhook.version, stop: () => stopped.abort(), done });
  }

  /** Waits before a worker starts again after an error, which can come from the store. A worker that was overtaken does not wait. */
  async #afterFailure(error: unknown, stopped: AbortSignal): Promise<void> {
    if (isOvertaken(error)) return;
    if (!(error instanceof Problem)) this.#parts.warn(`webhooks: ${(error as Error).stack}`);
    const { clock } = this.#parts;
    await clock.until(clock.now() + restartMs, stopped);
  }
}

/** The id of the lease among the states of webhooks. */
const leaseId = "lease";
