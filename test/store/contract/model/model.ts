/** A model of a store: computes the result of a commit only from the contract in `store.ts`. */
import assert from "node:assert/strict";
import type { Reference } from "../../../../src/collection/references.ts";
import { uniqueValue } from "../../../../src/query/unique-values.ts";
import type { Commit, Receipt } from "../../../../src/store/port/commit.ts";
import type { CollectionRecord } from "../../../../src/store/port/record.ts";
import type { Key } from "../../../../src/store/port/stored.ts";

/** The attributes of a resource, with its id. */
export type Attributes = Record<string, unknown>;

/** One resource in the model. */
export interface Kept {
  key: Key;
  version: number;
  text: string;
  updatedAt: number;
  attributes: Attributes;
}

/** The content of the store at one moment. It never changes. A commit makes another state. */
export interface State {
  /** By `nameOf` of their keys. */
  resources: ReadonlyMap<string, Kept>;
  /** The versions of deletes that are the last change of their resource. */
  deleted: ReadonlyMap<string, number>;
  receipts: ReadonlyMap<string, Receipt>;
  sequences: ReadonlyMap<string, number>;
}

/** The expected result of a commit: the possible refusals, or the next state of its own and other resources. */
export type Verdict =
  | { refusals: ReadonlySet<string> }
  | { made: ReadonlyMap<string, { key: Key; attributes: Attributes | undefined }> };

/** The state of an empty store. */
export const emptyState: State = {
  resources: new Map(),
  deleted: new Map(),
  receipts: new Map(),
  sequences: new Map(),
};

/** The name of a resource. */
export function nameOf({ collection, id }: Key): string {
  return `${collection}/${id}`;
}

/** A refusal in the form of a verdict. */
export function refusal(code: string, pointer?: string): string {
  return pointer === undefined ? code : `${code} at ${pointer}`;
}

/** The expected result of a commit. */
export function judge(records: readonly CollectionRecord[], state: State, commit: Commit): Verdict {
  const stale = stalenessOf(state, commit);
  if (stale.size > 0) return { refusals: stale };
  const world = new World(records, state);
  const { own, deleted } = world.write(commit);
  const broken = new Set([...world.collisions(own), ...world.dangling(own), ...world.follow(own, deleted)]);
  return broken.size > 0 ? { refusals: broken } : { made: world.made };
}

function stalenessOf({ resources, deleted, receipts }: State, { changes, receipt, at }: Commit): Set<string> {
  const refusals = new Set<string>();
  const used = receipt === undefined ? undefined : receipts.get(receipt.key);
  if (used !== undefined && used.expiresAt > at) refusals.add("IDEMPOTENCY_KEY_REUSED");
  for (const { key, expect, after, last } of changes) {
    const name = nameOf(key);
    const isExpected = (resources.get(name)?.version ?? "absent") === expect;
    const isAfter = after === undefined || deleted.get(name) === after;
    const isLast = last === undefined || (deleted.get(name) ?? 0) === last;
    if (!isExpected || !isAfter || !isLast) refusals.add("PRECONDITION_FAILED");
  }
  return refusals;
}

interface Resource {
  key: Key;
  attributes: Attributes;
}

/** The resources while a commit changes them. */
class World {
  readonly #records: readonly CollectionRecord[];
  readonly #resources: Map<string, Resource>;
  readonly made = new Map<string, { key: Key; attributes: Attributes | undefined }>();

  constructor(records: readonly CollectionRecord[], { resources }: State) {
    this.#records = records;
    this.#resources = new Map(resources);
  }

  /** Applies the changes of the commit itself. */
  write({ changes }: Commit): { own: ReadonlySet<string>; deleted: Resource[] } {
    const deleted: Resource[] = [];
    for (const { key, next } of changes) {
      const before = this.#resources.get(nameOf(key));
      if (next === undefined && before !== undefined) deleted.push(before);
      this.#set(key, next === undefined ? undefined : (JSON.parse(next) as Attributes));
    }
    return { own: new Set(changes.map(({ key }) => nameOf(key))), deleted };
  }

