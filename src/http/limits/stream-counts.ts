/** Counts the event streams, and the pages of events that wait, apart from other requests. All threads count together. */
import { Problem } from "../../errors.ts";
import type { Limits } from "../settings.ts";
import { OpenStreams } from "./open-streams.ts";
import type { SharedLimits } from "./shared.ts";

/** The open streams of all callers. */
export class StreamCounts {
  readonly #limits: Pick<Limits, "streams" | "streamsPerCaller">;
  readonly #shared: SharedLimits;
  readonly #open: OpenStreams;

  constructor(limits: Pick<Limits, "streams" | "streamsPerCaller">, shared: SharedLimits) {
    this.#limits = limits;
    this.#shared = shared;
    this.#open = new OpenStreams(shared.memory.streams, shared);
  }

  /** The open streams of all threads. */
  get count(): number {
    return this.#shared.streams.all;
  }

  /** Counts one more stream of a caller. Returns what ends it. Throws UNAVAILABLE and QUOTA_EXCEEDED. */
  open(caller: string): () => void {
    const { streams, streamsPerCaller } = this.#limits;
    const number = this.#shared.hash(caller);
    const headers = { "retry-after": "5" };
    const reason = this.#open.add(number, this.#limits);
    if (reason === "caller")
      throw new Problem(
        "QUOTA_EXCEEDED",
        `The limit is ${streamsPerCaller} event streams and waiting pages for each caller. Close one of them first.`,
        { headers },
      );
    if (reason === "all")
      throw new Problem(
        "UNAVAILABLE",
        `The service allows at most ${streams} event streams and waiting pages. Try again later.`,
        {
          headers,
        },
      );
    let isOpen = true;
    return () => {
      if (isOpen) this.#open.remove(number);
      isOpen = false;
    };
  }
}
