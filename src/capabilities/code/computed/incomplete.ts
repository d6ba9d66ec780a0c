/** What is not computed yet, as each thread of the service sees it. A thread asks the store only while something is incomplete. */
import type { Unfinished } from "../../../http/service.ts";
import type { ComputedAttributes } from "../settings.ts";
import {
  type ComputedRecord,
  type ComputedRecords,
  incompleteIn,
  newIn,
  recordNow,
} from "./computed-records.ts";

/** The collections whose computed attributes are not complete. */
export class Incomplete {
  readonly #records: ComputedRecords;
  readonly #declared: ReadonlyMap<string, ComputedAttributes>;
  readonly #count: (collection: string) => Promise<number>;
  readonly #names = new Set<string>();

  constructor(
    records: ComputedRecords,
    declared: ReadonlyMap<string, ComputedAttributes>,
    count: (collection: string) => Promise<number>,
  ) {
    this.#records = records;
    this.#declared = declared;
    this.#count = count;
  }

  /** Looks at all collections. Call it before the first request. */
  async look(): Promise<void> {
    for (const name of this.#declared.keys()) {
      this.#names.add(name);
      await this.#recordOf(name);
    }
  }

  /** The collections that were incomplete when this thread last looked. */
  get names(): ReadonlySet<string> {
    return this.#names;
  }

  /** Whether all attributes of a collection are complete. */
  async isComplete(collection: string): Promise<boolean> {
    return (await this.#recordOf(collection)) === undefined;
  }

  /** The attributes that stored resources can lack, because they are new. */
  async newIn(collection: string): Promise<readonly string[]> {
    const record = await this.#recordOf(collection);
    return record === undefined ? [] : newIn(record);
  }

  /** What is left to do in a collection; `undefined` if it is complete. */
  async unfinished(collection: string): Promise<Unfinished | undefined> {
    const record = await this.#recordOf(collection);
    if (record === undefined) return undefined;
    const left = Math.max(0, (await this.#count(collection)) - record.done);
    return { attributes: incompleteIn(record), left };
  }

  async #recordOf(collection: string): Promise<ComputedRecord | undefined> {
    const declared = this.#declared.get(collection);
    if (declared === undefined || !this.#names.has(collection)) return undefined;
    const stored = (await this.#records.read(collection))?.value;
    const isEmpty = stored === undefined && (await this.#count(collection)) === 0;
    const record = recordNow(stored, declared, { isEmpty });
    if (incompleteIn(record).length > 0) return record;
    this.#names.delete(collection);
    return undefined;
  }
}
