/** How far the logs of all collections go, and what other instances on the database have committed. */
import type { LogHead } from "../../port/change-log.ts";
import type { Declarations } from "../tables/declarations.ts";
import { selectLogHeads } from "../tables/statements.ts";
import type { Run } from "./reads.ts";

/** The pause between two polls, in milliseconds. Another instance's commit is seen within 300 ms. */
export const pollMs = 200;

/** The heads of one store. */
export class Heads {
  readonly #run: Run;
  readonly #declarations: Pick<Declarations, "catalogue" | "reload">;
  #polling: { timer: NodeJS.Timeout | undefined } | undefined;

  constructor(run: Run, declarations: Pick<Declarations, "catalogue" | "reload">) {
    this.#run = run;
    this.#declarations = declarations;
  }

  /** The head of the log of each collection, by name. */
  async read(): Promise<ReadonlyMap<string, LogHead>> {
    const { rows } = await this.#run(selectLogHeads);
    const byNumber = new Map(
      rows.map(([number, sequence, gapsUpTo]) => [
        Number(number),
        { sequence: Number(sequence), gapsUpTo: Number(gapsUpTo) },
      ]),
    );
    const numbers = () =>
      new Set([...this.#declarations.catalogue.byName.values()].map(({ number }) => number));
    const known = numbers();
    // Another instance has created a collection.
    if ([...byNumber.keys()].some((number) => !known.has(number))) await this.#declarations.reload();
    const heads = new Map<string, LogHead>();
    for (const { name, number } of this.#declarations.catalogue.byName.values()) {
      const head = byNumber.get(number);
      if (head !== undefined) heads.set(name, head);
    }
    return heads;
  }

  /** Calls `onChange` with the names of collections whose sequences change, until `stopPolling`. */
  startPolling(onChange: (names: readonly string[]) => void): void {
    this.stopPolling();
    const polling: { timer: NodeJS.Timeout | undefined } = { timer: undefined };
    this.#polling = polling;
    let before: ReadonlyMap<string, LogHead> | undefined;
    const poll = async () => {
      try {
        const now = await this.read();
        const changed = [...now].filter(([name, { sequence }]) => before?.get(name)?.sequence !== sequence);
        if (changed.length > 0 && this.#polling === polling) onChange(changed.map(([name]) => name));
        before = now;
      } catch {
        // The database cannot be reached now. The next poll compares with the last one that worked.
      }
      if (this.#polling === polling) polling.timer = setTimeout(poll, pollMs).unref();
    };
    void poll();
  }

  /** Stops. */
  stopPolling(): void {
    clearTimeout(this.#polling?.timer);
    this.#polling = undefined;
  }
}
