import assert from "node:assert/strict";
import { test } from "node:test";
import { type Listed, place } from "./keys-fixture.ts";

test("a key that replaces another is like it, and the other works on for a while", async (t) => {
  const { keys, create, list } = await place(t);
  const old = await create(
    "--name",
    "deploy",
    "--role",
    "editor",
    "--scope",
    "articles:read",
    "--expires",
    "90d",
  );
  const rotated = await keys("rotate", "deploy", "--overlap", "30m");
  assert.match(rotated.stdout, /^hf_\w+\n$/);
  const [first, second] = await list();
  assert.equal(second?.prefix, rotated.stdout.slice(0, 11));
  const alike = ({ name, subject, roles, scopes }: Listed) => ({ name, subject, roles, scopes });
  assert.deepEqual(alike(second as Listed), alike(first as Listed));
  const span = ({ createdAt, expiresAt }: Listed) => Date.parse(expiresAt ?? "") - Date.parse(createdAt);
  assert.equal(span(second as Listed), 90 * 86_400_000);
  const left = Date.parse(first?.expiresAt ?? "") - Date.parse(second?.createdAt ?? "");
  assert.equal(left, 30 * 60_000);
  const again = await keys("rotate", old, "--overlap", "0m");
  assert.match(again.stderr, /no longer works/);
  assert.notEqual((await list())[0]?.revokedAt, null);
  await keys("revoke", "deploy");
  assert.ok(
    (await list()).every(({ revokedAt }) => revokedAt !== null),
    "a name ends every key of that name",
  );
});
