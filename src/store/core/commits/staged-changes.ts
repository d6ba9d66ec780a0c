/** Changes that commits make, before any of them is written, and what all stores write of them. */

import { integerOf } from "../../../collection/ids.ts";
import { type Reference, referencedIds } from "../../../collection/references.ts";
import { uniqueValue } from "../../../query/unique-values.ts";
import type { ChangeKind } from "../../port/change-log.ts";
import type { Receipt } from "../../port/commit.ts";
import type { NumberedCollection } from "../catalogue.ts";
import { checksumOfChange, checksumOfKept, checksumOfResource } from "../checksums.ts";
import type { UniqueSlot } from "../entries.ts";

/** One state of a resource. */
export interface ResourceState {
  version: number;
  text: string;
  /** Unix time in milliseconds. */
  updatedAt: number;
  /** The checksum in the row. It can be wrong in a state that was read (`refuseDamaged`). */
  checksum: number;
  /** The key of the resource in the store, if it is not the id. */
  rowId: number | undefined;
}

/** A resource before and after the staged changes. */
export interface StagedResource {
  id: string;
  before: ResourceState | undefined;
  now: ResourceState | undefined;
}

/** Where the changes of one commit come from. They share this object. */
export interface Origin {
  principal: string | null;
  /** The number that the changes of one commit share; `null` for a commit of one change. */
  group: number | null;
}

/** Returns the origin of a change, and of what follows from it. */
export type OriginOf = (change: { principal?: string | undefined }) => Origin;

/** A change of one resource. */
export interface StagedChange {
  collection: NumberedCollection;
  id: string;
  kind: ChangeKind;
  version: number;
  /** Unix time in milliseconds. */
  at: number;
  origin: Origin;
  /** The state that this change supersedes. */
  before: ResourceState | undefined;
  /** `undefined`: the change deletes the resource. */
  next: ResourceState | undefined;
  /** The parsed text, if it was parsed. */
  attributes: unknown;
  /** The last version of the id before a create with an id that was not new for certain; 0 if there was none. */
  after: number | undefined;
  /** The number of the change in its collection; 0 before it is written. */
  sequence: number;
}

/** A receipt that a commit stores. */
export interface StagedReceipt extends Receipt {
  /** The time of the commit: Unix time in milliseconds. */
  at: number;
  /** Whether it replaces an expired one with the same key. */
  replaces: boolean;
}

/** What is staged for one collection. */
export interface CollectionChanges<C extends NumberedCollection = NumberedCollection> {
  collection: C;
  /** The resources whose state has changed. */
  resources: readonly StagedResource[];
  /** All changes, in order. */
  changes: readonly StagedChange[];
}

/** The state of a resource after a change. */
export interface NextState {
  /** `undefined` deletes the resource. */
  next: string | undefined;
  /** Unix time in milliseconds. */
  at: number;
  /** The version that a new resource follows. @default 0, and no resource ever had the id */
  after?: number | undefined;
  /** The parsed text, if the caller has parsed it. */
  attributes?: unknown;
}

/** The noted resources of one collection. */
export class StagedCollection<C extends NumberedCollection = NumberedCollection> {
  readonly collection: C;
  /** An empty array would take 16 places when it gets its first element. Most commits need one. */
  #resources: StagedResource[] | undefined;
  /** Created when it is needed. Most commits do not need it. */
  #byId: Map<string, StagedResource> | undefined;
  /** The states that staged changes have made, with their ids, by unique attribute and value. Some are not current. */
  holders: Map<string, Map<ResourceState, string>> | undefined;

  constructor(collection: C) {
    this.collection = collection;
  }

  /** The noted resources, in the order in which they were noted. */
  get resources(): readonly StagedResource[] {
    return this.#resources ?? none;
  }

