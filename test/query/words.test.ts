import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { foldText } from "../../src/collection/folding.ts";
import { createSplitting, maxWordLength, readTerms, termsOf, wordsOf } from "../../src/query/search-words.ts";
import { anyCharacter } from "../characters.ts";
import { ceilingMs } from "../until.ts";

const cases: [string, string][] = [
  ["don-quixote", "don quixote"],
  ["OR and NOT near", "or and not near"],
  ["o'neil O’Neil", "o neil o neil"],
  ['a"b*c (d:e) ^f -g', "a b c d e f g"],
  ["snake_case 3.14 2nd", "snake case 3 14 2nd"],
  ["Łódź Straße STRASSE ẞ", "lodz strasse strasse ss"],
  ["Ærøskøbing Þór ðaz đak œuvre", "aeroskobing thor daz dak oeuvre"],
  ["İstanbul ısı ISI", "istanbul isi isi"],
  ["café cafe\u0301 CAFÉ", "cafe cafe cafe"],
  ["ＦＵＬＬ１２ ﬁne x² ①", "full12 fine x2 1"],
  ["col·lega Ŀ", "collega l"],
  ["zu\u00adsammen a\u200bb", "zusammen a b"],
  ["ɓ ɖ ƙ ʔ", "b d k ʔ"],
  ["Привет Ёлка", "привет елка"],
  ["ΟΔΥΣΣΕΎΣ οδός", "οδυσσευσ οδοσ"],
  ["مُحَمَّد كتـاب أحمد", "محمد كتاب احمد"],
  ["می‌خواهم", "میخواهم"],
  ["שָׁלוֹם", "שלום"],
  ["हिन्दी में", "हिन्दी में"],
  ["தமிழ் ไทยภาษา", "தமிழ் ไทย ภาษา"],
  ["ประเทศไทยมีภาษาไทย", "ประเทศไทย มี ภาษา ไทย"],
  ["ทำน้ำ ไทย2026abc", "ทำ น้ำ ไทย 2026abc"],
  ["ພາສາລາວເປັນພາສາ", "ພາສາ ລາວ ເປັນ ພາສາ"],
  ["ខ្ញុំចង់រៀនភាសា", "ខ្ញុំ ចង់ រៀន ភាសា"],
  ["မြန်မာစာသည်ကောင်းသည်", "မြန်မာ စာ သည် ကောင်း သည်"],
  ["한국어 각", "한국어 각"],
  ["東京タワー ﾀﾜｰ", "東 京 タ ワ ー タ ワ ー"],
  ["がか か\u3099", "が か が"],
  ["日本2020年", "日 本 2020 年"],
  ["👍 !? … \u0000\ud800", ""],
  ["", ""],
];

for (const [text, words] of cases) {
  test(`the words of ${JSON.stringify(text)} are ${JSON.stringify(words)}`, () => {
    assert.equal(wordsOf(text).join(" "), words);
  });
}

test("the words of every letter are their own words, in either case and however the letter is composed", () => {
  for (let point = 1; point < 0x110000; point++) {
    const letter = String.fromCodePoint(point);
    if (!/[\p{L}\p{M}\p{N}]/u.test(letter)) continue;
    const words = wordsOf(letter);
    const same = [words.join(" "), letter.toUpperCase(), letter.toLowerCase(), letter.normalize("NFD")];
    for (const other of same) {
      assert.deepEqual(wordsOf(other), words, `U+${point.toString(16)}`);
    }
  }
});

const texts = fc.string({ unit: fc.constantFrom(..."aZ9 é-ßŁİςΣ\u0301\u0323ा़\u200d東か\u3099각한ﷺ'\"*👍") });

const unspaced = fc.string({ unit: fc.constantFrom(..."ประเทศไทยำํา่้๑ ພາສາລາວຳກ ភាសាខ្មែរ မြန်မာစာ a1") });

