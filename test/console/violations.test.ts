/** The errors of the service, at the fields of the form. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ProblemError } from "../../client/src/errors.ts";
import { stillWrong } from "../../console/src/resource/edit.ts";
import {
  holderOf,
  otherProblems,
  pathOf,
  refusalOf,
  sortViolations,
} from "../../console/src/service/errors.ts";

test("a JSON Pointer leads to the field of its first name, and the rest is shown", () => {
  const refusal = sortViolations([
    { in: "body", pointer: "#/views", code: "minimum", detail: "must be at least 0" },
    { in: "body", pointer: "#/author/name", code: "type", detail: "must be a string" },
    { in: "body", pointer: "#/a~1b%20c", code: "type", detail: "must be an integer" },
    { in: "body", pointer: "#", code: "minProperties", detail: "must have an attribute" },
    { in: "header", name: "If-Match", code: "format", detail: "is not valid" },
  ]);
  assert.deepEqual(
    [...refusal.byName],
    [
      ["views", ["must be at least 0"]],
      ["author", ["name: must be a string"]],
      ["a/b c", ["must be an integer"]],
    ],
  );
  assert.deepEqual(refusal.others, ["must have an attribute", "If-Match: is not valid"]);
});

test("errors of attributes without a field are shown with their name", () => {
  const refusal = sortViolations([
    { in: "body", pointer: "#/pin", code: "type", detail: "must be a string" },
  ]);
  assert.deepEqual(otherProblems(refusal, new Set(["title"])), ["pin: must be a string"]);
  assert.deepEqual(otherProblems(refusal, new Set(["pin"])), []);
});

test("a pointer that is not encoded well is shown as it is", () => {
  assert.deepEqual(pathOf("#/a%zz/~01"), ["a%zz", "~1"]);
});

test("an error disappears when the user changes its attribute", () => {
  const refusal = sortViolations([
    { in: "body", pointer: "#/views", code: "minimum", detail: "must be at least 0" },
    { in: "body", pointer: "#/title", code: "required", detail: "is required" },
  ]);
  const names = (mine: Record<string, unknown>) => [
    ...stillWrong(refusal, { views: -1 }, mine).byName.keys(),
  ];
  assert.deepEqual(names({ views: -1 }), ["views", "title"]);
  assert.deepEqual(names({ views: 0 }), ["title"]);
  assert.deepEqual(names({ views: -1, title: null }), ["views"]);
});

test("the path of a resource that has a unique value leads to it, if the caller can read it", () => {
  const refusedWith = (holder: string | null | undefined) =>
    new ProblemError({
      status: 409,
      headers: new Headers(),
      body: { code: "UNIQUE_VIOLATION", detail: "is taken", ...(holder !== undefined && { holder }) },
      afterLostAnswer: false,
    });
  const holder = { collection: "pages", id: "a/b" };
  assert.deepEqual(holderOf(refusedWith("/shop/api/v1/pages/a%2Fb")), holder);
  for (const none of [null, undefined]) assert.equal(holderOf(refusedWith(none)), undefined);
  assert.equal(holderOf(new Error("lost")), undefined);
  const refusal = refusalOf(refusedWith("/api/v1/pages/a%2Fb"));
  assert.deepEqual(refusal.holder, holder);
  assert.deepEqual(stillWrong(refusal, {}, {}).holder, holder);
});
