/**
 * Imports by a unique key: an item changes the resource that has its values, and without one it is a new resource. Attributes that the
 * item leaves out keep their values.
 */
import { isDeepStrictEqual } from "node:util";
import { formatPath } from "../collection/paths.ts";
import { resourceText } from "../collection/resource.ts";
import { clientAttributes, withTimestamps } from "../collection/timestamps.ts";
import { pathsOf, type Unique } from "../collection/unique.ts";
import type { Violation } from "../errors.ts";
import { toFragment } from "../json/pointer.ts";
import { uniqueValue } from "../query/unique-values.ts";
import { takenDetail } from "../store/core/commits/refusals.ts";
import type { Holder, ImportedResource, Load } from "../store/port/store.ts";
import { type ItemReader, type Merged, newAttributes, type Row } from "./item-reader.ts";
import { type InputLocation, withValue } from "./items.ts";

/** A resource to write. `id` is `undefined` if the collection must generate an integer. */
export interface Settled extends Omit<ImportedResource, "id" | "text"> {
  location: InputLocation;
  id: string | undefined;
  /** The text with its id. */
  textWith(id: string): string;
}

type Item = Row & { value: Record<string, unknown>; key: string };

/** The items of one import by a unique key. */
export class Merge {
  readonly #transaction: Load;
  readonly #reader: ItemReader;
  readonly #unique: Unique;
  /** How many resources were the same already, and how many were changed. */
  readonly merged: Merged = { changed: 0, same: 0 };

  constructor(transaction: Load, reader: ItemReader, unique: Unique) {
    this.#transaction = transaction;
    this.#reader = reader;
    this.#unique = unique;
  }

  /** Decides what each item writes. The reader notes the invalid ones. */
  async settle(rows: readonly Row[]): Promise<Settled[]> {
    const items = this.#withKeys(rows);
    const keys = items.map(({ key }) => key);
    const holders = keys.length === 0 ? [] : await this.#transaction.holders(this.#unique, keys);
    return items.flatMap((item, n) => {
      const holder = holders[n];
      return (holder === undefined ? this.#made(item) : this.#changed(item, holder)) ?? [];
    });
  }

  /** The items that have the key, each only once. */
  #withKeys(rows: readonly Row[]): Item[] {
    const seen = new Set<string>();
    return rows.flatMap((row) => {
      const text = row.id === undefined ? `{"id":0${row.text}` : row.text;
      const value = JSON.parse(text) as Record<string, unknown>;
      const key = uniqueValue(value, this.#unique);
      if (key === undefined) {
        const names = pathsOf(this.#unique).map(formatPath).join(" and ");
        this.#refuse(row, value, "required", `is needed, because the import finds resources by ${names}`);
        return [];
      }
      if (seen.has(key)) {
        this.#refuse(row, value, "unique", takenDetail([], "an earlier resource of the input"));
        return [];
      }
      seen.add(key);
      return [{ ...row, value, key }];
    });
  }

  #made({ location, id, value }: Item): Settled | undefined {
    const { collection, at, newUuid, invalid } = this.#reader;
    const attributes = newAttributes(collection, value, at);
    if (Array.isArray(attributes)) {
      invalid.add(location, attributes);
      return undefined;
    }
    if (id === undefined) this.#reader.noteNewId(location);
    return {
      location,
      id: id ?? (collection.idKind === "uuid" ? newUuid() : undefined),
      textWith: (finalId) => resourceText(collection.idKind, finalId, attributes),
    };
  }

  #changed({ location, id, value }: Item, holder: Holder): Settled | undefined {
    const { collection, at, invalid } = this.#reader;
    if (holder.isImported) {
      this.#refuse({ location }, value, "unique", takenDetail([], "an earlier resource of the input"));
      return undefined;
    }
    const before = clientAttributes(collection, JSON.parse(holder.text) as Record<string, unknown>);
    const next = { ...before, ...clientAttributes(collection, value) };
    const isOther = id !== undefined && id !== holder.id;
    const detail = `must be that of the resource with the same key, ${JSON.stringify(holder.id)}, or left out`;
    const violations: Violation[] = [
      ...(isOther ? [{ in: "body", pointer: "#/id", code: "const", detail } as const] : []),
      ...collection.validate(next, () => before),
    ];
    if (violations.length > 0) {
      invalid.add(
        location,
        violations.map((each) => withValue(each, value)),
      );
      return undefined;
    }
    if (isDeepStrictEqual(next, before)) {
      this.merged.same++;
      return undefined;
    }
    const attributes = collection.timestamps ? withTimestamps(next, at, holder) : next;
    const textWith = (finalId: string) => resourceText(collection.idKind, finalId, attributes);
    return { location, id: holder.id, replaces: holder.version, textWith };
  }

  #refuse({ location }: Pick<Row, "location">, value: object, code: string, detail: string): void {
    const violations = pathsOf(this.#unique).map((path) => {
      const violation = { in: "body", pointer: toFragment(path), code, detail } as const;
      return withValue(violation, value);
    });
    this.#reader.invalid.add(location, violations);
  }
}
