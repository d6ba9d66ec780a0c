/**
 * A type of values that a schema declares with a format, and that are compared by what they mean, such as dates. Each type is one object
 * in one file. `declared-types.ts` lists them. Everything else asks the object and does not know its name.
 */
import type { Format } from "../format.ts";
import type { TimeZone } from "../time-zones.ts";

/** A value of a filter. */
type Written = string | number | boolean | null;

/** A format that declares the type. */
export interface DeclaredFormat extends Format {
  /** The forms that texts of this format have. A form belongs to one type. `undefined`: it says nothing about texts. */
  texts?: readonly string[];
  /** The same for numbers of JSON. */
  numbers?: readonly string[];
  /** A text with this format, for the examples of documents. */
  example?: string;
  /** Why values cannot be numbers of JSON. A schema with the format must then declare strings. */
  whyNoNumbers?: string;
}

/** How numbers are added that are texts (`isDecimal`). */
export interface Arithmetic {
  readonly zero: string;
  /** Completes “must be …”. */
  readonly expected: string;
  /** The text of a number that an operand means; `undefined` if it means none. */
  operandOf(value: unknown): string | undefined;
  /** The sum of two numbers. If the sum is no such number, `fault` says why, and completes “would make …”. */
  sum(a: string, b: string): string | { fault: string };
}

/** Values that are compared by what they mean. */
export interface ComparedValues {
  /**
   * The key of a value; `undefined` if it is no value of the type. Keys have the order of the values by code point, and equal values have equal
   * keys. No character of a key is less than "!".
   */
  keyOf(value: unknown): string | undefined;
  /**
   * The same key in the SQL of PostgreSQL, from the type of a value as `json_typeof` names it, and its text; null if it is no value of the
   * type. It must not fail for any value. SQLite calls `keyOf`.
   */
  postgresKey(type: string, text: string): string;
}

/** A type that a schema can declare. */
export interface DeclaredType<Name extends string = string> extends ComparedValues {
  /**
   * Its name in sort keys, conditions and declarations that stores keep, and the code of a violation in a filter. `time` and `natural` are
   * taken.
   */
  readonly name: Name;
  /** Completes “is …”. */
  readonly what: string;
  /** Completes “must be …”, about a value in a query string. */
  readonly expected: string;
  /** The JSON types of its values. */
  readonly jsonTypes: readonly ("string" | "number")[];
  /** The form of numbers beside its texts, if their format says nothing. @default it has no numbers of JSON */
  readonly numberForm?: string;
  /** The formats that declare it, by name. */
  readonly formats: Readonly<Record<string, DeclaredFormat>>;
  /** Whether a list can sort its texts in natural order. */
  readonly isNatural: boolean;
  /** Whether values can be grouped by units of dates. Their keys then begin with a time, as `YYYY-MM-DDThh:mm`. */
  readonly hasUnits: boolean;
  /** How its values are added. @default they are not */
  readonly arithmetic?: Arithmetic;
  /** Whether a text is a key of the type. No text is a key of two types. */
  isKey(text: string): boolean;
  /** The parts of a key in an index: a number, and a text after it. @default the key alone */
  split?(key: string): { number: number; rest: string };
  /** Whether a text has one of these forms. */
  isValue(text: string, forms: ReadonlySet<string>): boolean;
  /**
   * The key of a value of a filter; `undefined` if it is no value of the type in these forms. `isText`: it comes from a query string, where
   * every value is a text. Nobody passes null and booleans.
   */
  operandKey(
    written: string | number,
    how: { forms: ReadonlySet<string>; isText: boolean },
  ): string | undefined;
  /** Why a value cannot be compared. Completes a sentence that begins with the attribute. */
  whyNoOperand(written: Written): string;
  /** The key of a value that depends on the time of the request. `now`: Unix time in milliseconds. @default no value does */
  relativeKey?(written: Written, now: () => number, zone: TimeZone | undefined): string | undefined;
}
