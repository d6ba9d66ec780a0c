/** Regular expressions of schemas, with an engine (RE2) whose time is linear in the length of the text. */
import { RE2JS } from "re2js";

/** A compiled pattern, with the methods that Ajv uses. */
export interface Pattern {
  test(text: string): boolean;
  /** The source. Ajv uses it as a key. */
  toString(): string;
}

/** Returns a function that compiles each pattern once. It throws an Error if the pattern is invalid or not supported. */
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
  // RE2 also allows notations that ECMA-262 does not have, such as \A or (?i). A schema uses ECMA-262.
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

/** Long names of Unicode categories, with the short names that RE2 knows. */
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

/** Translates `\p{Letter}` and `\p{Script=Greek}` to the notation of RE2: `\p{L}` and `\p{Greek}`. */
function withShortClasses(source: string): string {
  return source.replace(
    /\\(?:\\|([pP])\{(?:(?:General_Category|gc|Script|sc)=)?(\w+)\})/g,
    (whole, sign: string | undefined, name: string) =>
      sign === undefined ? whole : `\\${sign}{${Object.hasOwn(categories, name) ? categories[name] : name}}`,
  );
}
