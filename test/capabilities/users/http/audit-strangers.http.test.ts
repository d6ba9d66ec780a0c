import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf, root, start } from "./audit-fixture.ts";
import { bodyOf, goodPassword } from "./people.ts";

test("wrong passwords for one address are counted by the minute, and show no text, and no address but that of an account", async (t) => {
  let now = 1_790_000_040_000; // the start of a minute
  const { post, audit, ask, codeFor, root: signed } = await start(t, { now: () => now });
  const wrong = (email: string) => post("sign-in", { email, password: "wrong wrong wrong" });
  await Promise.all([1, 2, 3].map(() => wrong(root)));
  now += 30_000;
  await wrong(root.toUpperCase());
  await wrong("nobody@example.org");
  const { ticket } = bodyOf<{ ticket: string }>(await post("code", { email: root }), 202);
  await codeFor(root, 1);
  await post("sign-in", { ticket, code: "0000-0000" });
  const failed = async () => (await audit()).entries.filter(({ result }) => result === "failed");
  assert.deepEqual(partsOf(await failed()).sort(), [
    "signIn email failed 1",
    "signIn password failed 1",
    "signIn password failed 4",
  ]);
  const subjects = (await failed()).map(({ subject }) => subject).sort();
  assert.deepEqual(subjects, [signed.user.id, signed.user.id, undefined].sort());
  const addresses = (await failed()).map(({ email }) => email).sort();
  assert.deepEqual(addresses, [root, root, undefined]);
  now += 30_000;
  await wrong(root);
  assert.equal((await failed()).length, 4);
  const text = (await ask("GET", "_audit")).text;
  for (const secret of ["wrong wrong", "nobody", ticket, "0000-0000", goodPassword])
    assert.equal(text.includes(secret), false, secret);
});
