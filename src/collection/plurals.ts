/**
 * Plurals of English nouns: which collection an attribute such as `postId` means, and how a relation is called. A wrong plural only
 * costs a name: nothing is found by it.
 */

/** Plurals that no rule makes. A longer word can end with one: `salesperson`. */
const irregular: readonly (readonly [singular: string, plural: string])[] = [
  ["person", "people"],
  ["child", "children"],
  ["human", "humans"],
  ["woman", "women"],
  ["man", "men"],
  ["foot", "feet"],
  ["tooth", "teeth"],
  ["mouse", "mice"],
  ["analysis", "analyses"],
  ["criterion", "criteria"],
];

/** Words that are the same in both numbers, or that only look like plurals. */
const unchanged =
  /(?:news|series|species|status|address|process|access|bus|gas|lens|analysis|sheep|fish|info|staff|data|media|specimen)$/i;

/** Endings of a singular and of its plural. The first that fits counts. */
const plurals: readonly (readonly [RegExp, string])[] = [
  [/([^aeiou])y$/i, "$1ies"],
  [/(s|x|z|ch|sh)$/i, "$1es"],
  [/(l|r|ea|oa|ol)f$/i, "$1ves"],
  [/([ln]i|wi|kni)fe$/i, "$1ves"],
  [/$/, "s"],
];

const singulars: readonly (readonly [RegExp, string])[] = [
  [/([^aeiou])ies$/i, "$1y"],
  [/(ss|x|zz|ch|sh|\bbus|\bgas|lens)es$/i, "$1"],
  [/(l|r|ea|oa|ol)ves$/i, "$1f"],
  [/([ln]i|wi|kni)ves$/i, "$1fe"],
  [/([^su])s$/i, "$1"],
];

/** The plural of a noun, such as `categories`. */
export function pluralOf(word: string): string {
  return replaceIrregular(word, 0) ?? replaceFirst(word, plurals);
}

/** The singular of a noun; the same word if it is not a plural. */
export function singularOf(word: string): string {
  if (unchanged.test(word)) return word;
  return replaceIrregular(word, 1) ?? replaceFirst(word, singulars);
}

/** Whether a noun is a plural. */
export function isPlural(word: string): boolean {
  return singularOf(word) !== word;
}

/** The word with the other number, if it ends with an irregular one. */
function replaceIrregular(word: string, from: 0 | 1): string | undefined {
  const found = irregular.find((pair) => word.toLowerCase().endsWith(pair[from]));
  if (found === undefined) return undefined;
  const start = word.length - found[from].length;
  const other = found[1 - from] as string;
  // `blogPerson` keeps its capital.
  const isCapital = word[start] !== word[start]?.toLowerCase();
  return word.slice(0, start) + (isCapital ? other[0]?.toUpperCase() + other.slice(1) : other);
}

function replaceFirst(word: string, rules: readonly (readonly [RegExp, string])[]): string {
  const rule = rules.find(([ending]) => ending.test(word));
  return rule === undefined ? word : word.replace(...rule);
}
