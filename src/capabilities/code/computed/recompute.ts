/**
 * Computes the attributes of stored resources again, some resources in one commit. The commit also writes how far it has come, so it
 * continues after a crash, and two instances never do the same.
 */
import { setImmediate as turn } from "node:timers/promises";
import type { Collection } from "../../../collection/collection.ts";
import { describeViolations } from "../../../collection/messages.ts";
import { isAbout, resourceText } from "../../../collection/resource.ts";
import { clientAttributes, withTimestamps } from "../../../collection/timestamps.ts";
import { Problem } from "../../../errors.ts";
import type { Log } from "../../../http/service.ts";
import { isOvertaken, type Versioned } from "../../../records.ts";
import type { Change } from "../../../store/port/commit.ts";
import type { ServingStore } from "../../../store/port/store.ts";
import type { Stored } from "../../../store/port/stored.ts";
import type { ComputedAttributes } from "../settings.ts";
import { type Computation, ComputingFailed } from "./computation.ts";
import {
  type ComputedRecord,
  type ComputedRecords,
  completed,
  incompleteIn,
  isRecordOf,
} from "./computed-records.ts";

/** What computes again. */
export interface RecomputeParts {
  store: ServingStore;
  records: ComputedRecords;
  collection: Collection;
  /** The attributes of the collection. */
  declared: ComputedAttributes;
  computation: Computation;
  /** Unix time in milliseconds. */
  now: () => number;
  log: Pick<Log, "info" | "warn">;
}

/**
 * Where a collection stands after a step. `complete`: this instance has nothing more to do, perhaps because one with other code has taken
 * over. `stuck`: a pass has ended that changed nothing, and functions fail.
 */
export type Standing = "continues" | "complete" | "stuck";

/** The most resources in one commit. */
const maxSlice = 500;

/** How many calls of functions travel together. Between them, other work gets a turn. */
const callsPerTurn = 50;

/** Who makes the new versions, as the history shows it. */
const principal = "code:computed";

/** What became of one resource. */
type Outcome = Change | "same" | ComputingFailed;

function isChange(outcome: Outcome): outcome is Change {
  return typeof outcome === "object" && !(outcome instanceof ComputingFailed);
}

/** Computes the attributes of one collection again. */
export class Recompute {
  readonly #parts: RecomputeParts;
  readonly #name: string;
  /** Resources that the store has refused, with the reason. The slice that has one passes it. */
  readonly #refused = new Map<string, string>();
  #size = maxSlice;
  #hasChanged = false;
  #hasWarned = false;

  constructor(parts: RecomputeParts) {
    this.#parts = parts;
    this.#name = parts.collection.name;
  }

