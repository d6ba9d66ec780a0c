/** Regular expressions of schemas, in time that grows with the text alone. */
import { RE2JS } from "re2js";

/** A compiled pattern, as Ajv uses it. */
export interface Pattern {
  test(text: string): boolean;
  /** Ajv tells patterns apart by this. */
  toString(): string;
}

/** Gives a function that compiles each pattern once. It throws an Error that says what is wrong with a pattern. */
export function createPatterns(): (source: string) => Pattern {
  const compiled = new Map<string, Pattern>();
  return (source) => {
    const known = compiled.get(source);
    if (known !== undefined) return known;
    const pattern = compilePattern(source);
    compiled.set(source, pattern);
    return pattern;
  };
}

function compilePattern(source: string): Pattern {
  // RE2 has notations that ECMA-262 has not, such as \A or (?i); a schema means ECMA-262.
  requireEcmaScript(source);
  const expression = toRe2(source);
  return { test: (text) => expression.test(text), toString: () => source };
}

function requireEcmaScript(source: string): void {
  try {
    new RegExp(source, "u");
  } catch {
    throw new Error(`${JSON.stringify(source)} is not a regular expression of ECMA-262 (with the flag u).`);
  }
}

function toRe2(source: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(withShortClasses(source)));
  } catch {
    throw new Error(
      `${JSON.stringify(source)} is not supported: look-around, back-references, repetitions above 1,000 and Unicode properties other than categories and scripts have no linear-time engine here.`,
    );
  }
}

/** Long names of Unicode categories that RE2 knows by their short ones. */
const categories: Readonly<Record<string, string>> = {
  Letter: "L",
  Lowercase_Letter: "Ll",
  Uppercase_Letter: "Lu",
  Titlecase_Letter: "Lt",
  Modifier_Letter: "Lm",
  Other_Letter: "Lo",
  Mark: "M",
  Nonspacing_Mark: "Mn",
  Number: "N",
  Decimal_Number: "Nd",
  Letter_Number: "Nl",
  Punctuation: "P",
  Symbol: "S",
  Currency_Symbol: "Sc",
  Math_Symbol: "Sm",
  Separator: "Z",
  Space_Separator: "Zs",
};

/** Writes `\p{Letter}` and `\p{Script=Greek}` as RE2 has them: `\p{L}`, `\p{Greek}`. */
function withShortClasses(source: string): string {
  return source.replace(
    /\\(?:\\|([pP])\{(?:(?:General_Category|gc|Script|sc)=)?(\w+)\})/g,
    (whole, sign: string | undefined, name: string) =>
      sign === undefined ? whole : `\\${sign}{${Object.hasOwn(categories, name) ? categories[name] : name}}`,
  );
}
