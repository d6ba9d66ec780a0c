/**
 * The kinds of conditions, one row for each: of which attributes a condition can be true, how the values of a request make it, when it is
 * true, its SQL, whether an index serves it, and its words. `operators.ts` has the names that requests use for them.
 */
import type { AttributeType } from "../collection/attributes.ts";
import { foldText } from "../collection/folding.ts";
import { shortJson } from "../collection/messages.ts";
import { itemName, type Path } from "../collection/paths.ts";
import { compareCodePoints, lowerAscii } from "../collection/text-comparison.ts";
import type { Meaning } from "../collection/types/declared-types.ts";
import { isObject } from "../json/values.ts";
import type { Filter } from "./filter.ts";

/** A value that an attribute is compared with. */
export type Scalar = string | number | boolean | null;

/** The kinds that need an order. */
export type OrderingKind = "gt" | "gte" | "lt" | "lte";

/** The kinds that compare whole values, so that dates and exact numbers are compared by what they mean. */
export type ComparingKind = "in" | OrderingKind;

/** The kinds that look into texts. */
export type TextKind = "startsWith" | "endsWith" | "ini" | "containsi" | "startsWithi";

/** A part of conditions that compare values by what they mean. */
interface Meanings {
  /** The values are keys, and the attribute (or the item of the array) counts as the key of the instant or number that it means. */
  as?: Meaning;
  /** What the client wrote, if a value depends on the time of the request. */
  relative?: string;
}

/**
 * One condition about an attribute. Only `exists: false` matches if the attribute is absent. With `as`, only
 * what means an instant or an exact number matches.
 */
export type Condition =
  | ({ kind: "in" | "contains"; path: Path; values: readonly Scalar[] } & Meanings)
  | ({ kind: OrderingKind; path: Path; values: readonly (string | number)[] } & Meanings)
  | { kind: TextKind; path: Path; values: readonly string[] }
  /** The paths of the filter start with `itemName`. */
  | { kind: "any"; path: Path; filter: Filter }
  | { kind: "exists"; path: Path; value: boolean };

/** The kinds of condition. */
export type ConditionKind = Condition["kind"];

type OfKind<K extends ConditionKind> = Condition & { kind: K };

/** The SQL about one attribute, as a store writes it. An expression is null, and a condition false or null, for values of other types. */
export interface AttributeSql {
  /** The string without the case of ASCII letters. */
  lowered(): string;
  /** The string as `foldText` makes it. */
  folded(): string;
  /** Conditions that compare the attribute, or the key of what it means. */
  equals(values: readonly Scalar[]): string;
  compares(kind: OrderingKind, value: string | number): string;
  exists(isExpected: boolean): string;
  /** Conditions that an array has an item: equal to one of the values, with a folded text that is equal, or an object that matches. */
  hasItem(values: readonly Scalar[]): string;
  hasFoldedItem(texts: readonly string[]): string;
  hasObject(filter: Filter): string;
  /** Conditions about a text of this attribute. */
  isOneOf(text: string, values: readonly string[]): string;
  contains(text: string, part: string): string;
  startsWith(text: string, part: string): string;
  endsWith(text: string, part: string): string;
  /** True if one of the conditions is true. */
  either(conditions: readonly string[]): string;
}

/** What a kind of condition is. */
interface ConditionRow<K extends ConditionKind> {
  /** The types of attributes that it can be true of. Equality with `null` is not included. */
  readonly types: readonly AttributeType[];
  /**
   * What is compared by what it means, if the schema declares a date or an exact number: the value, or each item of an array.
   * @default neither
   */
  readonly compares?: "value" | "item";
  /** How one value selects a range of an index. @default no index serves it */
  readonly range?: "equal" | "low" | "high";
  /** The condition for the values of a request; `undefined` if it could never be true. Absent if a request has no values for it. */
  make?(path: Path, values: readonly Scalar[]): OfKind<K> | undefined;
  /** Whether it is true of a value. `value`: with `as`, the key of what it means. `isMatch`: whether the filter of a condition matches an object. */
  isTrue(
    condition: OfKind<K>,
    value: unknown,
    isMatch: (filter: Filter, item: Record<string, unknown>) => boolean,
  ): boolean;
  /** Is true for exactly the resources for which `isTrue` is. For others, it is false or null. */
  sql(condition: OfKind<K>, sql: AttributeSql): string;
  /** Completes “must …”. */
  words(condition: OfKind<K>): string;
}

