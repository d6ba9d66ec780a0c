/** The changes of a batch so far, in memory over the store. Nothing is written. */

import type { Unique } from "../../collection/unique.ts";
import { deleteOf } from "../../expiry/expired.ts";
import type { UniqueKey } from "../../query/unique-keys.ts";
import { uniqueValue } from "../../query/unique-values.ts";
import {
  type Change,
  type Commit,
  type Committed,
  type Requirement,
  versionOf,
} from "../../store/port/commit.ts";
import { type LogPlace, logStart, placeAfter } from "../../store/port/log-place.ts";
import { withMethods } from "../../store/port/store.ts";
import type { Key, Stored } from "../../store/port/stored.ts";
import type { Data } from "../service.ts";
import { nameOf } from "../writes/write.ts";

/** A resource that the batch has created, changed or deleted. */
interface Changed {
  /** From the state in the store to the state after the last operation. */
  change: Change;
  version: number;
  stored: Stored | undefined;
  operation: number;
}

/**
 * A store whose commits stay in memory, and whose reads see them. All commits together raise the version of a resource by
 * one.
 */
export interface Overlay {
  store: Data["store"];
  /** The operation that commits next. */
  operation: number;
  /** One change for each changed resource, in the order of their first changes. */
  changes(): Change[];
  /**
   * The changes that come before (`Commit.steps`). An operation that ends a resource ends a step with all changes so far. The next step is
   * the delete of that resource by `system:expiry`. What it frees is for later operations.
   */
  steps(): readonly (readonly Change[])[];
  /** The last operation that changed the resource of a change. */
  operationOf(change: Change): number | undefined;
  /** The latest time of a change: later than the batch's if the clock was set back; 0 without changes. */
  latest(): number;
  /** The text of the changed resources, in characters: the larger of each before and after the batch. */
  length(): number;
  /** The version that a resource gets; `undefined` if nothing has changed it. */
  versionOf(key: Key): number | undefined;
}

/**
 * Creates an overlay over `base`. Ids come from `reserveId`. `isOver`: whether a resource with this text has expired. The overlay does not
 * create collections in the store.
 */
