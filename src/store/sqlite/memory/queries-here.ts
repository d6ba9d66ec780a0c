/** Reads the long lists of a store in memory, in its thread. They end at their time as in a thread of their own. */
import type { NumberedCollection } from "../../core/catalogue.ts";
import { unfinished } from "../../core/slow-reads.ts";
import type { ReadClient } from "../../port/page.ts";
import {
  type Queries,
  type QueriesOptions,
  type QueryTask,
  type QueryTasks,
  resultOf,
  sizeShare,
  tooExpensive,
} from "../list/query-threads.ts";
import type { MemoryReaders } from "./memory-readers.ts";

/** Reads lists that no index supports, one at a time. */
export class QueriesHere implements Queries {
  readonly #readers: MemoryReaders;
  readonly #options: QueriesOptions;

  constructor(readers: MemoryReaders, options: QueriesOptions) {
    this.#readers = readers;
    this.#options = options;
  }

  async list<Name extends Exclude<keyof QueryTasks, "sizes">>(
    name: Name,
    args: Parameters<QueryTasks[Name]>,
    client: ReadClient | undefined,
  ): Promise<ReturnType<QueryTasks[Name]>> {
    client?.signal?.throwIfAborted();
    const { maxMs } = this.#options;
    const asked = { name, args } as unknown as QueryTask;
    const result = this.#read(asked, Date.now() + maxMs);
    if (result === unfinished) throw tooExpensive(asked, maxMs);
    return result as ReturnType<QueryTasks[Name]>;
  }

  async sizes(collections: readonly NumberedCollection[]): Promise<readonly number[]> {
    const numbers = collections.map(({ number }) => number);
    const asked: QueryTask = { name: "sizes", args: [numbers, this.#options.maxMs * sizeShare] };
    return this.#read(asked, Number.POSITIVE_INFINITY) as readonly number[];
  }

  async close(): Promise<void> {}

  #read(asked: QueryTask, deadline: number): unknown {
    return resultOf(this.#readers.queries({ asked, deadline }), this.#options);
  }
}
