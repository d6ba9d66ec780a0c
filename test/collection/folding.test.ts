import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fold, foldedTable, foldText } from "../../src/collection/folding.ts";

describe("folding", () => {
  test("has no case, accents and width, and expands letters as search does", () => {
    const pairs = [
      ["Crème BRÛLÉE", "creme brulee"],
      ["Straße", "strasse"],
      ["ＡＢＣ １２", "abc 12"],
      ["Łódź", "lodz"],
      ["ΟΔΟΣ ς", "οδοσ σ"],
      ["e\u0301a\u00add", "ead"],
      ["ｶﾞ か\u3099", "ガ が"],
      ["\u1112\u1161\u11ab", "한"],
      ["Ёлка", "елка"],
      ["a-b_c %", "a-b_c %"],
    ] as const;
    for (const [text, folded] of pairs) {
      assert.equal(foldText(text), folded);
      assert.equal(foldText(folded), folded, "again");
    }
  });

  test("is that of search for each character, and the table has all characters that it changes", () => {
    const { characters, folded } = foldedTable();
    const table = new Map(characters.map((character, n) => [character, folded[n]]));
    assert.equal(table.size, characters.length);
    for (let code = 0x80; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code);
      const isKnown = table.has(character) || /[\p{Cn}\p{Cs}\p{Co}]/u.test(character);
      if (!isKnown && fold(character) !== character) assert.fail(code.toString(16));
    }
  });

  test("takes no longer for a text of many marks", () => {
    const marks = "\u0e49\u0e38".repeat(100_000);
    assert.equal(foldText(`${marks}が`), `${marks}が`);
  });
});
