/** The operators of filters: the console and the package for react-admin have copies of the names, because they load no code of the service. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  operators as ofConsole,
  operatorsOf,
  takesSeveral as severalInConsole,
} from "../../console/src/list/list-query.ts";
import { operatorNames, takesSeveral } from "../../src/query/operators.ts";

test("the console offers every operator, in its own order", () => {
  assert.deepEqual([...ofConsole].sort(), [...operatorNames].sort());
  assert.deepEqual(new Set(Object.values(operatorsOf).flat()), new Set(operatorNames));
});

test("the console splits the values of the same operators", () => {
  assert.deepEqual(ofConsole.filter(severalInConsole), operatorNames.filter(takesSeveral));
});

test("the package for react-admin passes on every operator", () => {
  const text = readFileSync("react-admin/src/index.ts", "utf8");
  assert.ok(text.includes(`"${operatorNames.join(" ")}"`), operatorNames.join(" "));
});
