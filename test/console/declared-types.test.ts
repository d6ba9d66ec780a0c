/** The types that schemas declare with formats: the console has their names too, because it loads no code of the service. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { kindOf } from "../../console/src/service/schema.ts";
import { declaredFormats } from "../../src/collection/types/declared-types.ts";

/** A format of texts and numbers has no editor of its own. */
const ofTexts = Object.entries(declaredFormats).flatMap(([name, { texts, numbers }]) =>
  texts !== undefined && numbers === undefined ? [name] : [],
);

test("the console edits each declared type of texts in its own way", () => {
  assert.ok(ofTexts.length > 0);
  for (const format of ofTexts)
    assert.ok(!["text", "long", "any"].includes(kindOf({ type: "string", format, maxLength: 500 })), format);
});
