/** Checks the items of one input, gives each resource its id, and counts what the report of the import says. */
import type { Collection } from "../collection/collection.ts";
import { createUuidSource } from "../collection/uuids.ts";
import type { JsonLimits } from "../json/values.ts";
import { faultOf, type InputLocation, type Item, type ItemViolation } from "./items.ts";
import { readResource, type ValidResource } from "./resource.ts";
import { type Listed, Tally } from "./tally.ts";

/** A resource of the input. */
export interface Row {
  location: InputLocation;
  /** `undefined` if the collection must generate an integer. */
  id: string | undefined;
  /** Its text. Without an id, the text that follows the id. */
  text: string;
}

/** What the import of one collection did. */
export interface ImportResult {
  collection: string;
  /** Whether the resources can be written: all of them are valid, or invalid ones are skipped. */
  isAccepted: boolean;
  /** Whether a part of the input cannot be divided into items. */
  isBroken: boolean;
  /** The number of valid resources. */
  imported: number;
  invalid: Listed<readonly ItemViolation[]>;
  /** Resources without an id, which got a generated one. */
  withoutId: Listed;
  /** Resources whose id does not fit the collection, which got a generated one. */
  unfitId: Listed;
  /** Resources whose id was a number and is now a string. */
  numberId: Listed;
}

/** How to read items. */
export interface ReadingOptions {
  limits: JsonLimits;
  /** Import the valid resources even if others are invalid. */
  skipInvalid: boolean;
}

const maxListedInvalid = 50;
const maxListedIds = 5;

/** Reads the items of one input. */
export class ItemReader {
  readonly collection: Collection;
  readonly invalid = new Tally<readonly ItemViolation[]>(maxListedInvalid);
  readonly #options: ReadingOptions;
  readonly #at = Date.now();
  readonly #newUuid = createUuidSource();
  readonly #withoutId = new Tally(maxListedIds);
  readonly #unfitId = new Tally(maxListedIds);
  readonly #numberId = new Tally(maxListedIds);
  #read = 0;
  #isBroken = false;

  constructor(collection: Collection, options: ReadingOptions) {
    this.collection = collection;
    this.#options = options;
  }

  /** The number of items that were read. */
  get read(): number {
    return this.#read;
  }

  /** Whether a part of the input cannot be divided into items. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Whether the resources can be written, as far as they were read. */
  get isAccepted(): boolean {
    return !this.#isBroken && (this.invalid.count === 0 || this.#options.skipInvalid);
  }

  /** The resource of an item; `undefined` if the item has none. */
  take(item: Item): Row | undefined {
    this.#read++;
    const { location } = item;
    if (item.kind === "text") return this.#takeText(item);
    if (item.kind === "broken") this.#isBroken = true;
    const reason = item.kind === "broken" ? `${item.reason}; the rest was not read` : item.reason;
    this.invalid.add(location, [faultOf(reason)]);
    return undefined;
  }

  /** The result, after `imported` resources were added. */
  resultFor(imported: number): ImportResult {
    return {
      collection: this.collection.name,
      isAccepted: this.isAccepted,
      isBroken: this.#isBroken,
      imported,
      invalid: this.invalid,
      withoutId: this.#withoutId,
      unfitId: this.#unfitId,
      numberId: this.#numberId,
    };
  }

  #takeText(item: Extract<Item, { kind: "text" }>): Row | undefined {
    const { collection } = this;
    const { location } = item;
    const resource = readResource(item, { collection, limits: this.#options.limits, at: this.#at });
    if (!("textWith" in resource)) {
      this.invalid.add(location, resource);
      return undefined;
    }
    this.#noteId(location, resource);
    const id = resource.id ?? (collection.idKind === "uuid" ? this.#newUuid() : undefined);
    if (id !== undefined) return { location, id, text: resource.textWith(id) };
    return { location, id, text: resource.textWith("0").slice('{"id":0'.length) };
  }

  #noteId(location: InputLocation, { id, unfitId, hasNumberId }: ValidResource): void {
    if (id !== undefined) {
      if (hasNumberId && this.collection.idKind === "uuid") this.#numberId.add(location, id);
    } else if (unfitId === undefined) this.#withoutId.add(location, "");
    else this.#unfitId.add(location, unfitId);
  }
}
