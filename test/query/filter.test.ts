import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Path, valueAt } from "../../src/collection/paths.ts";
import type { Condition } from "../../src/query/conditions.ts";
import { type Filter, matches, matchesAll } from "../../src/query/filter.ts";

const a: Path = ["a"];
const is = (condition: Filter, value: unknown) => matches(condition, value === undefined ? {} : { a: value });

/** Values for which a condition is true, and values for which it is false. `undefined`: the attribute is absent. */
const cases: { condition: Condition; yes: unknown[]; no: unknown[] }[] = [
  {
    condition: { kind: "in", path: a, values: ["5", 5, null] },
    yes: ["5", 5, null],
    no: [undefined, "05", 5.5, true, ["5"], [5], {}],
  },
  { condition: { kind: "in", path: a, values: [0] }, yes: [0, -0], no: [false, "", null, undefined] },
  { condition: { kind: "in", path: a, values: [] }, yes: [], no: [undefined, null, "", 0] },
  {
    condition: { kind: "gt", path: a, values: [5] },
    yes: [5.1, 1e300],
    no: [5, 4, "6", true, null, undefined, [6]],
  },
  { condition: { kind: "gte", path: a, values: [0] }, yes: [0, -0, 1], no: [-1, "0"] },
  {
    condition: { kind: "lt", path: a, values: ["b"] },
    yes: ["a", "", "B"],
    no: ["b", "ba", 1, null, undefined],
  },
  { condition: { kind: "lte", path: a, values: ["\uffff"] }, yes: ["\uffff", "z"], no: ["😀", "\uffff!"] },
  { condition: { kind: "gt", path: a, values: ["5", 5] }, yes: ["51", 6], no: ["4", 5, true] },
  {
    condition: { kind: "contains", path: a, values: ["Ab"] },
    yes: ["ab", "xABx", ["Ab"], ["x", "Ab"]],
    no: ["a b", ["ab"], ["xAb"], { Ab: 1 }, undefined, null],
  },
  {
    condition: { kind: "contains", path: a, values: [1, null] },
    yes: [[1], [null]],
    no: ["1", 1, null, ["1"]],
  },
  { condition: { kind: "contains", path: a, values: ["%_*"] }, yes: ["a%_*b"], no: ["abc", "%a*"] },
  // Unicode folding would find the Kelvin sign in a k, and É in é.
  { condition: { kind: "contains", path: a, values: ["k"] }, yes: ["K"], no: ["\u212a"] },
  { condition: { kind: "contains", path: a, values: ["é"] }, yes: ["Aé"], no: ["É"] },
  {
    condition: { kind: "contains", path: a, values: [""] },
    yes: ["", "x"],
    no: [[], [1], null, undefined, 1],
  },
  {
    condition: { kind: "startsWith", path: a, values: ["Ab"] },
    yes: ["aBc"],
    no: ["xab", ["ab"], undefined],
  },
  { condition: { kind: "endsWith", path: a, values: ["Ab", "c"] }, yes: ["xaB", "C"], no: ["abx", 1, null] },
  { condition: { kind: "exists", path: a, value: true }, yes: [null, 0, "", [], {}], no: [undefined] },
  { condition: { kind: "exists", path: a, value: false }, yes: [undefined], no: [null, 0, ""] },
];

for (const { condition, yes, no } of cases) {
  const name = JSON.stringify(condition);
  test(`${name} is true of what it says, and false of the rest`, () => {
    for (const value of yes) assert.equal(is(condition, value), true, JSON.stringify(value));
    for (const value of no) assert.equal(is(condition, value), false, JSON.stringify(value));
  });
  test(`${name} turns round under not`, () => {
    for (const value of [...yes, ...no])
      assert.equal(
        is({ kind: "not", filter: condition }, value),
        !is(condition, value),
        JSON.stringify(value),
      );
  });
}

test("and of nothing is true, or of nothing is false", () => {
  assert.equal(matches({ kind: "and", filters: [] }, {}), true);
  assert.equal(matches({ kind: "or", filters: [] }, {}), false);
});

test("a filter that excludes no value matches all, also of related resources", () => {
  const none = { kind: "in", path: ["n"], values: [] } as const;
  const relation = { kind: "reference", collection: "users", path: ["userId"] } as const;
  for (const filter of [none, { kind: "requestedRelated", relation, filter: none } as const]) {
    assert.equal(matchesAll({ kind: "not", filter }), true);
    assert.equal(matchesAll({ kind: "or", filters: [filter, { kind: "not", filter }] }), true);
    assert.equal(matchesAll({ kind: "and", filters: [filter, { kind: "not", filter }] }), false);
    assert.equal(matchesAll(filter), false);
  }
});

test("a path leads through own members of objects only", () => {
  const resource = { id: 1, author: { name: "Ada", tags: [{ x: 1 }] }, list: [1] };
  assert.equal(valueAt(resource, ["author", "name"]), "Ada");
  assert.equal(valueAt(resource, ["author", "tags", "0", "x"]), undefined);
  assert.equal(valueAt(resource, ["list", "length"]), undefined);
  assert.equal(valueAt(resource, ["author", "name", "length"]), undefined);
  for (const name of ["constructor", "__proto__", "toString"])
    assert.equal(valueAt(resource, [name]), undefined);
  const odd = JSON.parse('{"__proto__":{"x":1}}') as Record<string, unknown>;
  assert.equal(valueAt(odd, ["__proto__", "x"]), 1);
});

const text = fc.string({ unit: fc.constantFrom("a", "A", "b", "B", "%", "_", "é", "\u212a", "😀", "\\") });
const naive = (each: string) => [...each].map((c) => (c >= "A" && c <= "Z" ? c.toLowerCase() : c)).join("");

test("contains, startsWith and endsWith agree with a naive reading", () => {
  fc.assert(
    fc.property(text, text, (value, part) => {
      const [v, p] = [naive(value), naive(part)];
      assert.equal(
        is({ kind: "contains", path: a, values: [part] }, value),
        v.split(p).length > 1 || p === "",
      );
      assert.equal(is({ kind: "startsWith", path: a, values: [part] }, value), v.slice(0, p.length) === p);
      assert.equal(
        is({ kind: "endsWith", path: a, values: [part] }, value),
        p === "" || v.slice(-p.length) === p,
      );
    }),
  );
});