/** Whether two values compare in a way, from their order: negative, zero or positive. */
export const orders: Readonly<Record<OrderingKind, (order: number) => boolean>> = {
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
};

/** How texts are compared: what is compared of an attribute, of a part, and what a condition keeps of the values of a request. */
interface TextForm {
  ofText(text: string): string;
  ofPart(part: string): string;
  keep(values: readonly Scalar[]): string[];
  sql(sql: AttributeSql): string;
}

/** Without the case of ASCII letters. A condition keeps what the client wrote. */
const lowered: TextForm = {
  ofText: lowerAscii,
  ofPart: lowerAscii,
  keep: textsIn,
  sql: (sql) => sql.lowered(),
};

/** Folded. A condition keeps folded texts. */
const folded: TextForm = {
  ofText: foldText,
  ofPart: (part) => part,
  keep: foldedIn,
  sql: (sql) => sql.folded(),
};

/** All kinds. */
export const conditionTable: { readonly [K in ConditionKind]: ConditionRow<K> } = {
  /** The attribute equals one of the values, with the same type. Arrays and objects never match. */
  in: {
    types: ["boolean", "number", "string"],
    compares: "value",
    range: "equal",
    make: (path, values) => some({ kind: "in", path, values }),
    isTrue: ({ values }, value) => values.some((each) => each === value),
    sql: ({ values }, sql) => sql.equals(values),
    words: ({ values }) => listed("equal", values),
  },
  /** The attribute compares in this way with one of the values of its type. Strings are compared by code point. */
  gt: ordering("gt", "low", "be greater than"),
  gte: ordering("gte", "low", "be at least"),
  lt: ordering("lt", "high", "be less than"),
  lte: ordering("lte", "high", "be at most"),
  /** The attribute is a string that contains one of the values, ignoring ASCII case, or an array with an equal item. */
  contains: {
    types: ["string", "array"],
    compares: "item",
    make: (path, values) => some({ kind: "contains", path, values }),
    isTrue: ({ values }, value) =>
      Array.isArray(value)
        ? values.some((each) => value.includes(each))
        : typeof value === "string" &&
          textsIn(values).some((part) => lowerAscii(value).includes(lowerAscii(part))),
    sql: ({ values, as }, sql) =>
      sql.either([
        ...(as === undefined ? textsIn(values) : []).map((part) =>
          sql.contains(sql.lowered(), lowerAscii(part)),
        ),
        sql.hasItem(values),
      ]),
    words: ({ values }) => listed("contain", values),
  },
  /** The attribute is a string that starts or ends with one of the values, ignoring ASCII case. */
  startsWith: affix("startsWith", "start with", { at: "startsWith", form: lowered }),
  endsWith: affix("endsWith", "end with", { at: "endsWith", form: lowered }),
  /** The folded attribute equals, contains or starts with one of the values, which are folded. */
  ini: {
    types: ["string"],
    make: (path, values) => some({ kind: "ini", path, values: foldedIn(values) }),
    isTrue: ({ values }, value) => hasText(value, foldText, (text) => values.includes(text)),
    sql: ({ values }, sql) => sql.isOneOf(sql.folded(), values),
    words: ({ values }) => listed("equal, without regard to case and accents,", values),
  },
  /** Also true of an array with an item that equals a value when it is folded. */
  containsi: {
    types: ["string", "array"],
    make: (path, values) => some({ kind: "containsi", path, values: foldedIn(values) }),
    isTrue: ({ values }, value) =>
      Array.isArray(value)
        ? value.some((item) => hasText(item, foldText, (text) => values.includes(text)))
        : hasText(value, foldText, (text) => values.some((part) => text.includes(part))),
    sql: ({ values }, sql) =>
      sql.either([...values.map((part) => sql.contains(sql.folded(), part)), sql.hasFoldedItem(values)]),
    words: ({ values }) => listed("contain, without regard to case and accents,", values),
  },
  startsWithi: affix("startsWithi", "start, without regard to case and accents, with", {
    at: "startsWith",
    form: folded,
  }),
  /** The attribute is an array with an object that matches the filter. */
  any: {
    types: ["array"],
    isTrue: ({ filter }, value, isMatch) =>
      Array.isArray(value) && value.some((item) => isObject(item) && isMatch(filter, { [itemName]: item })),
    sql: ({ filter }, sql) => sql.hasObject(filter),
    words: () => "have an item that matches the filter",
  },
  /** The attribute exists, even if it is null; or it does not exist. */
  exists: {
    types: ["null", "boolean", "number", "string", "array", "object"],
    make: (path, [value]) => ({ kind: "exists", path, value: value === true }),
    isTrue: ({ value: isExpected }, value) => (value !== undefined) === isExpected,
    sql: ({ value }, sql) => sql.exists(value),
    words: ({ value }) => (value ? "exist" : "not exist"),
  },
};

