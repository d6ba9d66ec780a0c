import assert from "node:assert/strict";
import { test } from "node:test";
import { readValue } from "../../console/src/list/bulk.ts";
import {
  columnsInView,
  columnsOf,
  isNumber,
  moveColumn,
  readChoice,
  shownColumns,
  widthOf,
} from "../../console/src/list/columns.ts";
import { cursorAfter } from "../../console/src/list/keys.ts";
import { operatorsOf, readListQuery, suggestedIndex } from "../../console/src/list/list-query.ts";

const info = {
  schema: {
    properties: { title: { type: "string" }, status: { enum: ["a", "b"] }, authorId: { type: "string" } },
  },
  timestamps: true,
  references: [{ attribute: "authorId", collection: "authors", onDelete: "restrict" }],
} as never;

test("columns come from the schema and from what is shown", () => {
  const columns = columnsOf(info, [{ id: "1", extra: 5 }]);
  assert.deepEqual(columns, [
    { name: "id", kind: "id" },
    { name: "title", kind: "text" },
    { name: "status", kind: "choice", choices: ["a", "b"] },
    { name: "authorId", kind: "reference", target: "authors" },
    { name: "extra", kind: "number" },
    { name: "createdAt", kind: "time" },
    { name: "updatedAt", kind: "time" },
  ]);
  const names = (choice: object) => shownColumns(columns, choice).map(({ name }) => name);
  assert.deepEqual(names({}), ["id", "title", "status", "authorId", "extra", "updatedAt"]);
  assert.deepEqual(names({ names: ["status", "gone", "id"] }), ["status", "id"]);
  const narrow = (choice: object) => shownColumns(columns, choice, true).map(({ name }) => name);
  assert.deepEqual(narrow({}), ["title", "id", "status", "authorId", "extra", "updatedAt"]);
  assert.deepEqual(narrow({ names: ["status", "id"] }), ["status", "id"]);
});

test("exact numbers stand on the right and are filtered as numbers", () => {
  const properties = {
    price: { type: "string", format: "decimal" },
    bytes: { type: ["string", "null"], format: "int64" },
    count: { type: "integer", format: "int64" },
  };
  const columns = columnsOf({ schema: { properties }, timestamps: false, references: [] } as never, []);
  const kinds = columns.slice(1).map(({ kind }) => kind);
  assert.deepEqual(kinds, ["exact", "exact", "integer"]);
  for (const kind of kinds) {
    assert.ok(isNumber(kind));
    assert.deepEqual(operatorsOf[kind], operatorsOf.number);
  }
  assert.equal(readValue("12.50", "exact"), "12.50");
});

test("columns move within the table", () => {
  assert.deepEqual(moveColumn(["a", "b", "c"], "a", 2), ["b", "c", "a"]);
  assert.deepEqual(moveColumn(["a", "b", "c"], "c", -1), ["c", "a", "b"]);
});

test("a kept choice that is wrong is dropped", () => {
  assert.deepEqual(readChoice(null), {});
  assert.deepEqual(readChoice({ names: [1], widths: { a: "x", b: 90 } }), { widths: { b: 90 } });
  assert.equal(widthOf({ name: "b", kind: "text" }, { widths: { b: 3 } }), 60);
});

test("only the columns in view are in the page", () => {
  const columns = Array.from({ length: 60 }, (_, n) => ({ name: `a${n}`, kind: "number" as const }));
  assert.deepEqual(columnsInView(columns.slice(0, 20), {}, 0, 500), { from: 1, to: 20 });
  assert.deepEqual(columnsInView(columns, {}, 0, 500), { from: 1, to: 11 });
  assert.deepEqual(columnsInView(columns, {}, 3_000, 500), { from: 24, to: 41 });
});

test("keys move the cursor within the rows", () => {
  assert.equal(cursorAfter("j", undefined, 5), 0);
  assert.equal(cursorAfter("ArrowUp", 0, 5), 0);
  assert.equal(cursorAfter("End", 0, 5), 4);
  assert.equal(cursorAfter("q", 0, 5), undefined);
  assert.equal(cursorAfter("j", undefined, 0), undefined);
});

test("a slow list names its index", () => {
  const query = readListQuery("status=a&views:gte=5&sort=-views");
  assert.equal(
    suggestedIndex('add "indexes": [["author.name","-year"]] to the collection', query),
    '"indexes": [["author.name","-year"]]',
  );
  assert.equal(suggestedIndex('add "indexes": ["-a"] to the collection', query), '"indexes": ["-a"]');
  assert.equal(suggestedIndex("too slow", query), '"indexes": [["status","-views"]]');
  assert.equal(suggestedIndex("too slow", readListQuery("title:contains=a")), undefined);
  assert.equal(suggestedIndex("too slow", readListQuery("q=a&sort=b")), undefined);
});
