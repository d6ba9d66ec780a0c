/**
 * The items of an import: the text of each resource, with its location in the input. `read-json.ts` and `read-csv.ts` find them
 * while the bytes arrive. They do not check whether an item is a valid resource.
 */
import { shortJson } from "../collection/messages.ts";
import type { Violation } from "../errors.ts";
import { parseFragment } from "../json/pointer.ts";
import type { ImportOptionName } from "./options.ts";

/** A place in the input. */
export interface InputLocation {
  line: number;
  /** The number of the element in its array, from 1; `undefined` in NDJSON and CSV. */
  element?: number;
}

/**
 * The text of one resource, or the reason why the input has none there. After a `broken` item, the rest of the input cannot
 * be divided into items. With `isGenerated`, the text was made from a CSV row: lines and columns in it are not those of the
 * input. A `refused` item has attributes whose cells cannot be converted.
 */
export type Item =
  | { kind: "text"; location: InputLocation; bytes: Buffer; isGenerated?: true }
  | { kind: "invalid"; location: InputLocation; reason: string }
  | { kind: "refused"; location: InputLocation; violations: readonly ItemViolation[] }
  | { kind: "broken"; location: InputLocation; reason: string };

/** The text of one resource. */
export type TextItem = Extract<Item, { kind: "text" }>;

/** Some items, and how much of the input has been read. */
export interface Items {
  items: readonly Item[];
  bytesRead: number;
}

/** How to set an option of an import, for a message: `add --delimiter ";"`. */
export type Advice = (option: ImportOptionName, value: string) => string;

/** Divides an input into items. */
export interface Splitter {
  /** Takes more bytes, and returns the items that they complete. */
  push(chunk: Buffer): Item[];
  /** Returns the items that the end of the input completes. */
  end(): Item[];
}

/** What is wrong with an item. */
export interface ItemViolation extends Violation {
  /** The wrong value as JSON, if it is a string, a number, a boolean or null. A long one is cut off. */
  value?: string;
}

/** The most characters of a string in a report. */
const maxValue = 100;

/** Adds the wrong value to a violation of a resource. */
export function withValue(violation: Violation, resource: unknown): ItemViolation {
  const { pointer } = violation;
  const value = pointer === undefined ? undefined : parseFragment(pointer).reduce(memberOf, resource);
  if (value === undefined || (typeof value === "object" && value !== null)) return violation;
  return { ...violation, value: shownValue(value) };
}

/** A value in a report, as JSON. A long one is cut off. */
export function shownValue(value: unknown): string {
  return shortJson(typeof value === "string" ? value.slice(0, maxValue) : value);
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** What is wrong with an item whose text is not that of a resource. */
export function faultOf(detail: string): Violation {
  return { in: "body", code: "item", detail };
}

/** The item for a text that is larger than the limit. */
export function tooLarge(location: InputLocation, maxBytes: number): Item {
  return { kind: "invalid", location, reason: `is larger than the limit of ${maxBytes} bytes` };
}
