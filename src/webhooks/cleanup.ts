/** Removes the old deliveries of one webhook. */

import type { WebhookParts } from "./parts.ts";
import { remove } from "./records.ts";
import { deliveriesName } from "./webhook.ts";

/** The deliveries that administrators can still see: how many, and how long in milliseconds. */
const kept = { most: 1_000, ms: 7 * 24 * 3_600_000 };

/** The cleanup runs after this time (in milliseconds) or this many deliveries. */
const every = { ms: 3_600_000, deliveries: 200 };

/** The most deliveries that one cleanup removes. */
const atOnce = 500;

/** The cleanup of one webhook. */
export class Cleanup {
  readonly #parts: Pick<WebhookParts, "records" | "clock">;
  readonly #webhook: string;
  #ranAt = 0;
  #deliveries = 0;

  constructor(parts: Pick<WebhookParts, "records" | "clock">, webhook: string) {
    this.#parts = parts;
    this.#webhook = webhook;
  }

  /** Counts deliveries that were stored. */
  note(deliveries: number): void {
    this.#deliveries += deliveries;
  }

  /** Removes old deliveries if it is time. */
  async run(): Promise<void> {
    const { records, clock } = this.#parts;
    const now = clock.now();
    if (this.#deliveries < every.deliveries && now - this.#ranAt < every.ms) return;
    const outdated = await records.outdated(this.#webhook, {
      most: kept.most,
      before: now - kept.ms,
      limit: atOnce,
    });
    await records.commit(
      outdated.map((each) => remove(deliveriesName, each.id, each)),
      now,
    );
    if (outdated.length === atOnce) return; // more of them can be left
    this.#ranAt = now;
    this.#deliveries = 0;
  }
}