  /** Computes the next resources. It changes nothing after the signal is aborted. Throws the problems of the store. */
  async step(signal: AbortSignal): Promise<Standing> {
    const { store, records, collection, declared, now } = this.#parts;
    const before = await records.read(this.#name);
    if (before === undefined || !isRecordOf(before.value, declared)) return "complete";
    if (incompleteIn(before.value).length === 0) return "complete";
    const { after, isBackward = false } = before.value;
    const { items, more } = await store.list({
      collection: this.#name,
      limit: this.#size,
      ...(isBackward && { sort: [{ path: ["id"], descending: true }] }),
      ...(after !== null && { after: [collection.idKind === "integer" ? Number(after) : after] }),
    });
    const at = Math.max(now(), ...(collection.timestamps ? items.map(({ updatedAt }) => updatedAt) : []));
    const outcomes = await this.#outcomesOf(items, at, signal);
    if (signal.aborted) return "continues";
    const failed = outcomes.filter((each) => each instanceof ComputingFailed);
    const passed: ComputedRecord = {
      ...before.value,
      after: items.at(-1)?.id ?? after,
      done: before.value.done + items.length,
      failed: before.value.failed + failed.length,
    };
    const changes = outcomes.filter(isChange);
    if (!(await this.#commit(before, more ? passed : endOf(passed), { at, changes }))) return "continues";
    for (const { id } of items) this.#refused.delete(id);
    this.#warnOnce(failed[0]);
    if (changes.length > 0) this.#hasChanged = true;
    return more ? "continues" : this.#endPass(passed);
  }

  /** Returns false if the slice must be computed again. */
  async #commit(
    before: Versioned<ComputedRecord>,
    next: ComputedRecord,
    { at, changes }: { at: number; changes: readonly Change[] },
  ): Promise<boolean> {
    try {
      await this.#parts.records.write(this.#name, before, next, { at, changes, principal });
    } catch (error) {
      if (!isOvertaken(error)) this.#noteRefusal(error, changes);
      // A smaller slice is overtaken less often, and where much is refused, less is computed in vain.
      this.#size = Math.max(1, Math.floor(this.#size / 2));
      return false;
    }
    this.#size = Math.min(maxSlice, this.#size * 2);
    return true;
  }

  /** Remembers the resource that the store has refused, such as for a unique value. Throws every other error. */
  #noteRefusal(error: unknown, changes: readonly Change[]): void {
    const change = error instanceof Problem && error.change !== undefined ? changes[error.change] : undefined;
    if (change === undefined) throw error;
    this.#refused.set(change.key.id, (error as Problem).message);
  }

  /** Ends early if the signal is aborted, because a stop waits for this. */
  async #outcomesOf(items: readonly Stored[], at: number, signal: AbortSignal): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (let from = 0; from < items.length && !signal.aborted; from += callsPerTurn) {
      const some = items.slice(from, from + callsPerTurn);
      outcomes.push(...(await Promise.all(some.map((each) => this.#outcomeOf(each, at)))));
      await turn();
    }
    return outcomes;
  }

  async #outcomeOf(stored: Stored, at: number): Promise<Outcome> {
    const { collection } = this.#parts;
    const { id, version, text } = stored;
    const refused = this.#refused.get(id);
    try {
      if (refused !== undefined) throw new ComputingFailed(refused);
      const attributes = clientAttributes(collection, parsed(text));
      const next = await this.#parts.computation.complete(attributes);
      requireFitting(collection, next);
      if (next === attributes) return "same";
      const all = collection.timestamps ? withTimestamps(next, at, stored) : next;
      return {
        key: { collection: this.#name, id },
        expect: version,
        next: resourceText(collection.idKind, id, all),
        replaced: text.length,
      };
    } catch (error) {
      if (!(error instanceof ComputingFailed)) throw error;
      return new ComputingFailed(`${JSON.stringify(id)}: ${error.message}`);
    }
  }

  #warnOnce(failure: ComputingFailed | undefined): void {
    if (failure === undefined || this.#hasWarned) return;
    this.#hasWarned = true;
    this.#parts.log.warn(
      `${this.#parts.computation.place}: a stored resource could not be computed again, ${failure.message}`,
    );
  }

  #endPass({ failed }: ComputedRecord): Standing {
    const hasChanged = this.#hasChanged;
    this.#hasChanged = false;
    this.#hasWarned = false;
    this.#refused.clear(); // one can have been deleted in the meantime
    this.#size = maxSlice;
    const { computation, log } = this.#parts;
    if (failed === 0) {
      log.info(`${computation.place}: all stored resources are computed.`);
      return "complete";
    }
    log.warn(
      `${computation.place}: ${failed} stored resources are not computed. The service tries them again.`,
    );
    return hasChanged ? "continues" : "stuck";
  }
}

/**
 * The record at the end of a pass. If some resources are not computed, another pass follows, the other way round: a unique value can be that of the
 * next resource, which gets its own new value first then.
 */
function endOf(passed: ComputedRecord): ComputedRecord {
  if (passed.failed === 0) return completed(passed);
  return { ...passed, after: null, done: 0, failed: 0, isBackward: passed.isBackward !== true };
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new ComputingFailed("its text is damaged.");
  }
}

/** Throws ComputingFailed if a computed value does not fit its schema. What else does not fit was stored before. */
function requireFitting(
  { computes = new Set(), validate }: Collection,
  attributes: Record<string, unknown>,
): void {
  const violations = validate(attributes).filter((each) =>
    computes.values().some((name) => isAbout(each, name)),
  );
  if (violations.length > 0) throw new ComputingFailed(describeViolations(violations));
}
