/** Numbers for groups of changes. They are reserved in blocks, so most groups need no statement. */
import type { Connections } from "../connection/connections.ts";
import { reserveGroups } from "./statements.ts";

const blockSize = 1_000;

/** Numbers that no other group has, on any instance. A crash leaves a gap. */
export class GroupNumbers {
  readonly #connections: Connections;
  #next = 1;
  #last = 0;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Reserves numbers until at least `n` are left. One caller at a time. */
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