/** The names of all kinds. */
export const conditionKinds = Object.keys(conditionTable) as readonly ConditionKind[];

/** The row of a condition. Its functions take this condition. */
export function rowOf<K extends ConditionKind>({ kind }: OfKind<K>): ConditionRow<K> {
  return conditionTable[kind] as ConditionRow<K>;
}

/** Whether a leaf of a filter is a condition. */
export function isCondition(leaf: { kind: string }): leaf is Condition {
  return Object.hasOwn(conditionTable, leaf.kind);
}

/** Whether a kind of condition compares whole values. */
export function isComparing(kind: ConditionKind): kind is ComparingKind {
  return conditionTable[kind].compares === "value";
}

/** The order of two values; `undefined` if they have different types. */
export function compareLike(a: unknown, b: string | number): number | undefined {
  if (typeof a === "number" && typeof b === "number") return a < b ? -1 : Number(a > b);
  return typeof a === "string" && typeof b === "string" ? compareCodePoints(a, b) : undefined;
}

function ordering<K extends OrderingKind>(kind: K, range: "low" | "high", words: string): ConditionRow<K> {
  const isExpected = orders[kind];
  return {
    types: ["number", "string"],
    compares: "value",
    range,
    make: (path, values) =>
      some({
        kind,
        path,
        values: values.filter((each) => typeof each === "string" || typeof each === "number"),
      }) as OfKind<K> | undefined,
    isTrue: (condition, value) =>
      condition.values.some((each) => {
        const order = compareLike(value, each);
        return order !== undefined && isExpected(order);
      }),
    sql: (condition, sql) => sql.either(condition.values.map((each) => sql.compares(kind, each))),
    words: (condition) => listed(words, condition.values),
  };
}

/** A kind that looks at the beginning or the end of a text. */
function affix<K extends TextKind>(
  kind: K,
  words: string,
  { at, form }: { at: "startsWith" | "endsWith"; form: TextForm },
): ConditionRow<K> {
  return {
    types: ["string"],
    make: (path, values) => some({ kind, path, values: form.keep(values) }) as OfKind<K> | undefined,
    isTrue: ({ values }, value) =>
      hasText(value, form.ofText, (text) => values.some((part) => text[at](form.ofPart(part)))),
    sql: ({ values }, sql) => sql.either(values.map((part) => sql[at](form.sql(sql), form.ofPart(part)))),
    words: ({ values }) => listed(words, values),
  };
}

/** The condition; `undefined` without values. */
function some<C extends { values: readonly Scalar[] }>(condition: C): C | undefined {
  return condition.values.length === 0 ? undefined : condition;
}

function textsIn(values: readonly Scalar[]): string[] {
  return values.filter((each) => typeof each === "string");
}

function foldedIn(values: readonly Scalar[]): string[] {
  return [...new Set(textsIn(values).map(foldText))];
}

/** Whether a value is a text that meets a condition when it is changed. */
function hasText(
  value: unknown,
  change: (text: string) => string,
  isMet: (text: string) => boolean,
): boolean {
  return typeof value === "string" && isMet(change(value));
}

/** `equal "a" or "b"`. */
function listed(words: string, values: readonly Scalar[]): string {
  const shown = values.slice(0, 5).map((each) => shortJson(each));
  const others = values.length > shown.length ? ["…"] : [];
  return `${words} ${[...shown, ...others].join(" or ")}`;
}
