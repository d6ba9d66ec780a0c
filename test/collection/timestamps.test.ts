import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { attributeInfo } from "../../src/collection/attributes.ts";
import { openCollection } from "../../src/collection/collection.ts";
import { type CollectionDeclaration, defineCollection } from "../../src/collection/declaration.ts";
import {
  clientAttributes,
  timestampViolations,
  withImportedTimestamps,
  withTimestamps,
} from "../../src/collection/timestamps.ts";
import { declaredTypes } from "../../src/collection/types/declared-types.ts";
import { StartError } from "../../src/errors.ts";

const define = (declaration: object) =>
  defineCollection("posts", { timestamps: true, ...declaration } as CollectionDeclaration);
const stamped = { ...openCollection("posts"), timestamps: true };
const at = (ms: number) => new Date(ms).toISOString();

test("both times are known to be dates, beside a schema that is closed and without one", async () => {
  const schema = { type: "object", properties: { title: { type: "string" } } };
  for (const collection of [await define({ schema }), await define({})]) {
    for (const name of ["createdAt", "updatedAt"]) {
      const facts = attributeInfo(collection, [name]);
      const expected = {
        types: new Set(["string"]),
        declared: { type: declaredTypes.date, forms: new Set(["time"]) },
      };
      assert.deepEqual(facts, { isDeclared: true, ...expected, alternatives: undefined });
      assert.deepEqual(attributeInfo(collection, [name, "day"]).alternatives, []);
    }
  }
  const known = attributeInfo(await define({ schema }), ["createdOn"]).alternatives;
  assert.deepEqual(known, ["id", "createdAt", "updatedAt", "title"]);
  const without = attributeInfo(await define({ schema, timestamps: false }), ["createdAt"]);
  assert.deepEqual(without.alternatives, ["id", "title"]);
});

const time = { type: "string", maxLength: 99 } as const;
const refused: readonly (readonly [object, RegExp])[] = [
  [{ timestamps: "yes" }, /^collections\.posts\.timestamps must be true or false/],
  [{ schema: { properties: { createdAt: time } } }, /^collections\.posts\.schema: .*"createdAt"/],
  [{ schema: { allOf: [{ properties: { updatedAt: time } }] } }, /\.schema: .*"updatedAt"/],
  [{ schema: { anyOf: [{ properties: { updatedAt: true } }, true] } }, /\.schema: .*"updatedAt"/],
  [{ schema: { type: "object", required: ["createdAt"] } }, /\.schema: .*"createdAt"/],
  [{ defaults: { createdAt: "$now" } }, /^collections\.posts\.defaults: .*"createdAt"/],
  [{ unique: ["createdAt"] }, /^collections\.posts\.unique: .*"createdAt"/],
  [{ unique: [{ attribute: "updatedAt" }] }, /\.unique: .*"updatedAt"/],
  [{ unique: ["updatedAt.day"] }, /\.unique: .*"updatedAt"/],
  [{ references: { updatedAt: "users" } }, /^collections\.posts\.references: .*"updatedAt"/],
];
for (const [declaration, says] of refused) {
  test(`timestamps beside ${JSON.stringify(declaration)} are refused`, async () => {
    await assert.rejects(define(declaration), (error) => {
      assert.ok(error instanceof StartError);
      assert.match(error.message, says);
      assert.doesNotMatch(error.message, /\n/);
      return true;
    });
  });
}

test("attributes of these names may be declared inside of others, and without timestamps", async () => {
  const nested = { properties: { author: { type: "object", properties: { createdAt: time } } } };
  await define({ schema: nested, unique: ["author.createdAt"] });
  await define({ timestamps: false, schema: { properties: { createdAt: time } }, unique: ["createdAt"] });
});

test("whatever a resource held before, its times are readable, in order and behind everything else", () => {
  const ms = fc.integer({ min: 0, max: Date.UTC(3000, 0) });
  const value = fc.oneof(fc.jsonValue(), ms.map(at));
  const before = fc.record({ createdAt: value, updatedAt: value, x: value }, { requiredKeys: [] });
  fc.assert(
    fc.property(before, ms, ms, fc.jsonValue(), (old, updatedAt, now, x) => {
      const first = withTimestamps({ x }, now, { text: JSON.stringify({ id: "a", ...old }), updatedAt });
      const second = withTimestamps({ x: 1 }, now + 1, {
        text: JSON.stringify({ id: "a", ...first }),
        updatedAt: now,
      });
      assert.deepEqual(Object.keys(second), ["x", "createdAt", "updatedAt"]);
      assert.deepEqual([...timestampViolations(stamped, first), ...timestampViolations(stamped, second)], []);
      assert.equal(second.createdAt, first.createdAt);
      if (at(now) >= String(first.createdAt)) assert.equal(first.updatedAt, at(now));
      assert.deepEqual(clientAttributes(stamped, { id: "a", ...second }), { x: 1 });
    }),
  );
});

test("a member called __proto__ is one like any other", () => {
  const value = JSON.parse('{"id":"a","__proto__":{"x":1},"createdAt":"x"}');
  assert.equal(
    JSON.stringify(withTimestamps(clientAttributes(stamped, value), 0)),
    `{"__proto__":{"x":1},"createdAt":"${at(0)}","updatedAt":"${at(0)}"}`,
  );
});

test("times that come from elsewhere stay, and what is missing is filled in without going backwards", () => {
  const cases = [
    [{}, [at(9), at(9)]],
    [{ createdAt: at(3) }, [at(3), at(9)]],
    [{ updatedAt: at(5) }, [at(5), at(5)]],
    [{ createdAt: at(3), updatedAt: at(5) }, [at(3), at(5)]],
  ] as const;
  for (const [own, expected] of cases) {
    assert.deepEqual(timestampViolations(stamped, own, 9), []);
    const { createdAt, updatedAt } = withImportedTimestamps({}, own, 9);
    assert.deepEqual([createdAt, updatedAt], expected);
  }
});

test("times that are none, that go backwards or are still to come are told with their places", () => {
  const cases = [
    [{ createdAt: null }, ["#/createdAt"]],
    [{ createdAt: 0, updatedAt: "2026-02-30T00:00:00.000Z" }, ["#/createdAt", "#/updatedAt"]],
    [{ updatedAt: "2026-01-31" }, ["#/updatedAt"]],
    [{ createdAt: at(5), updatedAt: at(4) }, ["#/updatedAt"]],
    [{ createdAt: at(10) }, ["#/createdAt"]],
  ] as const;
  for (const [own, pointers] of cases) {
    assert.deepEqual(
      timestampViolations(stamped, own, 9).map(({ pointer }) => pointer),
      pointers,
    );
    assert.deepEqual(timestampViolations(openCollection("posts"), own, 9), []);
  }
});
