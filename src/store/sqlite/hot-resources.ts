/** Resources that were read lately, kept in memory: finding one again costs a tenth of asking SQLite. */
import type { Change, Stored } from "../store.ts";

/** Text of the resources that are kept, in characters; twice as much at most. */
const maxText = 4 * 1024 * 1024;

/** So that small resources do not pile up by the number. */
const maxResources = 10_000;

/** A resource of more text than this would push too many others out. */
const maxOwnText = 64 * 1024;

/**
 * What is here is what a read of the file would give. From the moment in which a change of a resource sets out until
 * it is answered, nobody can say that, so the resource is not kept; the file decides.
 *
 * There are two generations. When the young one is full it becomes the old one, and what was old is forgotten unless
 * somebody asked for it meanwhile: nearly as good a choice as the least recently used, and a hit moves nothing.
 */
export class HotResources {
  #young = new Map<string, Stored>();
  #old = new Map<string, Stored>();
  #youngText = 0;
  /** How many changes of a resource are under way. */
  readonly #changing = new Map<string, number>();

  /** The resource, where it is kept. */
  get(collection: string, id: string): Stored | undefined {
    const name = nameOf(collection, id);
    const young = this.#young.get(name);
    if (young !== undefined) return young;
    const old = this.#old.get(name);
    if (old !== undefined) this.#add(name, old);
    return old;
  }

  /** Keeps a resource that was read from the file just now. */
  keep(collection: string, resource: Stored): void {
    if (resource.text.length > maxOwnText) return;
    const name = nameOf(collection, resource.id);
    if (!this.#changing.has(name) && !this.#young.has(name)) this.#add(name, resource);
  }

  /** Forgets the resources that are about to change. Each call wants its `release`. */
  forget(changes: readonly Change[]): void {
    for (const { key } of changes) {
      const name = nameOf(key.collection, key.id);
      this.#old.delete(name);
      const young = this.#young.get(name);
      if (young !== undefined) {
        this.#youngText -= young.text.length;
        this.#young.delete(name);
      }
      this.#changing.set(name, (this.#changing.get(name) ?? 0) + 1);
    }
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

  #add(name: string, resource: Stored): void {
    if (this.#youngText + resource.text.length > maxText || this.#young.size >= maxResources) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngText = 0;
    }
    this.#youngText += resource.text.length;
    this.#young.set(name, resource);
  }
}

/** No collection has a slash in its name. */
function nameOf(collection: string, id: string): string {
  return `${collection}/${id}`;
}
