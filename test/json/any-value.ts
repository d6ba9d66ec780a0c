/** Random JSON values of every kind that the service keeps. */
import fc from "fast-check";
import { anyCharacter } from "../characters.ts";

/** Strings of every plane, without what cannot be kept: lone surrogates and the null character. */
const text = fc.string({ unit: anyCharacter, maxLength: 12 }).filter((s) => !s.includes("\0"));
/** Numbers that JSON can spell without an integer beyond 2^53-1. */
const number = fc
  .oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.maxSafeInteger())
  .filter((n) => !/^-?\d+$/.test(JSON.stringify(n)) || Number.isSafeInteger(n));
const name = fc.oneof(
  text,
  fc.constantFrom("__proto__", "constructor", "toString", "1", "01", "", "a.b", "a/b", "~"),
);

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    number,
    text,
    fc.array(tie("value"), { maxLength: 4 }),
    tie("object"),
  ),
  object: fc.dictionary(name, tie("value"), { maxKeys: 5 }),
}));
/** The attributes of a resource: any object without the member `id`. */
export const jsonAttributes = fc.dictionary(
  name.filter((n) => n !== "id"),
  value,
  { maxKeys: 6 },
);
