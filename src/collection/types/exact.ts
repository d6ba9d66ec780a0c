/** Exact numbers: texts with the format "decimal" or "int64", compared by their values (`../exact-numbers.ts`). */
import {
  exactKeyOf,
  exactOf,
  isDecimal,
  isExactKey,
  isExactSql,
  isInt64,
  maxDigits,
  sumOfExact,
  textOfExact,
  textOfNumber,
} from "../exact-numbers.ts";
import { ofNumber } from "../format.ts";
import { shortJson } from "../messages.ts";
import type { DeclaredType } from "./declared-type.ts";

const form = "exact";

/** Exact numbers. */
export const exact: DeclaredType<"exact"> = {
  name: "exact",
  what: "an exact number",
  expected: `a number, with at most ${maxDigits} digits and no exponent`,
  jsonTypes: ["string"],
  formats: {
    int64: {
      test: (value) =>
        typeof value === "string" ? isInt64(value) : ofNumber(Number.isInteger, "").test(value),
      expected: "a 64-bit whole number",
      texts: [form],
      example: "9007199254740993",
    },
    decimal: {
      test: (value) => typeof value !== "string" || isDecimal(value),
      expected: `a decimal number such as -12.50, with at most ${maxDigits} digits and no exponent`,
      texts: [form],
      example: "19.90",
      whyNoNumbers: "numbers are not exact",
    },
  },
  isNatural: true,
  hasUnits: false,
  arithmetic: {
    zero: "0",
    expected: `an exact number with at most ${maxDigits} digits, such as "12.50"`,
    operandOf(value) {
      const text = typeof value === "number" ? textOfNumber(value) : value;
      return typeof text === "string" && isDecimal(text) ? text : undefined;
    },
    sum(a, b) {
      const sum = textOfExact(sumOfExact(exactOf(a), exactOf(b)));
      if (isDecimal(sum)) return sum;
      const digits = sum.replace(/[-.]/g, "").length;
      return { fault: `a number of ${digits} digits, but an exact number has at most ${maxDigits}` };
    },
  },
  keyOf: exactKeyOf,
  isKey: isExactKey,
  isValue: isDecimal,
  operandKey: (written) => exactKeyOf(typeof written === "number" ? textOfNumber(written) : written),
  whyNoOperand(written) {
    const hint = /^ [0-9]/.test(String(written)) ? '. In a URL, write "+" as %2B' : "";
    return `is an exact number and cannot be compared with ${shortJson(written)}. Write a number such as -12.50, with at most ${maxDigits} digits and no exponent${hint}`;
  },
  postgresKey: (type, text) =>
    `(case when ${type} = 'string' and ${isExactSql(text)} then ${keySql(text)} end collate "C")`,
};

/** The key of an exact number, as `keyOfExact` makes it. */
function keySql(t: string): string {
  const whole = `ltrim(split_part(${t}, '.', 1), '+-0')`;
  const digits = `rtrim(${whole} || split_part(${t}, '.', 2), '0')`;
  const size = `lpad(length(${whole})::text, 2, '0') || ${digits}`;
  return `case when ${digits} = '' then '='
    when left(${t}, 1) = '-' then '<' || translate(${size}, '0123456789', '9876543210') || '~' else '>' || ${size} end`;
}
