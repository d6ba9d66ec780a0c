/** The resources of a live list in memory: applies events to them and keeps them in order. It sends no requests. */
import type { ChangeEvent } from "./event-types.ts";
import type { Compare } from "./order.ts";

/** A resource with any attributes. */
export type Item = { readonly id: string | number };

/** The resources that the service has listed. */
export interface Listed<T> {
  /** In order. */
  readonly items: readonly T[];
  /** Whether these are all resources of the list. Otherwise, these are the first ones. */
  readonly isWhole: boolean;
}

/**
 * How many resources are held in addition to the shown ones, so that the list does not have to be read again after each change.
 * There can be twice as many until the last ones are removed.
 */
export const spare = 50;

interface Held<T> {
  readonly resource: T;
  readonly version: number;
}

/** The shown resources of a list, and some more. It holds every resource of the list up to the horizon. */
export class LiveItems<T extends Item> {
  readonly #compare: Compare;
  readonly #limit: number;
  readonly #items: T[];
  readonly #byId: Map<T["id"], Held<T>>;
  /** The last resource up to which it holds all; `undefined` if it holds every resource of the list. */
  #horizon: T | undefined;
  #shown: readonly T[];

  constructor({ items, isWhole }: Listed<T>, { compare, limit }: { compare: Compare; limit: number }) {
    this.#compare = compare;
    this.#limit = limit;
    // The events between two pages can move a resource, so that both pages have it.
    this.#byId = new Map(items.map((resource) => [resource.id, { resource, version: 0 }]));
    this.#items = [...this.#byId.values()].map(({ resource }) => resource).sort(compare);
    this.#horizon = isWhole ? undefined : items.at(-1);
    this.#shown = this.#show();
  }

  /** The array to show: frozen, and the same one as long as nothing in it changes. */
  get shown(): readonly T[] {
    const isSame =
      this.#shown.length === Math.min(this.#limit, this.#items.length) &&
      this.#shown.every((resource, n) => resource === this.#items[n]);
    if (!isSame) this.#shown = this.#show();
    return this.#shown;
  }

  /** Whether it holds too few resources to show. Then the list must be read again. */
  get isShort(): boolean {
    return this.#horizon !== undefined && this.#items.length < this.#limit;
  }

  /** Applies a change, unless a later change of the same resource was applied. */
  apply(event: ChangeEvent<string, T>): void {
    const { data } = event;
    const version = Number(event.version);
    const held = this.#byId.get(data.id);
    if (held !== undefined && version < held.version) return;
    if (held !== undefined) this.#items.splice(this.#items.indexOf(held.resource), 1);
    this.#byId.delete(data.id);
    if (event.type.endsWith(".deleted")) return;
    const resource = data as T;
    if (this.#horizon !== undefined && this.#compare(resource, this.#horizon) > 0) return;
    this.#items.splice(this.#placeOf(resource), 0, resource);
    this.#byId.set(resource.id, { resource, version });
    if (this.#items.length > this.#limit + 2 * spare) this.#dropLast();
  }

  #dropLast(): void {
    for (const { id } of this.#items.splice(this.#limit + spare)) this.#byId.delete(id);
    this.#horizon = this.#items.at(-1);
  }

  #show(): readonly T[] {
    return Object.freeze(this.#items.slice(0, this.#limit));
  }

  /** The index of the first resource that comes after this one. */
  #placeOf(resource: T): number {
    let from = 0;
    let to = this.#items.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#compare(this.#items[middle] as T, resource) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
