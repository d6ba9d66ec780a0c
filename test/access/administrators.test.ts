/** The rule that says who administers the service. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { compileAccess } from "../../src/access/access.ts";
import { readAdministrators } from "../../src/access/roles.ts";
import { StartError } from "../../src/errors.ts";
import { caller } from "./fixture.ts";

const ops = caller("ops-1", { roles: ["ops"] });
const alice = caller("alice");

function administersWith(rule?: unknown) {
  const administrators = rule === undefined ? [] : readAdministrators(rule);
  return compileAccess(new Map(), new Map(), { openCollections: true, administrators });
}

test("without the rule, no caller administers the service, whatever their roles", () => {
  const { administers, hasAdministrators } = administersWith();
  assert.equal(hasAdministrators, false);
  assert.equal(administers(caller("root", { roles: ["admin"] })), false);
  assert.equal(administers(undefined), false);
});

test("a role, a subject, or one rule of a list is enough", () => {
  assert.equal(administersWith({ role: "ops" }).administers(ops), true);
  assert.equal(administersWith({ role: "ops" }).administers(alice), false);
  assert.equal(administersWith({ subject: "alice" }).administers(alice), true);
  assert.equal(administersWith({ subject: "alice" }).administers(ops), false);
  const either = administersWith([{ role: "ops" }, { subject: "alice" }]);
  assert.deepEqual([either.administers(ops), either.administers(alice)], [true, true]);
  assert.equal(either.administers(caller("bob")), false);
});

test("a credential with scopes never administers the service", () => {
  const scoped = { ...ops, scopes: [{ collection: "articles", action: "write" as const }] };
  assert.equal(administersWith({ role: "ops" }).administers(scoped), false);
  assert.equal(administersWith({ role: "ops" }).administers({ ...ops, scopes: [] }), false);
});

test("a caller without a credential never administers the service", () => {
  assert.equal(administersWith([{ role: "ops" }, { subject: "alice" }]).administers(undefined), false);
});

const wrong: readonly (readonly [unknown, RegExp])[] = [
  ["ops", /^auth\.administrators must be \{ role: "ops" \}, .* not "ops"\.$/],
  [{ role: "" }, /^auth\.administrators must be/],
  [{ role: "ops", where: {} }, /^auth\.administrators must be/],
  [{}, /^auth\.administrators must be/],
  [[], /^auth\.administrators is an empty list/],
  [[{ role: "ops" }, "public"], /^auth\.administrators\[1\] must be .* not "public"\.$/],
];

for (const [rule, says] of wrong) {
  test(`the rule cannot be ${JSON.stringify(rule)}`, () => {
    assert.throws(
      () => readAdministrators(rule),
      (error) => error instanceof StartError && says.test(error.faults[0]?.text ?? ""),
    );
  });
}
