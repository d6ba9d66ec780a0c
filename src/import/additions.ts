/** Adds the resources of an import to the transaction of the store, and counts the resources that the store refuses. */
import { shortJson } from "../collection/messages.ts";
import type { Violation } from "../errors.ts";
import { danglingDetail, takenViolations } from "../store/core/commits/refusals.ts";
import type { Load, Refused } from "../store/port/store.ts";
import type { Row, Tally } from "./item-reader.ts";
import { type ItemViolation, withValue } from "./items.ts";
import type { Spool } from "./spool.ts";

const maxPendingBatches = 2;

/** A resource with its final id. */
type FinalRow = Row & { id: string };

/** Adds resources to the collection that the transaction fills. */
export class Additions {
  readonly #transaction: Load;
  readonly #invalid: Tally<readonly ItemViolation[]>;
  #pending: Promise<void>[] = [];
  #count = 0;

  constructor(transaction: Load, invalid: Tally<readonly ItemViolation[]>) {
    this.#transaction = transaction;
    this.#invalid = invalid;
  }

  /** The number of resources that the store has added. */
  get count(): number {
    return this.#count;
  }

  /** Passes resources with ids to the store. Waits for earlier ones only if too many are pending. */
  async start(rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    if (this.#pending.length === maxPendingBatches) await this.#pending.shift();
    const added = this.#insert(rows as readonly FinalRow[]);
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
      const first = await this.#transaction.reserveIds(rows.length);
      await this.#insert(
        rows.map(({ location, text }, index) => {
          const id = String(first + index);
          return { location, id, text: `{"id":${id}${text}` };
        }),
      );
    }
  }

  async #insert(rows: readonly FinalRow[]): Promise<void> {
    const refused = await this.#transaction.add(rows.map(({ id, text }) => ({ id, text })));
    this.#count += rows.length - refused.length;
    for (const each of refused) {
      const { location, id, text } = rows[each.position] as FinalRow;
      const violations = violationsOf(each, id);
      const resource = this.#invalid.isFull ? undefined : JSON.parse(text);
      this.#invalid.add(
        location,
        resource === undefined ? violations : violations.map((violation) => withValue(violation, resource)),
      );
    }
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
