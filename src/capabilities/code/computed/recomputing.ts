/** Computes the attributes of stored resources again in the background, in the instance that holds the lease of the store. */
import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "../../../errors.ts";
import type { Lease } from "../../../lease.ts";
import { renewMs } from "../../../lease.ts";
import type { Recompute } from "./recompute.ts";

/** What the work depends on. */
export interface RecomputingParts {
  lease: Pick<Lease, "take" | "release" | "isHeld">;
  /** Whether all attributes of a collection are complete, by whichever instance. */
  isComplete(collection: string): Promise<boolean>;
  /** What computes a collection. */
  recomputeOf(collection: string): Promise<Recompute>;
  /** Ends what `recomputeOf` has started. A later call starts it again. */
  end(): Promise<void>;
  warn: (text: string) => void;
}

/** How long an instance waits before it looks again, when another one works or the store fails, in milliseconds. */
const lookMs = 1_000;

/** How long it waits before it tries resources again whose functions fail, in milliseconds. */
const stuckMs = 60_000;

/** The work of one service. */
export class Recomputing {
  readonly #parts: RecomputingParts;
  readonly #stopping = new AbortController();
  /** The work in the background, and the work that a start waits for. */
  #loop: Promise<void> | undefined;
  #finishing: Promise<void> | undefined;
  #takenAt = Number.NEGATIVE_INFINITY;

  constructor(parts: RecomputingParts) {
    this.#parts = parts;
  }

  /** Computes collections in the background. It rests as long as it works, so that it takes at most half of the writer's time. */
  start(collections: readonly string[]): void {
    this.#loop ??= this.#run(collections, (busyMs) => busyMs);
  }

  /** Computes collections, and resolves when they are complete or when the service stops. */
  async finish(collections: readonly string[]): Promise<void> {
    this.#finishing = this.#run(collections, () => 0);
    await this.#finishing;
  }

  /** Ends all work after the step in progress. It continues after the next start, or in another instance. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#loop, this.#finishing]);
  }

  async #run(collections: readonly string[], restAfter: (busyMs: number) => number): Promise<void> {
    const { signal } = this.#stopping;
    const left = new Map(collections.map((name) => [name, 0])); // when each has its next turn
    while (left.size > 0 && !signal.aborted) {
      const begun = performance.now();
      const due = [...left].filter(([, at]) => at <= begun).map(([name]) => name);
      const isBusy = due.length > 0 && (await this.#round(due, left));
      await this.#wait(isBusy ? restAfter(performance.now() - begun) : lookMs);
    }
    await this.#parts.end();
    await this.#parts.lease.release().catch(() => {}); // the lease expires by itself
  }

  /** Does a step of each collection, or looks whether another instance has completed it. Returns whether there is more to do now. */
  async #round(due: readonly string[], left: Map<string, number>): Promise<boolean> {
    try {
      const leads = await this.#leads();
      for (const name of due) {
        if (this.#stopping.signal.aborted) return false;
        if (await this.#parts.isComplete(name)) left.delete(name);
        else if (leads) await this.#step(name, left);
      }
      return leads;
    } catch (error) {
      if (!(error instanceof Problem)) this.#parts.warn(`computed attributes: ${(error as Error).stack}`);
      return false;
    }
  }

  async #step(name: string, left: Map<string, number>): Promise<void> {
    const recompute = await this.#parts.recomputeOf(name);
    const standing = await recompute.step(this.#stopping.signal);
    if (standing === "complete") left.delete(name);
    if (standing === "stuck") left.set(name, performance.now() + stuckMs);
  }

  async #leads(): Promise<boolean> {
    const { lease } = this.#parts;
    if (lease.isHeld && performance.now() - this.#takenAt < renewMs) return true;
    this.#takenAt = performance.now();
    return lease.take();
  }

  async #wait(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}
