/** Characters for random texts. */
import fc from "fast-check";

/** Any code point but surrogates. fast-check's own `binary` is equal, but it takes more than a second to make. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .oneof(fc.nat(0x7f), fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((point) => String.fromCodePoint(point), pointOf);

function pointOf(character: unknown): number {
  if (typeof character !== "string" || [...character].length !== 1) throw new Error("not a character");
  return character.codePointAt(0) as number;
}
