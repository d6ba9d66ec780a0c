/** Resources that were read lately, kept in memory: finding one again costs a tenth of asking SQLite. */
import type { Change, Key, Stored } from "../store.ts";
import { Generations } from "./generations.ts";

/** A resource of more text than this would push too many others out. */
const maxOwnText = 64 * 1024;

/**
 * What is here is what a read of the file would give. From the moment in which a change of a resource sets out until
 * it is answered, nobody can say that, so the resource is not kept; the file decides.
 */
export class HotResources {
  /** Weighed by their text, in characters. */
  readonly #kept = new Generations<Stored>({ weight: 4 * 1024 * 1024, count: 10_000 });
  /** How many changes of a resource are under way. */
  readonly #changing = new Map<string, number>();

  /** The resource, where it is kept. */
  get(collection: string, id: string): Stored | undefined {
    return this.#kept.get(nameOf(collection, id));
  }

  /** Keeps a resource that was read from the file just now. */
  keep(collection: string, resource: Stored): void {
    if (resource.text.length > maxOwnText) return;
    const name = nameOf(collection, resource.id);
    if (!this.#changing.has(name)) this.#kept.set(name, resource, resource.text.length);
  }

  /** Forgets the resources that are about to change. Each call wants its `release`. */
  forget(changes: readonly Change[]): void {
    for (const { key } of changes) {
      const name = nameOf(key.collection, key.id);
      this.#kept.delete(name);
      this.#changing.set(name, (this.#changing.get(name) ?? 0) + 1);
    }
  }

  /** Drops resources that were changed otherwise, at once. */
  drop(keys: readonly Key[]): void {
    for (const { collection, id } of keys) this.#kept.delete(nameOf(collection, id));
  }

  /** The changes came to their end, whatever that was. */
  release(changes: readonly Change[]): void {
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
