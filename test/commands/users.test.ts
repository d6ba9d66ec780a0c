/** `holdfast users`: the first account of a service, and what the command does with accounts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { folder, run } from "./cli.ts";

test("the first account is invited by a link, without a running service", async (t) => {
  const config = {
    store: "sqlite:a.db",
    collections: { users: { id: "uuid", access: { read: "public" } } },
    auth: { administrators: { role: "ops" }, users: { collection: "users" } },
  };
  const cwd = await folder(t, { "holdfast.config.json": JSON.stringify(config) });
  const invited = await run(t, ["users", "invite", "Ada@example.org", "--role", "ops"], { cwd });
  assert.equal(invited.exitCode, 0, invited.stderr);
  assert.match(invited.stdout, /^http:\/\/localhost:3000\/_sign-in#invitation=[\w-]{43}\n$/);
  const wrong = await run(t, ["users", "invite", "ada"], { cwd });
  assert.equal(wrong.exitCode, 1);
  const list = await run(t, ["users", "list"], { cwd });
  assert.deepEqual([list.exitCode, list.stdout], [0, ""]);
  for (const command of [
    ["roles", "ada@example.org", "ops"],
    ["reset-factors", "ada@example.org"],
  ]) {
    const unknown = await run(t, ["users", ...command], { cwd });
    assert.equal(unknown.exitCode, 1);
    assert.match(unknown.stderr, /No account has the address or the id "ada@example.org"/);
  }
});

test("check warns of addresses that anyone can read, and a command writes the mirrored attributes", async (t) => {
  const email = { type: "string", readOnly: true };
  const users = { id: "uuid", access: { read: "public" }, schema: { type: "object", properties: { email } } };
  const auth = { administrators: { role: "ops" }, users: { collection: "users", mirror: { email: "email" } } };
  const config = { store: "sqlite:a.db", collections: { users }, auth };
  const cwd = await folder(t, { "holdfast.config.json": JSON.stringify(config) });
  const warning = /auth\.users\.mirror\.email: anyone can read the mail addresses in "users"/;
  assert.match((await run(t, ["check"], { cwd })).stdout, warning);
  const mirrored = await run(t, ["users", "mirror"], { cwd });
  assert.deepEqual([mirrored.exitCode, mirrored.stderr], [0, "changed 0 profiles\n"]);
});
