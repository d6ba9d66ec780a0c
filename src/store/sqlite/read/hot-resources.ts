/** Resources that were read lately, kept in memory: finding one again costs a tenth of asking SQLite. */
import type { Change } from "../../commit.ts";
import type { CollectionRecord } from "../../record.ts";
import type { Key, Stored } from "../../stored.ts";
import { Generations } from "./generations.ts";

/** A resource of more text than this would push too many others out. */
const maxOwnText = 64 * 1024;

/**
 * What is here is what a read of the file would give. From the moment in which a change of a resource sets out until
 * it is answered, nobody can say that, so the resource is not kept; the file decides.
 */
export class HotResources {
  /** Weighed by their text, in characters. */
  readonly #kept = new Generations<Stored>({
    weight: 4 * 1024 * 1024,
    count: 10_000,
    weigh: ({ text }) => text.length,
  });
  /** How many changes of a resource are under way. */
  readonly #changing = new Map<string, number>();
  readonly #followersOf: (collection: string) => readonly string[];
  /** The collections in which deletes under way may change anything. */
  readonly #following = new Map<readonly Change[], readonly string[]>();

  /** `followersOf` gives the collections that change with deletes in one. */
  constructor(followersOf: (collection: string) => readonly string[] = () => []) {
    this.#followersOf = followersOf;
  }

  /** The resource, where it is kept. */
  get(collection: string, id: string): Stored | undefined {
    return this.#mayFollow(collection) ? undefined : this.#kept.get(nameOf(collection, id));
  }

  /** Keeps a resource that was read from the file just now. */
  keep(collection: string, resource: Stored): void {
    if (resource.text.length > maxOwnText || this.#mayFollow(collection)) return;
    const name = nameOf(collection, resource.id);
    if (!this.#changing.has(name)) this.#kept.set(name, resource);
  }

  /** Forgets the resources that are about to change. Each call wants its `release`, with the same list. */
  forget(changes: readonly Change[]): void {
    for (const { key, next } of changes) {
      if (next === undefined) this.#follow(changes, this.#followersOf(key.collection));
      const name = nameOf(key.collection, key.id);
      this.#kept.delete(name);
      this.#changing.set(name, (this.#changing.get(name) ?? 0) + 1);
    }
  }

  /** Drops resources that were changed otherwise, at once. */
  drop(keys: readonly Key[]): void {
    for (const { collection, id } of keys) this.#kept.delete(nameOf(collection, id));
  }

  #follow(changes: readonly Change[], followers: readonly string[]): void {
    if (followers.length === 0) return;
    this.#following.set(changes, [...(this.#following.get(changes) ?? []), ...followers]);
  }

  /** Whether resources of the collection may be changing because of others. */
  #mayFollow(collection: string): boolean {
    if (this.#following.size === 0) return false;
    return this.#following.values().some((followers) => followers.includes(collection));
  }

  /** The changes came to their end, whatever that was. */
  release(changes: readonly Change[]): void {
    this.#following.delete(changes);
    for (const { key } of changes) {
      const name = nameOf(key.collection, key.id);
      const left = (this.#changing.get(name) ?? 1) - 1;
      if (left === 0) this.#changing.delete(name);
      else this.#changing.set(name, left);
    }
  }
}

/** No collection has a slash in its name. */
function nameOf(collection: string, id: string): string {
  return `${collection}/${id}`;
}

/** The collections in which a delete in `collection` can delete resources or clear references, directly or not. */
export function followersOf(
  catalogue: ReadonlyMap<string, CollectionRecord>,
  collection: string,
): readonly string[] {
  const referring = [...catalogue.values()].filter(({ references = [] }) => references.length > 0);
  if (referring.length === 0) return none;
  const followers = new Set<string>();
  const open = new Set([collection]);
  for (const target of open) {
    for (const { name, references = [] } of referring) {
      if (!references.some((each) => each.collection === target && each.onDelete !== "restrict")) continue;
      followers.add(name);
      open.add(name);
    }
  }
  return [...followers];
}

const none: readonly never[] = [];
