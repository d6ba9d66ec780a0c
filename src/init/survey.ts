/**
 * What the data of a collection shows: how many resources there are, which ids and attributes they have, and which attributes may refer
 * to others. It takes one resource at a time, and keeps none.
 */
import { fitId, type IdKind, reservedIds } from "../collection/ids.ts";
import { parseObject } from "../import/item-reader.ts";
import type { Item } from "../import/items.ts";
import { defaultJsonLimits } from "../json/values.ts";
import type { IdTable } from "./id-table.ts";
import { createContext, Shape, valueOfText } from "./shape.ts";

/** An attribute whose name says that it contains ids. */
const referenceName = /^(.+?)(?:_ids?|Ids?|IDs?)$/;

/** What an attribute refers to by its name: `post` for `postId`, `post_id` and `postIds`; `undefined` for other names. */
export function referredName(attribute: string): string | undefined {
  return referenceName.exec(attribute)?.[1];
}

/** The member with the ids of other databases. It counts if no resource has an `id`, and all have this. */
const otherId = "_id";

/** Where the resources come from. */
interface Origin {
  /** Whether all values are texts, as in CSV. */
  isText?: boolean;
  /** The kind of the ids in a store. @default the data shows it */
  idKind?: IdKind;
}

/** What one collection contains. */
export class Survey {
  readonly name: string;
  readonly shape: Shape;
  readonly #table: IdTable;
  readonly #isText: boolean;
  readonly #knownKind: IdKind | undefined;
  #count = 0;
  #integers = 0;
  #texts = 0;
  #withOtherId = 0;
  #unfit = 0;
  #unfitExample: unknown;
  #invalid = 0;
  #invalidExample = "";

  constructor(name: string, table: IdTable, { isText = false, idKind }: Origin = {}) {
    this.name = name;
    this.#table = table;
    this.#isText = isText;
    this.#knownKind = idKind;
    this.shape = new Shape(createContext({ isText }));
  }

  /** The number of resources. */
  get count(): number {
    return this.#count;
  }

  /** The kind of ids: integers if all are; `undefined` if no resource has an id. */
  get idKind(): IdKind | undefined {
    if (this.#knownKind !== undefined) return this.#knownKind;
    if (this.#texts + this.#unfit > 0) return "uuid";
    return this.#integers > 0 ? "integer" : undefined;
  }

  /** Whether some ids are numbers and others are texts. */
  get hasMixedIds(): boolean {
    return this.#integers > 0 && this.#texts > 0;
  }

  /** The member with the ids, if it is another one than `id`. */
  get idMember(): string | undefined {
    const isUniform = this.#count > 0 && this.#withOtherId === this.#count;
    return isUniform ? otherId : undefined;
  }

  /** Whether the ids of all resources are known, so that others can refer to them. */
  get hasKnownIds(): boolean {
    return this.#withOtherId === 0 || this.idMember !== undefined;
  }

  /** The ids that no collection can have, and one of them. */
  get unfit(): { count: number; example: unknown } {
    return { count: this.#unfit, example: this.#unfitExample };
  }

  /** The items that are no resources, and what is wrong with the first. */
  get invalid(): { count: number; example: string } {
    return { count: this.#invalid, example: this.#invalidExample };
  }

  /** Takes an item of an input. */
  take(item: Item): void {
    if (item.kind === "refused") return; // only a conversion refuses items, and none was asked for
    const value = item.kind === "text" ? parseObject(item, defaultJsonLimits) : item.reason;
    if (typeof value !== "string") this.add(value, `line ${item.location.line}`);
    else if (this.#invalid++ === 0) this.#invalidExample = `line ${item.location.line}: ${value}`;
  }

  /** Takes a resource. `place`: where it is, in case that it has no id. */
  add(resource: Readonly<Record<string, unknown>>, place: string): void {
    this.#count++;
    const { id = this.#otherIdOf(resource), ...attributes } = this.#isText ? valuesIn(resource) : resource;
    const holder = this.#noteId(id) ?? place;
    this.shape.add(attributes);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || referredName(name) === undefined || name === otherId) continue;
      for (const each of [value].flat()) this.#table.addValue(this.name, name, each, holder);
    }
  }

  #otherIdOf(resource: Readonly<Record<string, unknown>>): unknown {
    const id = resource[otherId];
    if (typeof id !== "string" && !Number.isSafeInteger(id)) return undefined;
    this.#withOtherId++;
    return id;
  }

  /** Notes an id. Returns how messages name the resource. */
  #noteId(id: unknown): string | undefined {
    if (id === undefined) return undefined;
    const fit = fitId("uuid", id);
    if (fit === undefined || reservedIds.has(fit)) {
      if (this.#unfit++ === 0) this.#unfitExample = id;
    } else if (typeof id === "number") this.#integers++;
    else this.#texts++;
    if (typeof id !== "string" && typeof id !== "number") return undefined;
    this.#table.addId(this.name, String(id));
    return `${this.name}/${id}`;
  }
}

/** The values that the cells of a row mean. A name with dots leads into inner objects. */
function valuesIn(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === "string" ? valueOfText(value) : valuesIn(value as Record<string, unknown>),
    ]),
  );
}
