/** The keys of values that are compared by what they mean: dates by their instants, and exact numbers by their values. */
import { exactKeyOf, isExactKey } from "./exact-numbers.ts";
import { type InstantForm, instantKeyOf, isInstantKey } from "./instants.ts";

/** What values mean. */
export type Meaning = InstantForm | "exact";

/** What a schema can declare that values mean. */
export type DeclaredMeaning = "date" | "exact";

/** The key of what a value means; `undefined` if it means nothing of this kind. */
export function comparedKeyOf(value: unknown, as: Meaning): string | undefined {
  return as === "exact" ? exactKeyOf(value) : instantKeyOf(value, as);
}

/** Whether a text is a key as `comparedKeyOf` makes it. */
export function isComparedKey(text: string): boolean {
  return isInstantKey(text) || isExactKey(text);
}
