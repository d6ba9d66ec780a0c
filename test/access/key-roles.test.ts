/** The roles that administrators can give to keys over HTTP, from a configuration. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { compileConfig } from "../../src/config.ts";

const collections = {
  articles: {
    schema: { type: "object", properties: { salary: { type: "integer" } } },
    access: { read: "public", write: [{ role: "editor" }, { role: "ops" }] },
    attributes: { salary: { roles: ["hr"] } },
  },
};

const rolesWith = async (auth: object) => (await compileConfig({ auth, collections }, ".")).keyRoles;

test("without the option, they are the roles in rules, except those of administrators", async () => {
  assert.deepEqual(await rolesWith({ keys: true }), ["editor", "hr", "ops"]);
  assert.deepEqual(await rolesWith({ keys: true, administrators: { role: "ops" } }), ["editor", "hr"]);
});

test("with the option, they are the roles in it", async () => {
  const administrators = { role: "ops" };
  assert.deepEqual(await rolesWith({ keys: true, administrators, keyRoles: ["ops", "x", "x"] }), [
    "ops",
    "x",
  ]);
  assert.deepEqual(await rolesWith({ keys: true, administrators, keyRoles: [] }), []);
  await assert.rejects(
    rolesWith({ keys: true, keyRoles: ["a b"] }),
    /auth\.keyRoles must be a list of roles/,
  );
});
