import assert from "node:assert/strict";
import { test } from "node:test";
import { isPlural, pluralOf, singularOf } from "../../src/collection/plurals.ts";

const pairs = [
  "post posts",
  "category categories",
  "day days",
  "box boxes",
  "branch branches",
  "class classes",
  "bus buses",
  "wolf wolves",
  "knife knives",
  "roof roofs",
  "person people",
  "salesperson salespeople",
  "child children",
  "woman women",
  "human humans",
  "house houses",
  "analysis analyses",
  "blogPost blogPosts",
  "blog_post blog_posts",
  "blogPerson blogPeople",
].map((pair) => pair.split(" ") as [string, string]);

for (const [singular, plural] of pairs)
  test(`the plural of "${singular}" is "${plural}", and the other way round`, () => {
    assert.equal(pluralOf(singular), plural);
    assert.equal(singularOf(plural), singular);
    assert.deepEqual([isPlural(plural), isPlural(singular)], [true, false]);
  });

test("words that only look like plurals stay as they are", () => {
  for (const word of ["news", "status", "address", "data", "media", "glass", ""])
    assert.equal(singularOf(word), word);
});
