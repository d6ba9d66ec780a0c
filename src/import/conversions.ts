/** Values as other programs write them in the cells of CSV: booleans, numbers, arrays and missing values. `times.ts` reads times. */

/** The conversions that an import can be asked for. */
export const conversionNames = ["booleans", "numbers", "times", "arrays", "nulls"] as const;

export type Conversion = (typeof conversionNames)[number];

const booleanWords: ReadonlyMap<string, "true" | "false"> = new Map([
  ["t", "true"],
  ["y", "true"],
  ["yes", "true"],
  ["true", "true"],
  ["f", "false"],
  ["n", "false"],
  ["no", "false"],
  ["false", "false"],
]);

/** Whether a cell without quotes is a missing value, as MySQL (`\N`), and other programs (`NULL`) write it. */
export function isNullWord(text: string): boolean {
  return text === "\\N" || text === "NULL";
}

/** Reads a boolean; `undefined` for another text. `withDigits`: 1 and 0 are booleans too. */
export function readBoolean(text: string, { withDigits }: { withDigits: boolean }): string | undefined {
  if (withDigits && (text === "1" || text === "0")) return String(text === "1");
  return text.length > 5 ? undefined : booleanWords.get(text.toLowerCase());
}

/** Reads a number with a decimal comma, as JSON; `undefined` for another text. */
export function readCommaNumber(text: string): { json: string } | { fault: string } | undefined {
  if (!/^-?[\d.]*\d,[\d.,]*\d$/.test(text)) return undefined;
  const [, before = "", after = ""] = /^-?(\d+),(\d+)$/.exec(text) ?? [];
  if (after === "")
    return {
      fault: text.includes(".")
        ? "has a comma and a point: write one of them, before the fraction"
        : "has several commas: write one, before the fraction",
    };
  if (after.length === 3 && /^[1-9]\d{0,2}$/.test(before)) {
    const [thousands, fraction] = [text.replace(",", ""), text.replace(",", ".")];
    return { fault: `can be ${thousands} or ${fraction}: write one of them` };
  }
  if (/^0\d/.test(before)) return { fault: "begins with a zero: leave it out" };
  return { json: text.replace(",", ".") };
}

/** An array of PostgreSQL: its elements, and arrays in it. */
export type PostgresArray = readonly (string | null | PostgresArray)[];

/** The most arrays in each other, as in PostgreSQL. */
const maxDimensions = 6;

/** Reads an array as PostgreSQL writes it, such as `{a,"b c",NULL}`; `undefined` for another text. */
export function readPostgresArray(text: string): PostgresArray | undefined {
  const token = /\s*(?:([{},])|"((?:[^"\\]|\\.)*)"|((?:[^{},"\\\s]|\\.|\s+(?![{},\s]|$))+))\s*/suy;
  const open: (string | null | PostgresArray)[][] = [];
  let root: PostgresArray | undefined;
  let isAfterValue = false;
  while (token.lastIndex < text.length) {
    const [whole, mark, quoted, plain] = token.exec(text) ?? [];
    const inner = open.at(-1);
    if (whole === undefined || root !== undefined) return undefined;
    if (mark === "{") {
      if (isAfterValue || open.length === maxDimensions) return undefined;
      const array: (string | null | PostgresArray)[] = [];
      inner?.push(array);
      open.push(array);
    } else if (inner === undefined) return undefined;
    else if (mark === ",") {
      if (!isAfterValue) return undefined;
      isAfterValue = false;
    } else if (mark === "}") {
      const isEmpty = inner.length === 0;
      if (isAfterValue === isEmpty) return undefined;
      open.pop();
      if (open.length === 0) root = inner;
      isAfterValue = true;
    } else {
      if (isAfterValue) return undefined;
      inner.push(plain !== undefined && /^null$/i.test(plain) ? null : withoutEscapes(quoted ?? plain ?? ""));
      isAfterValue = true;
    }
  }
  return root;
}

function withoutEscapes(text: string): string {
  return text.replace(/\\(.)/gsu, "$1");
}