  /** The resource of an id. */
  get(id: string): StagedResource | undefined {
    if (this.#resources === undefined) return undefined;
    this.#byId ??= new Map(this.#resources.map((resource) => [resource.id, resource]));
    return this.#byId.get(id);
  }

  /** Adds a resource that was not noted before. */
  add(resource: StagedResource): StagedResource {
    if (this.#resources === undefined) this.#resources = [resource];
    else this.#resources.push(resource);
    this.#byId?.set(resource.id, resource);
    return resource;
  }
}

/** Resources by collection and id, and their changes. The latest changes can be taken back. */
export class StagedChanges<C extends NumberedCollection = NumberedCollection> {
  #latest: StagedCollection<C> | undefined;
  /** Exists only if there are several collections. Most commits change one. */
  #collections: Map<number, StagedCollection<C>> | undefined;
  #changes: StagedChange[] | undefined;
  #receipts: Map<string, StagedReceipt> | undefined;
  #targets: WeakMap<ResourceState, Map<Reference, readonly string[]>> | undefined;

  /** The receipts to store, by their keys. */
  get receipts(): Map<string, StagedReceipt> {
    this.#receipts ??= new Map();
    return this.#receipts;
  }

  /** What is staged for each collection with changes, in the order of their numbers. */
  get changed(): readonly CollectionChanges<C>[] {
    const byNumber = Map.groupBy(this.#changes ?? none, ({ collection }) => collection.number);
    return [...byNumber]
      .sort(([a], [b]) => a - b)
      .map(([number, changes]) => {
        const { collection, resources } =
          this.#collections?.get(number) ?? (this.#latest as StagedCollection<C>);
        return { collection, changes, resources: resources.filter(({ before, now }) => before !== now) };
      });
  }

  /** The noted resources of a collection. */
  of(collection: C): StagedCollection<C> {
    if (this.#latest?.collection.number === collection.number) return this.#latest;
    const known = this.#collections?.get(collection.number);
    const staged = known ?? new StagedCollection(collection);
    if (known === undefined && this.#latest !== undefined) {
      this.#collections ??= new Map([[this.#latest.collection.number, this.#latest]]);
      this.#collections.set(collection.number, staged);
    }
    this.#latest = staged;
    return staged;
  }

  /** The resource, if it is noted. */
  find(collection: C, id: string): StagedResource | undefined {
    return this.of(collection).get(id);
  }

  /** Whether no resource is noted. */
  get isEmpty(): boolean {
    return this.#latest === undefined;
  }

  /** Notes the stored state of a resource, if the resource is not noted yet. */
  note(collection: C, id: string, before: ResourceState | undefined): StagedResource {
    return this.find(collection, id) ?? this.noteNew(collection, id, before);
  }

  /** Notes a resource that was not noted before. */
  noteNew(collection: C, id: string, before: ResourceState | undefined): StagedResource {
    return this.of(collection).add({ id, before, now: before });
  }

  /** Stages the next state of a resource. */
  stage(
    collection: C,
    resource: StagedResource,
    { next: text, after, at, attributes }: NextState,
    origin: Origin,
  ): void {
    const { id, now: before } = resource;
    const version = (before?.version ?? after ?? 0) + 1;
    const stored = text === undefined ? undefined : { id, version, text, updatedAt: at };
    const next = stored && {
      version,
      text: stored.text,
      updatedAt: at,
      checksum: checksumOfResource(collection.name, stored),
      rowId: before?.rowId,
    };
    const kind = next === undefined ? "deleted" : before === undefined ? "created" : "updated";
    resource.now = next;
    const change: StagedChange = {
      collection,
      id,
      kind,
      version,
      at,
      origin,
      before,
      next,
      attributes,
      after,
      sequence: 0,
    };
    if (this.#changes === undefined) this.#changes = [change];
    else this.#changes.push(change);
    if (next !== undefined && collection.unique.length > 0)
      this.#noteValues(collection, id, next, attributes ?? JSON.parse(next.text));
  }

  /** Ids of resources that have a value in a unique attribute because of a staged change. */
  *holders(collection: C, { slot }: UniqueSlot, value: string): Iterable<string> {
    const staged = this.of(collection);
    for (const [state, id] of staged.holders?.get(`${slot} ${value}`) ?? []) {
      if (staged.get(id)?.now === state) yield id;
    }
  }

  /** Whether a staged change has changed the resource. */
  hasChanged(collection: C, id: string): boolean {
    const resource = this.find(collection, id);
    return resource !== undefined && resource.now !== resource.before;
  }

  /** The last staged change of a resource. */
  lastChangeOf({ number }: C, id: string): StagedChange | undefined {
    return this.#changes?.findLast((each) => each.id === id && each.collection.number === number);
  }

  /** The ids in a reference attribute of a resource, each once. */
  targetsOf(state: ResourceState, reference: Reference): readonly string[] {
    this.#targets ??= new WeakMap();
    const known = this.#targets.get(state) ?? new Map<Reference, readonly string[]>();
    let ids = known.get(reference);
    if (ids === undefined) {
      ids = [...new Set(referencedIds(JSON.parse(state.text), [reference]).map(({ id }) => id))];
      this.#targets.set(state, known.set(reference, ids));
    }
    return ids;
  }

  /** The number of staged changes in a collection. */
  countOf({ number }: C): number {
    return this.#changes?.reduce((sum, { collection }) => sum + Number(collection.number === number), 0) ?? 0;
  }

  get size(): number {
    return this.#changes?.length ?? 0;
  }

  /** The changes after the first `first` ones, in order. */
  after(first: number): readonly StagedChange[] {
    const changes = this.#changes ?? none;
    return first === 0 ? changes : changes.slice(first);
  }

  /** Takes back the changes after the first `first` ones. */
  takeBack(first: number): void {
    const changes = this.#changes ?? [];
    while (changes.length > first) {
      const { collection, id, before } = changes.pop() as StagedChange & { collection: C };
      (this.find(collection, id) as StagedResource).now = before;
    }
  }

  #noteValues(collection: C, id: string, state: ResourceState, attributes: unknown): void {
    const staged = this.of(collection);
    staged.holders ??= new Map();
    for (const { slot, unique } of collection.uniqueSlots) {
      const value = uniqueValue(attributes as Record<string, unknown>, unique);
      if (value === undefined) continue;
      const key = `${slot} ${value}`;
      const states = staged.holders.get(key);
      // All states stay, because a change that is taken back makes the state before it current again.
      if (states === undefined) staged.holders.set(key, new Map([[state, id]]));
      else states.set(state, id);
    }
  }
}

/** The counters in the head of a collection, or how they change. */
export interface HeadCounters {
  sequence: number;
  /** The number of resources. */
  count: number;
  /** The sum of the checksums of the resources. */
  checksums: number;
  /** The greatest integer id that a resource ever had; 0 without one. */
  lastId: number;
}

/** Counts a change. */
export function countChange(
  counters: HeadCounters,
  { collection, id, kind, before, next }: StagedChange,
): void {
  counters.sequence++;
  counters.checksums += (next?.checksum ?? 0) - (before?.checksum ?? 0);
  if (kind === "deleted") counters.count--;
  if (kind !== "created") return;
  counters.count++;
  counters.lastId = Math.max(counters.lastId, integerOf(collection.idKind, id) ?? 0);
}

/** The row of a change in the change log, with the superseded text as `keptText` gives it. The cells have the order of the table `changes`. */
export function logCells(
  { collection, id, version, kind, at, origin: { principal, group }, sequence }: StagedChange,
  superseded: string | null,
): LogCells {
  const kept_checksum = superseded === null ? null : checksumOfKept(superseded);
  const row = { sequence, id, version, kind, at, principal, group, kept_checksum };
  const checksum = checksumOfChange(collection.name, row);
  return [sequence, id, version, kind, at, principal, group, superseded, kept_checksum, checksum];
}

/** The cells of a row of a change log. */
export type LogCells = readonly (string | number | null)[];

const none: readonly never[] = [];
