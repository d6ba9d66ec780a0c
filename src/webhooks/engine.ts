/** Runs the deliveries of all webhooks of one service. */
import { Problem } from "../errors.ts";
import type { Webhook } from "./collection.ts";
import { isOvertaken, Lease, renewMs } from "./lease.ts";
import type { WebhookParts } from "./parts.ts";
import { Receivers } from "./receivers.ts";
import type { Versioned } from "./records.ts";
import { Worker } from "./worker.ts";

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
  readonly #receivers = new Receivers();
  readonly #running = new Map<string, Running>();
  readonly #stopping = new AbortController();
  #wake: AbortController = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(parts: WebhookParts) {
    this.#parts = parts;
    this.#lease = new Lease(parts);
  }

  /** The receivers, which single deliveries use too. */
  get receivers(): Receivers {
    return this.#receivers;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Looks at the webhooks now. */
  wake(): void {
    this.#wake.abort();
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
      this.#match(leads ? webhooks : []);
    } catch (error) {
      if (!(error instanceof Problem)) this.#parts.warn(`webhooks: ${(error as Error).message}`);
      if (!this.#lease.isHeld) this.#match([]); // the store cannot be reached
    }
  }

  /** Starts and stops workers, so that they are those of these webhooks. */
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
    const worker = new Worker({ ...this.#parts, feed }, webhook, {
      receivers: this.#receivers,
      stopped: stopped.signal,
    });
    const done = worker
      .run()
      .catch((error: unknown) => this.#afterFailure(error, stopped.signal))
      .finally(() => {
        this.#running.delete(id);
        this.wake(); // it starts again if it is still wanted
      });
    this.#running.set(id, { version: webhook.version, stop: () => stopped.abort(), done });
  }

  /** A worker that was overtaken reads everything again. Any other error can be one of the store, so it waits. */
  async #afterFailure(error: unknown, stopped: AbortSignal): Promise<void> {
    if (isOvertaken(error)) return;
    if (!(error instanceof Problem)) this.#parts.warn(`webhooks: ${(error as Error).stack}`);
    const { clock } = this.#parts;
    await clock.until(clock.now() + restartMs, stopped);
  }
}
