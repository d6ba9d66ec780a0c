/** The places of problems in words. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dottedPath, subjectAt } from "../../src/json/pointer.ts";

test("a pointer in a fragment becomes a dotted path, with its escapes undone", () => {
  assert.equal(dottedPath("#"), "");
  assert.equal(dottedPath("#/author/first%20name"), "author.first name");
  assert.equal(dottedPath("#/tags/1/a~1b~0c"), "tags.1.a/b~c");
});

test("a pointer is the subject of a sentence in quotes, and the whole has a name of its own", () => {
  assert.equal(subjectAt("#/author/name", "The resource"), '"author.name"');
  assert.equal(subjectAt("#/a%22b", "The resource"), '"a\\"b"');
  assert.equal(subjectAt("#", "The resource"), "The resource");
});
