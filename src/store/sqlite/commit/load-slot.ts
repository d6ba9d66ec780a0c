/** The imports of a store: one at a time, during which nobody else writes. */
import { Problem } from "../../../errors.ts";
import type { Load } from "../../load.ts";
import type { CollectionRecord } from "../../record.ts";
import type { Health } from "../upkeep/health.ts";
import { SqliteLoad } from "./load.ts";
import type { WriterRequests } from "./writer-requests.ts";

/** What imports need of their store. */
export interface LoadSlotParts {
  requests: WriterRequests;
  health: Health;
  /** Resolves once nothing else is written. */
  drained: () => Promise<void>;
  /** Told when an import has ended, however it did, and what it was into. */
  onEnd: (into: number | CollectionRecord) => void;
}

/** Begins imports, and knows the one that is under way. */
export class LoadSlot {
  readonly #parts: LoadSlotParts;
  #current: SqliteLoad | undefined;

  constructor(parts: LoadSlotParts) {
    this.#parts = parts;
  }

  get isUnderWay(): boolean {
    return this.#current !== undefined;
  }

  /** Throws UNAVAILABLE while an import is under way. */
  requireNone(): void {
    if (this.#current !== undefined) throw new Problem("UNAVAILABLE", "An import is in progress. Try again.");
  }

  /** The number of a collection that the import under way is for, which nobody else knows yet where it makes it. */
  numberOf(collection: string): number | undefined {
    return this.#current?.collection === collection ? this.#current.number : undefined;
  }

  /** Begins an import into a collection, by its number, or into one that it makes to be as given; `among` as `load` of a store takes it. */
  async begin(name: string, into: number | CollectionRecord, among: readonly string[]): Promise<Load> {
    const { requests, health, drained, onEnd } = this.#parts;
    const load = new SqliteLoad(name, among, {
      send: async (request) => {
        if (request.kind !== "cancel") health.requireWorking(); // what is written to a lost file is lost
        return requests.send(request);
      },
      onEnd: () => {
        this.#current = undefined;
        onEnd(into);
      },
    });
    this.#current = load; // from here on nobody else writes
    try {
      await drained();
      await load.begin(into);
      return load;
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }
}