export function createOverlay(
  base: Data["store"],
  {
    reserveId,
    isOver,
  }: { reserveId(collection: string): Promise<number>; isOver(collection: string, text: string): boolean },
): Overlay {
  const changed = new Map<string, Changed>();
  const steps: (readonly Change[])[] = [];
  /** The operations of the changes in steps. */
  const operations = new Map<Change, number>();
  /** The states after the steps. */
  const settled = new Map<string, Pick<Changed, "version" | "stored">>();
  const collections = new Map(base.collections());
  let latest = 0;
  let length = 0;

  function note(change: Change, { at }: Commit): { version: number; sequence: LogPlace } {
    const { key, next } = change;
    latest = Math.max(latest, at);
    const before = changed.get(nameOf(key));
    const first = before === undefined ? change : before.change;
    const version = versionOf(first);
    length += lengthOf({ ...first, next }) - (before === undefined ? 0 : lengthOf(before.change));
    const stored = next === undefined ? undefined : { id: key.id, version, text: next, updatedAt: at };
    const requires = [...(before?.change.requires ?? []), ...(change.requires ?? []).map(asMade)];
    const all = {
      change: { ...first, next, ...(requires.length > 0 && { requires }) },
      version,
      stored,
      operation: overlay.operation,
    };
    changed.set(nameOf(key), all);
    if (stored !== undefined && isOver(key.collection, stored.text)) end(key, stored);
    return { version, sequence: logStart };
  }

  /** The requirement with the targets that the batch has changed so far. The commit looks at the others as they are before the batch. */
  function asMade(requirement: Requirement): Requirement {
    const targets = requirement.targets.map((target) => {
      if (target.text !== undefined) return target;
      const name = nameOf(target);
      const made = changed.get(name) ?? settled.get(name);
      return made === undefined ? target : { ...target, text: made.stored?.text ?? null };
    });
    return { ...requirement, targets };
  }

  /** Ends the present step, and adds one that deletes what has expired. */
  function end(key: Key, stored: Stored): void {
    const all = changedInStore();
    for (const { change, operation, version, stored: now } of all) {
      operations.set(change, operation);
      settled.set(nameOf(change.key), { version, stored: now });
    }
    changed.clear();
    const ended = deleteOf(key.collection, stored);
    operations.set(ended, overlay.operation);
    settled.set(nameOf(key), { version: stored.version + 1, stored: undefined });
    steps.push(
      all.map(({ change }) => change),
      [ended],
    );
  }

  /** The values of the last key that a state was asked for. */
  const values = new WeakMap<Stored, { unique: Unique; value: string | undefined }>();

  function has(stored: Stored | undefined, { unique, value }: UniqueKey): boolean {
    if (stored === undefined) return false;
    let known = values.get(stored);
    if (known?.unique !== unique) known = { unique, value: uniqueValue(JSON.parse(stored.text), unique) };
    values.set(stored, known);
    return known.value === value;
  }

  function countChanged(collection: string): number {
    return [...changed.values()].filter(
      ({ change }) => change.key.collection === collection && changesStore(change),
    ).length;
  }

  function countSteps(collection: string): number {
    return steps.flat().filter(({ key }) => key.collection === collection).length;
  }

  const store = withMethods(base, {
    read(key) {
      const name = nameOf(key);
      const known = changed.get(name) ?? settled.get(name);
      return known === undefined ? base.read(key) : Promise.resolve(known.stored);
    },
    async lastVersion(key) {
      return settled.get(nameOf(key))?.version ?? base.lastVersion(key);
    },
    async holder(collection, unique, value) {
      const key = { unique, value };
      const made = changed
        .values()
        .find((each) => each.change.key.collection === collection && has(each.stored, key));
      if (made !== undefined) return made.change.key.id;
      for (const [name, { stored }] of settled)
        if (name.startsWith(`${collection}/`) && !changed.has(name) && has(stored, key)) return stored?.id;
      const id = await base.holder(collection, unique, value);
      const name = id === undefined ? "" : nameOf({ collection, id });
      return changed.has(name) || settled.has(name) ? undefined : id;
    },
    async commit(commit): Promise<Committed> {
      return commit.changes.map((change) => note(change, commit));
    },
    referring: () => {
      throw new Error("A batch reads no related resources.");
    },
    async list(query) {
      const page = await base.list(query);
      return {
        ...page,
        sequence: placeAfter(page.sequence, countChanged(query.collection) + countSteps(query.collection)),
      };
    },
    collections: () => collections,
    collectionNames: async () => [...collections.keys()],
    async migrate(plan) {
      for (const record of plan) collections.set(record.name, record);
    },
    reserveIds: (collection) => reserveId(collection),
  });

  const changedInStore = () => [...changed.values()].filter(({ change }) => changesStore(change));
  const overlay: Overlay = {
    store,
    operation: 0,
    changes: () => changedInStore().map(({ change }) => change),
    steps: () => steps,
    operationOf: (change) => operations.get(change) ?? changed.get(nameOf(change.key))?.operation,
    latest: () => latest,
    length: () => length,
    versionOf(key) {
      const name = nameOf(key);
      const known = settled.get(name);
      // The operation that ends a resource makes the version before its delete.
      const version = known?.stored === undefined && known !== undefined ? known.version - 1 : known?.version;
      return changed.get(name)?.version ?? version;
    },
  };
  return overlay;
}

/** Whether the batch changes the stored resource. It does not if it creates the resource and deletes it again. */
function changesStore({ expect, next }: Change): boolean {
  return expect !== "absent" || next !== undefined;
}

function lengthOf({ next, replaced = 0 }: Change): number {
  return Math.max(next?.length ?? 0, replaced);
}
