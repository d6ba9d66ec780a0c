/** The order of lists, the same as in the service. The reference of lists describes it under "Sorting". */

/** Compares two resources: negative if `a` comes first, zero only if the ids are equal. */
export type Compare = (a: object, b: object) => number;

/** The number of characters of a text that count. */
const sortedCharacters = 128;

/**
 * The order of a sort such as `["-views", "title"]`. If all keys are equal, the ids decide in ascending order. `exact`: the
 * attributes whose texts are exact numbers.
 */
export function compareBy(sort: readonly string[], exact: readonly string[] = []): Compare {
  const keys = [...sort, "id"].map((key) => {
    const name = nameOfKey(key);
    const sign = key.startsWith("-") ? -1 : 1;
    const [, nulls] = nullsEnd.exec(key) ?? [];
    const nullsSign = nulls === undefined ? sign : nulls === "first" ? 1 : -1;
    return { path: name.split("."), sign, nullsSign, isExact: exact.includes(name) };
  });
  return (a, b) => {
    for (const { path, sign, nullsSign, isExact } of keys) {
      const [one, other] = [valueAt(a, path), valueAt(b, path)].map((each) =>
        isExact ? (exactValue(each) ?? each) : each,
      );
      const order = compareValues(one, other);
      if (order !== 0) return (isNull(one) || isNull(other) ? nullsSign : sign) * order;
    }
    return 0;
  };
}

const nullsEnd = /:nulls(first|last)$/;

/** The attribute of a sort key. */
export function nameOfKey(key: string): string {
  return key.replace(/^[+-]/, "").replace(nullsEnd, "");
}

function isNull(value: unknown): boolean {
  return value === null || value === undefined;
}

/** An exact number, multiplied by ten to the power of 38. `undefined` for any other value. */
function exactValue(value: unknown): bigint | undefined {
  const [, sign, whole = "", rest = ""] =
    (typeof value === "string" && /^([+-]?)([0-9]+)(?:[.]([0-9]+))?$/.exec(value)) || [];
  if (whole === "" || whole.length + rest.length > exactDigits) return undefined;
  const digits = BigInt(whole + rest.padEnd(exactDigits, "0"));
  return sign === "-" ? -digits : digits;
}

const exactDigits = 38;

function compareValues(a: unknown, b: unknown): number {
  if (typeof a === "bigint" && typeof b === "bigint") return a < b ? -1 : Number(a > b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
  return rankOf(a) - rankOf(b);
}

function rankOf(value: unknown): number {
  if (isNull(value)) return 0;
  if (typeof value === "boolean") return value ? 2 : 1;
  if (typeof value === "number") return 3;
  if (typeof value === "bigint") return 6;
  return typeof value === "string" ? 4 : 5;
}

/** Compares by code point. `<` compares UTF-16 units, which puts 😀 before U+FFFD. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const [these, those] = [a, b].map((text) => Array.from(text.slice(0, 2 * sortedCharacters)));
  for (let n = 0; n < sortedCharacters; n++) {
    const [one, other] = [these?.[n], those?.[n]].map((character) => character?.codePointAt(0) ?? -1);
    if (one !== other) return (one as number) - (other as number);
  }
  return 0;
}

function valueAt(resource: object, path: readonly string[]): unknown {
  let value: unknown = resource;
  for (const name of path) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    if (!Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