test("words have no blanks or ASCII but a-z and 0-9, and the words of words are the words themselves", () => {
  const property = (text: string) => {
    const words = wordsOf(text);
    for (const word of words) assert.match(word, /^(?:[a-z0-9]|[[\p{L}\p{M}\p{N}]--\p{ASCII}])+$/v);
    assert.deepEqual(wordsOf(words.join(" ")), words);
    for (const word of words) assert.deepEqual(wordsOf(word), [word]);
  };
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), property), { numRuns: 2_000 });
  fc.assert(fc.property(texts, property), { numRuns: 2_000 });
  fc.assert(fc.property(unspaced, property), { numRuns: 2_000 });
});

test("case and composition do not matter in whole texts", () => {
  const property = (text: string) => {
    const words = wordsOf(text);
    for (const form of ["NFC", "NFD", "NFKC", "NFKD"]) assert.deepEqual(wordsOf(text.normalize(form)), words);
    assert.deepEqual(wordsOf(text.toUpperCase()), words);
  };
  fc.assert(fc.property(texts, property), { numRuns: 2_000 });
});

test("of a long word only the first code points count", () => {
  assert.deepEqual(wordsOf("x".repeat(1_000)), ["x".repeat(maxWordLength)]);
  assert.deepEqual(wordsOf("𐐨".repeat(1_000)), ["𐐨".repeat(maxWordLength)]);
  assert.deepEqual(wordsOf("ab".repeat(maxWordLength / 2)), ["ab".repeat(maxWordLength / 2)]);
});

test("the dictionary splits only the first 20,000 characters, of all texts that share them", () => {
  const text = "ภาษาไทย".repeat(5_000);
  const words = wordsOf(text);
  assert.equal(words[0], "ภาษา");
  assert.equal(words.slice(0, -1).join("").length, 20_000);
  const splitting = createSplitting();
  assert.equal(wordsOf("ภาษาไทย", splitting).length, 2);
  wordsOf(text, splitting);
  assert.equal(wordsOf("ภาษาไทย", splitting).length, 1);
});

test("a mebibyte of marks in disorder, or of anything else, takes no time", { timeout: ceilingMs }, () => {
  for (const part of [
    "\u0301\u0327",
    "e\u094d\u093c",
    "\u094d\u093c",
    "\u05b0\u094d\u200d\u093c",
    "ﷺ",
    "東",
    " é",
    "ไทย",
    "ภาษาไทย ",
  ]) {
    wordsOf(part.repeat(2 ** 20 / part.length));
  }
});

const searches: [search: string, beginnings: string, whole: string, literals: string][] = [
  ["C++", "", "c", "c++"],
  ["(C++), “C#”; .NET? A*", "net", "c c a", "c++ c# .net a*"],
  ["$100 or 100%", "or 100", "100", "$100 100%"],
  ["Ｃ＋＋ Ä*", "", "c a", "c++ a*"],
  ["R&D C++17 ada+x@y.org o'neil", "r d c 17 ada x y org o neil", "", ""],
  ["...and end. -5 foo_ ^up", "and end 5 foo up", "", ""],
  ["rock & roll ++ 🎉", "rock roll", "", ""],
  ["? 🎉 …", "", "", ""],
  ["₨100", "rs100", "", ""],
  ["#winter2026 東京+ ไทยภาษา*", "winter2026 ไทย ภาษา", "東 京", "#winter2026 東京+ ไทยภาษา*"],
  ["c++ C++ c+", "", "c c", "c++ c+"],
];

for (const [search, beginnings, whole, literals] of searches)
  test(`the search ${JSON.stringify(search)} has the signs ${JSON.stringify(literals)}`, () => {
    const terms = readTerms(termsOf(search));
    assert.deepEqual(
      [terms.beginnings, terms.whole, terms.literals].map((each) => each.join(" ")),
      [beginnings, whole, literals],
    );
  });

test("a text has the words of each of its pieces with signs", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 6 }), (piece) => {
      const { whole, literals } = readTerms(termsOf(piece));
      const words = wordsOf(`before ${piece} after`);
      for (const word of whole) assert.ok(words.includes(word), word);
      for (const literal of literals) assert.ok(foldText(piece).includes(literal), literal);
    }),
  );
});
