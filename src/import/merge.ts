/**
 * Imports by a unique key: an item changes the resource that has its values, and without one it is a new resource. Attributes that the
 * item leaves out keep their values.
 */
import { isDeepStrictEqual } from "node:util";
import type { Collection } from "../collection/collection.ts";
import { type Proposal, textOf } from "../collection/proposal.ts";
import { type Attributes, attributeViolation, resourceText } from "../collection/resource.ts";
import { clientAttributes, timestampViolations, withTimestamps } from "../collection/timestamps.ts";
import type { Unique } from "../collection/unique.ts";
import { completeProposal, type HooksOfRequest, hookedViolations } from "../collection/write-hooks.ts";
import type { Violation } from "../errors.ts";
import { uniqueValue } from "../query/unique-values.ts";
import type { Load } from "../store/port/store.ts";
import type { Stored } from "../store/port/stored.ts";
import { type ItemReader, type Merged, type Mirrored, proposeImported, type Row } from "./item-reader.ts";
import { type InputLocation, type ItemViolation, withValue } from "./items.ts";

/** What an item of an import by a unique key writes. */
export interface Written {
  /** `undefined` if the resource is new and the item has no id. */
  id: string | undefined;
  /** The version of the resource that it changes. @default it is new */
  replaces?: number;
  /** The text with its id. */
  textWith(id: string): string;
}

/** A resource to write. `id` is `undefined` if the collection must generate an integer. */
export interface Settled extends Written {
  location: InputLocation;
}

/** An item, and the resource of the collection that has its key. */
interface Item {
  id: string | undefined;
  value: Record<string, unknown>;
  holder: Stored | undefined;
  /** The attributes that keep their values, because they show what the account of a user has. */
  fixed: readonly string[];
}

/** The attributes that keep their values, for each of some resources. */
export async function fixedIn(
  holders: readonly (Stored | undefined)[],
  mirrored: Mirrored | undefined,
): Promise<readonly (readonly string[])[]> {
  if (mirrored === undefined) return holders.map(() => []);
  const having = await mirrored.having(holders.flatMap((holder) => holder?.id ?? []));
  return holders.map((holder) => (holder !== undefined && having.has(holder.id) ? mirrored.attributes : []));
}

/** The attributes of an item. Without an id, its text is what follows the id. */
export function itemValue({ id, text }: Pick<Row, "text"> & { id?: string | undefined }): Item["value"] {
  return JSON.parse(id === undefined ? `{"id":0${text}` : text) as Item["value"];
}

const showsAccount = "shows what the account of the user has: leave it out, or send its current value";

/** Where items are merged, and when. */
interface MergeContext {
  collection: Collection;
  at: number;
  hooks?: HooksOfRequest | undefined;
}

/** Decides what an item writes: nothing (`undefined`) if its resource stays the same, or what is wrong. */
export async function mergeItem(
  { collection, at, hooks }: MergeContext,
  { id, value, holder, fixed }: Item,
): Promise<Written | readonly ItemViolation[] | undefined> {
  if (holder === undefined) {
    const created = { operation: "create", id, previous: undefined } as const;
    const proposal = await completeProposal(proposeImported(collection, value, at), created, hooks);
    const violations = [
      ...timestampViolations(collection, value, at),
      ...(await hookedViolations(proposal, created, hooks)),
    ];
    if (violations.length > 0) return violations.map((each) => withValue(each, value));
    return { id, textWith: (finalId) => textOf(proposal, finalId) };
  }
  const before = clientAttributes(collection, JSON.parse(holder.text) as Record<string, unknown>);
  const updated = { operation: "update", id: holder.id, previous: holder.text } as const;
  const merged = proposeMerged({ collection, at }, { value, holder, before });
  const proposal = await completeProposal(merged, updated, hooks);
  const isOther = id !== undefined && id !== holder.id;
  const detail = `must be that of the resource with the same key, ${JSON.stringify(holder.id)}, or left out`;
  const violations: Violation[] = [
    ...(isOther ? [{ in: "body", pointer: "#/id", code: "const", detail } as const] : []),
    ...fixed
      .filter((name) => Object.hasOwn(value, name) && !isDeepStrictEqual(value[name], before[name]))
      .map((name) => attributeViolation(name, "readOnly", showsAccount)),
    ...(await hookedViolations(proposal, updated, hooks)),
  ];
  if (violations.length > 0) return violations.map((each) => withValue(each, value));
  if (isDeepStrictEqual(proposal.attributes, before)) return undefined;
  return { id: holder.id, replaces: holder.version, textWith: (finalId) => textOf(proposal, finalId) };
}

/** The resource with the attributes of the item. It keeps the others. */
function proposeMerged(
  { collection, at }: { collection: Collection; at: number },
  { value, holder, before }: { value: Item["value"]; holder: Stored; before: Attributes },
): Proposal {
  const time = Math.max(at, holder.updatedAt); // never before the last change, even if the clock was set back
  return {
    collection,
    attributes: { ...before, ...clientAttributes(collection, value) },
    before: () => before,
    textWith: (attributes, id) => {
      const all = collection.timestamps ? withTimestamps(attributes, time, holder) : attributes;
      return resourceText(collection.idKind, id, all);
    },
  };
}

/** The items of one import by a unique key, in one transaction. */
export class Merge {
  readonly #transaction: Load;
  readonly #reader: ItemReader;
  readonly #unique: Unique;
  readonly #mirrored: Mirrored | undefined;
  /** How many resources were the same already, and how many were changed. */
  readonly merged: Merged = { changed: 0, same: 0 };

  constructor(
    transaction: Load,
    reader: ItemReader,
    { unique, mirrored }: { unique: Unique; mirrored: Mirrored | undefined },
  ) {
    this.#transaction = transaction;
    this.#reader = reader;
    this.#unique = unique;
    this.#mirrored = mirrored;
  }

  /** Decides what each item writes. The reader notes the invalid ones. */
  async settle(rows: readonly Row[]): Promise<Settled[]> {
    const values = rows.map(itemValue);
    // The reader has found a key in each of them.
    const keys = values.map((value) => uniqueValue(value, this.#unique) as string);
    const holders = await this.#transaction.holders(this.#unique, keys);
    const fixed = await fixedIn(holders, this.#mirrored);
    const settled = await Promise.all(
      rows.map(({ id, location }, n) =>
        this.#settled(location, {
          id,
          value: values[n] as Item["value"],
          holder: holders[n],
          fixed: fixed[n] as Item["fixed"],
        }),
      ),
    );
    return settled.flat();
  }

  async #settled(location: InputLocation, item: Item): Promise<Settled | []> {
    const { collection, newUuid, invalid, at, hooks } = this.#reader;
    const written = await mergeItem({ collection, at, hooks }, item);
    if (written === undefined) {
      this.merged.same++;
      return [];
    }
    if (!("textWith" in written)) {
      invalid.add(location, written);
      return [];
    }
    if (written.id !== undefined) return { ...written, location };
    this.#reader.noteNewId(location);
    return { ...written, location, id: collection.idKind === "uuid" ? newUuid() : undefined };
  }
}
