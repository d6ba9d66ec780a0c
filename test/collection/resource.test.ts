import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { resourceText, withoutId } from "../../src/collection/resource.ts";

describe("the text of a resource", () => {
  const cases: [attributes: string, text: string][] = [
    ["{}", '{"id":"x"}'],
    ['{"a":1}', '{"id":"x","a":1}'],
    ['{"b":1,"a":{"d":[],"c":null}}', '{"id":"x","b":1,"a":{"d":[],"c":null}}'],
    ['{"b":1,"10":2,"9":3}', '{"id":"x","9":3,"10":2,"b":1}'],
    ['{"__proto__":{"a":1}}', '{"id":"x","__proto__":{"a":1}}'],
  ];
  for (const [attributes, text] of cases) {
    test(`of ${attributes} has the id first`, () => {
      assert.equal(resourceText("uuid", "x", JSON.parse(attributes)), text);
    });
  }

  test("has a number for an id of integers", () => {
    assert.equal(resourceText("integer", "5", { a: 1 }), '{"id":5,"a":1}');
  });

  test("reads back as the id and the attributes", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }), (value) => {
        const attributes = withoutId(JSON.parse(JSON.stringify(value)));
        const back = JSON.parse(resourceText("uuid", "x", attributes)) as Record<string, unknown>;
        assert.equal(back.id, "x");
        assert.deepEqual(withoutId(back), attributes);
      }),
    );
  });
});

describe("attributes without the id", () => {
  test("leave the value as it was, and keep the order of the others", () => {
    const value = { b: 1, id: "x", a: 2 };
    assert.equal(JSON.stringify(withoutId(value)), '{"b":1,"a":2}');
    assert.deepEqual(Object.keys(value), ["b", "id", "a"]);
  });

  test("keep a member called __proto__ as plain data", () => {
    const attributes = withoutId(JSON.parse('{"id":1,"__proto__":{"x":1},"b":2}'));
    assert.deepEqual(Object.keys(attributes), ["__proto__", "b"]);
    assert.equal(Object.getPrototypeOf(attributes), Object.prototype);
    assert.equal(attributes.x, undefined);
  });
});
