import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { pickFields, resourceText } from "../../src/collection/resource.ts";

test("a resource is cut down to id and the fields, in its own order", () => {
  const text = '{"id":7,"title":"a","author":{"id":1,"title":"b"},"views":5}';
  assert.equal(
    pickFields(text, new Set(["id", "views", "title", "nothing"])),
    '{"id":7,"title":"a","views":5}',
  );
  assert.equal(pickFields(text, new Set(["id"])), '{"id":7}');
  assert.equal(pickFields(text, new Set(["author"])), '{"id":7,"author":{"id":1,"title":"b"}}');
  assert.equal(
    pickFields('{"id":"x","__proto__":{"a":1}}', new Set(["__proto__"])),
    '{"id":"x","__proto__":{"a":1}}',
  );
});

test("all fields give the very text, and some the text of a resource that has only those", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.string()), (members, others) => {
      const { id: _, ...attributes } = members;
      const text = resourceText("uuid", "abc", attributes);
      const names = Object.keys(attributes);
      assert.equal(pickFields(text, new Set(["id", ...names])), text);
      const kept = [...others, ...names.slice(0, 2)];
      const left = Object.fromEntries(Object.entries(attributes).filter(([name]) => kept.includes(name)));
      assert.equal(pickFields(text, new Set(kept)), resourceText("uuid", "abc", left));
    }),
  );
});
