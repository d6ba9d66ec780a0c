/** Counts the event streams, and the pages of events that wait, apart from other requests. */
import { Problem } from "../../errors.ts";
import type { Limits } from "../settings.ts";

/** The open streams of all callers. */
export class StreamCounts {
  readonly #limits: Pick<Limits, "streams" | "streamsPerCaller">;
  readonly #callers = new Map<string, number>();
  #all = 0;

  constructor(limits: Pick<Limits, "streams" | "streamsPerCaller">) {
    this.#limits = limits;
  }

  /** The open streams. */
  get count(): number {
    return this.#all;
  }

  /** Counts one more stream of a caller. Returns what ends it. Throws UNAVAILABLE and QUOTA_EXCEEDED. */
  open(caller: string): () => void {
    const { streams, streamsPerCaller } = this.#limits;
    const own = this.#callers.get(caller) ?? 0;
    const headers = { "retry-after": "5" };
    if (own >= streamsPerCaller)
      throw new Problem(
        "QUOTA_EXCEEDED",
        `The limit is ${streamsPerCaller} event streams and waiting pages for each caller. Close one of them first.`,
        { headers },
      );
    if (this.#all >= streams)
      throw new Problem(
        "UNAVAILABLE",
        `The service allows at most ${streams} event streams and waiting pages. Try again later.`,
        {
          headers,
        },
      );
    this.#all++;
    this.#callers.set(caller, own + 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#close(caller);
      isOpen = false;
    };
  }

  #close(caller: string): void {
    this.#all--;
    const left = (this.#callers.get(caller) ?? 1) - 1;
    if (left === 0) this.#callers.delete(caller);
    else this.#callers.set(caller, left);
  }
}