  /** The unique values of the commit's own resources that other resources also have. */
  collisions(own: ReadonlySet<string>): string[] {
    return this.#all(own).flatMap(({ key, attributes }) =>
      (this.#record(key.collection).unique ?? []).flatMap((unique) => {
        const value = uniqueValue(attributes, unique);
        const others = this.#all().filter((other) => other.key.collection === key.collection);
        const isTaken = others.some(
          (other) => other.key.id !== key.id && uniqueValue(other.attributes, unique) === value,
        );
        const pointers = [unique, ...(unique.others ?? [])].map(({ path }) => `#/${path[0]}`);
        return value !== undefined && isTaken ? [refusal("UNIQUE_VIOLATION", pointers.join(" "))] : [];
      }),
    );
  }

  /** The ids in the commit's own resources without a resource. */
  dangling(own: ReadonlySet<string>): string[] {
    return this.#all(own).flatMap((resource) =>
      this.#referencesOf(resource).flatMap(({ path: [name = ""], collection }) => {
        const value = resource.attributes[name];
        return idsIn(value).flatMap((id, n) => {
          if (this.#resources.has(nameOf({ collection, id }))) return [];
          return [refusal("REFERENCE_NOT_FOUND", `#/${name}${Array.isArray(value) ? `/${n}` : ""}`)];
        });
      }),
    );
  }

  /** Applies the consequences of deletes to other resources. Returns the refusals. */
  follow(own: ReadonlySet<string>, deleted: readonly Resource[]): string[] {
    const gone = [...deleted];
    const cleared = new Set<string>();
    for (const target of gone) {
      for (;;) {
        const next = this.#referrersOf(target).find(({ reference }) => reference.onDelete !== "restrict");
        if (next === undefined) break;
        const { resource, reference } = next;
        if (own.has(nameOf(resource.key))) return ["REFERENCED"];
        const isCascade = reference.onDelete === "cascade";
        const left = isCascade ? undefined : without(resource.attributes, reference, target.key.id);
        this.#set(resource.key, left);
        if (isCascade) gone.push(resource);
        else cleared.add(nameOf(resource.key));
      }
    }
    const isReferenced = gone.some((target) => this.#referrersOf(target).length > 0);
    return isReferenced || this.collisions(cleared).length > 0 ? ["REFERENCED"] : [];
  }

  #set(key: Key, attributes: Attributes | undefined): void {
    this.made.set(nameOf(key), { key, attributes });
    if (attributes === undefined) this.#resources.delete(nameOf(key));
    else this.#resources.set(nameOf(key), { key, attributes });
  }

  #all(names?: ReadonlySet<string>): Resource[] {
    return [...this.#resources.values()].filter(({ key }) => names?.has(nameOf(key)) ?? true);
  }

  #record(collection: string): CollectionRecord {
    const record = this.#records.find(({ name }) => name === collection);
    assert.ok(record, collection);
    return record;
  }

  #referencesOf({ key }: Resource): readonly Reference[] {
    return this.#record(key.collection).references ?? [];
  }

  #referrersOf({ key }: Resource): { resource: Resource; reference: Reference }[] {
    const pairs = this.#all().flatMap((resource) =>
      this.#referencesOf(resource).map((reference) => ({ resource, reference })),
    );
    return pairs.filter(
      ({ resource, reference }) =>
        reference.collection === key.collection &&
        idsIn(resource.attributes[reference.path[0] ?? ""]).includes(key.id),
    );
  }
}

function idsIn(value: unknown): string[] {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.filter((item) => typeof item === "string" || Number.isInteger(item)).map(String);
}

function without(attributes: Attributes, { path: [name = ""] }: Reference, id: string): Attributes {
  const { [name]: value, ...others } = attributes;
  if (!Array.isArray(value)) return others;
  return { ...attributes, [name]: value.filter((item) => String(item) !== id) };
}
