/** What the console sends when a user saves, and how it joins the changes of two callers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  changedNames,
  changesOf,
  differencesOf,
  isBroken,
  isChanged,
  isEqual,
  merge,
  patchOf,
  removeValue,
  resetValue,
  setInvalid,
  setJson,
  setValue,
  startEdit,
  valueAt,
} from "../../console/src/resource/edit.ts";

test("values are compared as JSON: the order of members does not count, null and absent differ", () => {
  assert.ok(isEqual({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }));
  for (const [one, other] of [
    [null, undefined],
    [{}, { a: undefined }],
    [[1], [1, 2]],
    [[], {}],
    ["1", 1],
    [{ a: 1 }, { b: 1 }],
  ])
    assert.ok(!isEqual(one, other), JSON.stringify([one, other]));
});

test("the patch has the changed attributes only, and keeps null and absent apart", () => {
  const before = { id: "1", title: "One", views: 1, author: null, note: "x" };
  const after = { id: "1", title: "One", views: null, "a/b~c": 1, author: null };
  assert.deepEqual(patchOf(before, after), [
    { op: "add", path: "/views", value: null },
    { op: "remove", path: "/note" },
    { op: "add", path: "/a~1b~0c", value: 1 },
  ]);
  assert.deepEqual(patchOf(before, { ...before }), []);
});

test("names of JavaScript's own are attributes like others", () => {
  const odd = JSON.parse('{"__proto__":1,"constructor":2}') as Record<string, unknown>;
  assert.deepEqual(changedNames({}, odd), ["__proto__", "constructor"]);
  assert.equal(valueAt({}, "constructor"), undefined);
  const merged = merge(odd, {}, new Set(["__proto__"]));
  assert.deepEqual(Object.keys(merged), ["__proto__"]);
  assert.equal(Object.getOwnPropertyDescriptor(merged, "__proto__")?.value, 1);
  const edit = setValue(startEdit({}, ""), "__proto__", 7);
  assert.deepEqual(patchOf({}, edit.mine), [{ op: "add", path: "/__proto__", value: 7 }]);
  assert.equal(removeValue(edit, "__proto__").mine.constructor, Object);
});

test("a conflict names who changed what, and leaves out what both changed in the same way", () => {
  const base = { a: 1, b: 1, c: 1, d: 1, e: 1 };
  const mine = { a: 2, b: 1, c: 2, d: 2 };
  const theirs = { a: 1, b: 2, c: 3, d: 2, e: 1, f: 1 };
  assert.deepEqual(differencesOf(base, mine, theirs), [
    { name: "a", by: "me" },
    { name: "b", by: "them" },
    { name: "c", by: "both" },
    { name: "e", by: "me" },
    { name: "f", by: "them" },
  ]);
});

test("a merge is their version with my chosen attributes, in their order", () => {
  const theirs = { a: 1, b: 2, c: 3, f: 1 };
  const merged = merge({ a: 2, c: 2, g: 5 }, theirs, new Set(["a", "b", "g"]));
  assert.equal(JSON.stringify(merged), '{"a":2,"c":3,"f":1,"g":5}');
});

test("an edit is changed while it differs, and can be undone by attribute", () => {
  const start = startEdit({ a: 1, b: 2 }, '"1"');
  assert.ok(!isChanged(start));
  const edit = removeValue(setValue(start, "c", null), "a");
  assert.deepEqual(changesOf(edit), ["a", "c"]);
  const back = resetValue(resetValue(edit, "a"), "c");
  assert.ok(!isChanged(back));
  assert.ok(!isChanged(setValue(setValue(start, "a", 5), "a", 1)));
});

test("a text that is no value is kept, and cannot be saved", () => {
  const broken = setInvalid(startEdit({ views: 1 }, '"1"'), "views", "1.");
  assert.ok(isChanged(broken) && isBroken(broken));
  assert.deepEqual(broken.mine, { views: 1 });
  assert.ok(!isBroken(setValue(broken, "views", 1.5)));
});

test("the resource as text replaces the draft when it is valid", () => {
  const start = startEdit({ views: 1 }, '"1"');
  const broken = setJson(start, '{"views":');
  assert.ok(isBroken(broken));
  assert.deepEqual(broken.mine, { views: 1 });
  const mended = setJson(broken, '{"views": 2, "note": null}');
  assert.ok(!isBroken(mended));
  assert.deepEqual(mended.mine, { views: 2, note: null });
  assert.equal(setJson(start, '{ "views": 1.0 }').mine, start.mine);
});
