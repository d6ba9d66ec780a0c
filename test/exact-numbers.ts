/** Exact numbers for tests: many are equal in another form, and some texts are almost numbers. */
import fc from "fast-check";

const digits = (length: number, zeros = "") =>
  zeros + "12345678901234567890123456789012345678".slice(zeros.length, length);

const nearDigits = fc.constantFrom(
  "0",
  "00",
  "1",
  "01",
  "9",
  "10",
  "100",
  "12",
  "99",
  "123",
  digits(19),
  digits(37),
);
const fraction = fc.constantFrom("", "", ".0", ".00", ".1", ".10", ".5", ".05", ".001", ".999", ".125");

/** Exact numbers near each other. */
export const nearExact: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(fc.constantFrom("", "", "-", "-", "+"), nearDigits, fraction)
    .map(([sign, whole, rest]) => `${sign}${whole}${rest}`)
    .filter((text) => text.replace(/[-+.]/g, "").length <= 38),
  fc.constantFrom(
    digits(38),
    `-${digits(38)}`,
    `0.${digits(37)}`,
    `-0.${digits(37, "00000")}`,
    `${"9".repeat(37)}.9`,
    "9223372036854775807",
    "-9223372036854775808",
  ),
);

/** Texts that are no exact numbers. */
export const almostExact = [
  `${digits(38)}0`,
  `0.${digits(38)}`,
  "",
  "-",
  "+",
  ".5",
  "5.",
  "1.0.0",
  "--1",
  "+-1",
  "1e5",
  "1E5",
  "0x10",
  " 1",
  "1 ",
  "1\n",
  "1,5",
  "1_000",
  "Infinity",
  "NaN",
  "٣",
  "１",
  "1.٣",
] as const;

/** The number, multiplied by ten to the power of 40. The tests compare and add these. */
export function scaledExact(text: string): bigint {
  const sign = text.startsWith("-") ? -1n : 1n;
  const [whole = "", rest = ""] = text.replace(/^[-+]/, "").split(".");
  return sign * BigInt(whole + rest.padEnd(40, "0"));
}
