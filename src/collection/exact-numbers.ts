/**
 * Exact numbers: texts with the format "decimal" or "int64". They are compared by their values, with keys. The keys of two
 * numbers have the order of the numbers by code point, and equal numbers have equal keys. Stores compute the same keys in SQL.
 */

/** The most digits of an exact number, as it is written. */
export const maxDigits = 38;

/** An exact number: `digits` divided by ten to the power of `scale`. */
export interface Exact {
  digits: bigint;
  /** How many digits are after the point. */
  scale: number;
}

const shape = /^([+-]?)([0-9]+)(?:[.]([0-9]+))?$/;
/** A sign, 38 digits and a point. */
const maxLength = maxDigits + 2;

/** Whether a text is a sign or none, up to 38 digits and perhaps a point between them: `12`, `-0.50`. */
export function isDecimal(text: string): boolean {
  if (text.length > maxLength) return false;
  const [, , whole, fraction = ""] = shape.exec(text) ?? [];
  return whole !== undefined && whole.length + fraction.length <= maxDigits;
}

/** `isDecimal` in the SQL of PostgreSQL. */
export function isExactSql(text: string): string {
  const isShort = `length(translate(${text}, '+-.', '')) <= ${maxDigits}`;
  return `(length(${text}) <= ${maxDigits + 2} and ${text} collate "C" ~ '^[+-]?[0-9]+([.][0-9]+)?$' and ${isShort})`;
}

/** Whether a text is a whole number from -2^63 to 2^63 - 1. */
export function isInt64(text: string): boolean {
  return (
    isDecimal(text) && !text.includes(".") && BigInt.asIntN(64, exactOf(text).digits) === exactOf(text).digits
  );
}

/** The key of the number that a value means; `undefined` if it is no text of an exact number. */
export function exactKeyOf(value: unknown): string | undefined {
  return typeof value === "string" && isDecimal(value) ? keyOfExact(value) : undefined;
}

/**
 * The key of a number with any number of digits. It begins with a sign: `<`, `=` for zero, or `>`. Then it has the number of digits
 * before the point, and all digits without zeros at the ends. Those of a negative number are subtracted from nine.
 */
export function keyOfExact(text: string): string {
  const [, sign, whole = "", fraction = ""] = shape.exec(text) ?? [];
  const wholeDigits = whole.replace(/^0+/, "");
  const digits = (wholeDigits + fraction).replace(/0+$/, "");
  if (digits === "") return "=";
  const size = String(wholeDigits.length).padStart(2, "0") + digits;
  return sign === "-" ? `<${size.replace(/[0-9]/g, (digit) => String(9 - Number(digit)))}~` : `>${size}`;
}

/** Whether a text is a key as `keyOfExact` makes it of a number with at most 38 digits. */
export function isExactKey(text: string): boolean {
  return /^(?:=|>[0-9]{3,40}|<[0-9]{3,40}~)$/.test(text);
}

/** A number of JSON without an exponent: 1e-7 is `0.0000001`. */
export function textOfNumber(value: number): string {
  const [mantissa = "", exponent] = String(value).split("e");
  if (exponent === undefined) return mantissa;
  const [, sign = "", whole = "", fraction = ""] = shape.exec(mantissa) ?? [];
  const point = whole.length + Number(exponent);
  const digits = whole + fraction;
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  const padded = digits.padEnd(point, "0");
  const rest = padded.slice(point);
  return `${sign}${padded.slice(0, point)}${rest === "" ? "" : `.${rest}`}`;
}

/** Reads a number in the form of `isDecimal`, with any number of digits. */
export function exactOf(text: string): Exact {
  const [, sign, whole = "", fraction = ""] = shape.exec(text) ?? [];
  const digits = BigInt(whole + fraction);
  return { digits: sign === "-" ? -digits : digits, scale: fraction.length };
}

/** The sum of two numbers. It has the larger scale of both. */
export function sumOfExact(a: Exact, b: Exact): Exact {
  const scale = Math.max(a.scale, b.scale);
  return { digits: scaled(a, scale) + scaled(b, scale), scale };
}

/** The number in the form of `isDecimal`. It can have more than 38 digits. */
export function textOfExact({ digits, scale }: Exact): string {
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, "0");
  const point = text.length - scale;
  return (digits < 0n ? "-" : "") + text.slice(0, point) + (scale === 0 ? "" : `.${text.slice(point)}`);
}

/** How many digits after the point an average has at most. */
export const averageScale = 12;

/** The sum divided by a count, rounded to 12 digits after the point, halves away from zero, and without zeros at the end. */
export function averageText(sum: Exact, count: number): string {
  const scale = Math.max(sum.scale, averageScale);
  const divisor = BigInt(count) * 10n ** BigInt(scale - averageScale);
  const digits = scaled(sum, scale);
  const size = ((digits < 0n ? -digits : digits) * 2n + divisor) / (divisor * 2n);
  return withoutZeros(textOfExact({ digits: digits < 0n ? -size : size, scale: averageScale }));
}

/** A text with a point, without the zeros at its end. */
export function withoutZeros(text: string): string {
  return text.replace(/\.?0+$/, "");
}

function scaled({ digits, scale }: Exact, to: number): bigint {
  return digits * 10n ** BigInt(to - scale);
}
