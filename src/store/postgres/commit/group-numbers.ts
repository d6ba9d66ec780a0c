/** Numbers for groups of changes, which the database takes out of use in blocks: most groups cost no statement. */
import type { Connections } from "../connection/connections.ts";
import { reserveGroups } from "./statements.ts";

const blockSize = 1_000;

/** Gives numbers that no other group of changes has, whichever instance made it. A crash leaves a gap. */
export class GroupNumbers {
  readonly #connections: Connections;
  #next = 1;
  #last = 0;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Makes sure that so many numbers can be given. One caller at a time. */
  async ensure(n: number): Promise<void> {
    if (this.#last - this.#next + 1 >= n) return;
    const size = Math.max(n, blockSize);
    const { rows } = await this.#connections.run(reserveGroups(size));
    this.#last = Number(rows[0]?.[0]);
    this.#next = this.#last - size + 1;
  }

  /** The next number. */
  next(): number {
    if (this.#next > this.#last) throw new Error("There are no group numbers left.");
    return this.#next++;
  }
}
