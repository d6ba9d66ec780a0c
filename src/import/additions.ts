/** Adds the resources of an import to the transaction of the store, and counts the resources that the store refuses. */
import { expiryPrincipal } from "../collection/expiry.ts";
import { shortJson } from "../collection/messages.ts";
import type { Violation } from "../errors.ts";
import { danglingDetail, takenViolations } from "../store/core/commits/refusals.ts";
import type { ImportedResource, Load, Refused } from "../store/port/store.ts";
import {
  type ItemReader,
  type Listed,
  type Merged,
  maxListedIds,
  type ReadingOptions,
  type Row,
  Tally,
} from "./item-reader.ts";
import { type ItemViolation, withValue } from "./items.ts";
import { Merge } from "./merge.ts";
import type { Spool } from "./spool.ts";

const maxPendingBatches = 2;

/** Whether a resource with this text has expired. */
export type IsOver = (text: string) => boolean;

/** A resource with its final id. */
type FinalRow = Row & ImportedResource;

/** Adds resources to the collection that the transaction fills. */
export class Additions {
  readonly #transaction: Load;
  readonly #invalid: Tally<readonly ItemViolation[]>;
  readonly #merge: Merge | undefined;
  readonly #isOver: IsOver;
  readonly #reused = new Tally(maxListedIds);
  #pending: Promise<void>[] = [];
  #count = 0;

  /**
   * `on`: the unique key by which the items change resources. @default all items are new resources. `isOver`: @default no resource expires
   */
  constructor(
    transaction: Load,
    reader: ItemReader,
    { on, mirroredIn, isOver = () => false }: Pick<ReadingOptions, "on" | "mirroredIn"> & { isOver?: IsOver },
  ) {
    this.#isOver = isOver;
    this.#transaction = transaction;
    this.#invalid = reader.invalid;
    this.#merge =
      on && new Merge(transaction, reader, { unique: on, mirrored: mirroredIn?.(reader.collection.name) });
  }

  /** The number of resources that the store has added or changed. */
  get count(): number {
    return this.#count;
  }

  /** The resources that have the id of a deleted resource. */
  get reused(): Listed {
    return this.#reused;
  }

  /** The resources that the unique key has found; `undefined` without one. */
  get merged(): Merged | undefined {
    return this.#merge?.merged;
  }

  /** Passes resources with ids to the store. Waits for earlier ones only if too many are pending. */
  async start(rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    // The next batch must find what this one has made.
    if (this.#merge !== undefined) return this.#mergeAll(this.#merge, rows);
    if (this.#pending.length === maxPendingBatches) await this.#pending.shift();
    const added = this.#insert(rows as readonly FinalRow[]).then(() => {});
    added.catch(() => {}); // the code that waits for the batch gets the error too
    this.#pending.push(added);
  }

  /**
   * Waits until the store has added everything, and then adds the resources without an id. They come last, because a generated
   * integer must be above every id of the input.
   */
  async finish(waiting: Spool, signal: AbortSignal): Promise<void> {
    await Promise.all(this.#pending);
    for (const rows of waiting.batches({ haveId: false })) {
      signal.throwIfAborted();
      if (this.#merge !== undefined) {
        await this.#mergeAll(this.#merge, rows);
        continue;
      }
      const first = await this.#transaction.reserveIds(rows.length);
      await this.#insert(
        rows.map(({ location, text }, index) => {
          const id = String(first + index);
          return { location, id, text: `{"id":${id}${text}` };
        }),
      );
    }
  }

  async #mergeAll(merge: Merge, rows: readonly Row[]): Promise<void> {
    const settled = await merge.settle(rows);
    const missing = settled.filter(({ id }) => id === undefined).length;
    let next = missing === 0 ? 0 : await this.#transaction.reserveIds(missing);
    const final = settled.map(({ id = String(next++), textWith, ...others }) => ({
      ...others,
      id,
      text: textWith(id),
    }));
    if (final.length === 0) return;
    const refused = new Set(await this.#insert(final));
    merge.merged.changed += final.filter((each, n) => each.replaces !== undefined && !refused.has(n)).length;
  }

  /** Adds resources, and returns the positions of those that the store refuses. */
  async #insert(rows: readonly FinalRow[]): Promise<number[]> {
    const { refused, reused } = await this.#transaction.add(
      rows.map(({ id, text, replaces }) => ({
        id,
        text,
        ...(replaces !== undefined && { replaces }),
        // One that replaces another resource can be referred to. The next sweep deletes it, with what refers to it.
        ...(replaces === undefined && this.#isOver(text) && { endedBy: expiryPrincipal }),
      })),
    );
    this.#count += rows.length - refused.length;
    for (const position of reused) {
      const { location, id } = rows[position] as FinalRow;
      this.#reused.add(location, id);
    }
    for (const each of refused) {
      const { location, id, text } = rows[each.position] as FinalRow;
      const violations = violationsOf(each, id);
      const resource = this.#invalid.isFull ? undefined : JSON.parse(text);
      this.#invalid.add(
        location,
        resource === undefined ? violations : violations.map((violation) => withValue(violation, resource)),
      );
    }
    return refused.map(({ position }) => position);
  }
}

function violationsOf({ pointers, isLost }: Refused, id: string): Violation[] {
  if (pointers.length === 0) {
    const detail = `is ${shortJson(id)}, which already exists`;
    return [{ in: "body", pointer: "#/id", code: "unique", detail }];
  }
  return isLost === true
    ? pointers.map((pointer) => ({ in: "body", pointer, code: "reference", detail: danglingDetail }))
    : takenViolations(pointers);
}
