/** However a profile is deleted, its account goes in the same commit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { machineTime, nextMillisecond, until } from "../../../until.ts";
import { bearer, bodyOf, goodPassword, problemOf, type Signed, startPeople } from "./people.ts";

const ada = "ada@example.org";

test("the delete of a profile in a batch or in bulk deletes the account", async (t) => {
  const { service, join, post } = await startPeople(t);
  const ways = [
    (id: string) => ["_batch", { operations: [{ method: "DELETE", path: `/users/${id}` }] }] as const,
    (id: string) => ["users/_bulk", { delete: true, filter: { id }, max: 1 }] as const,
  ];
  for (const way of ways) {
    const { token, user } = await join(ada);
    const [path, content] = way(user.id);
    const request = { method: "POST", path: `/api/v1/${path}`, content, headers: bearer(token) };
    bodyOf(await service.send(request));
    const again = await post("sign-in", { email: ada, password: goodPassword });
    assert.equal(problemOf(again), "401 SIGN_IN_FAILED");
  }
});

/** A moment: everything until now is earlier or in the same millisecond, and everything from now on is later. */
async function moment(): Promise<string> {
  const time = machineTime() + 1; // the clock of the service can show the same millisecond again
  for (let n = 0; n < 2; n++) await nextMillisecond();
  return new Date(time).toISOString();
}

test("a rewind to a time before a sign-up deletes the account with the profile", async (t) => {
  const { service, join, post } = await startPeople(t, {
    users: { signUp: { domains: ["root.example"], roles: ["ops"] } },
  });
  const root = await join("root@root.example");
  const path = "/api/v1/_rewind";
  const to = await moment();
  const { token, user } = await join("ada@root.example");
  const rewind = (dryRun: boolean) =>
    service.send({
      method: "POST",
      path,
      content: { to, collections: ["users"], max: 10, dryRun },
      headers: bearer(root.token),
    });
  assert.equal(bodyOf<{ deleted: number }>(await rewind(true)).deleted, 1);
  bodyOf(await post("sign-in", { email: "ada@root.example", password: goodPassword }));
  assert.equal(bodyOf<{ deleted: number }>(await rewind(false)).deleted, 1);
  assert.equal((await service.send({ path: `/api/v1/users/${user.id}` })).status, 404);
  const own = { path: "/api/v1/_auth/sessions", headers: bearer(token) };
  await until("the session has ended", async () => (await service.send(own)).status === 401);
  const again = await post("sign-in", { email: "ada@root.example", password: goodPassword });
  assert.equal(problemOf(again), "401 SIGN_IN_FAILED");
});

test("the profile of the last administrator cannot be deleted, whichever way", async (t) => {
  const signUp = { domains: ["root.example"], roles: ["ops"] };
  const { service, join, post } = await startPeople(t, {
    users: { signUp },
    collections: {
      teams: { access: { read: "public", write: "authenticated" } },
      users: {
        references: { teamId: { collection: "teams", onDelete: "cascade" } },
        access: { read: "public", update: { role: "ops" }, delete: { role: "ops" } },
      },
    },
  });
  const first = await join("first@root.example");
  const to = await moment();
  const root = await join("root@root.example");
  const ask = (token: string, method: string, path: string, content?: unknown) =>
    service.send({
      method,
      path: `/api/v1/${path}`,
      ...(content !== undefined && { content }),
      headers: bearer(token),
    });
  assert.equal((await ask(root.token, "DELETE", `users/${first.user.id}`)).status, 205);
  const team = bodyOf<{ id: string }>(await ask(root.token, "POST", "teams", {}), 201).id;
  const { id } = root.user;
  bodyOf(await ask(root.token, "PATCH", `users/${id}`, { teamId: team }));
  const ways = (of: string) =>
    [
      ["DELETE", `users/${of}`, undefined],
      ["DELETE", `teams/${team}`, undefined],
      ["POST", "_batch", { operations: [{ method: "DELETE", path: `/users/${of}` }] }],
      ["POST", "_batch", { operations: [{ method: "DELETE", path: `/teams/${team}` }] }],
      ["POST", "users/_bulk", { delete: true, filter: { id: of }, max: 1 }],
      ["POST", "users/_bulk", { delete: true, filter: { id: of }, max: 1, dryRun: true }],
      ["POST", "_rewind", { to, collections: ["users"], max: 10 }],
    ] as const;
  for (const [method, path, content] of ways(id)) {
    const answer = await ask(root.token, method, path, content);
    assert.equal(problemOf(answer), "409 LAST_ADMINISTRATOR", `${method} ${path} ${answer.text}`);
  }
  const dryRun = await ask(root.token, "POST", "_rewind", {
    to,
    collections: ["users"],
    max: 10,
    dryRun: true,
  });
  assert.equal(problemOf(dryRun), "409 LAST_ADMINISTRATOR");

  const other = await join("eve@root.example");
  const both = await Promise.all([
    ask(root.token, "DELETE", `users/${other.user.id}`),
    ask(other.token, "DELETE", `users/${id}`),
  ]);
  const statuses = both.map(({ status }) => status).sort();
  assert.ok(statuses[0] === 205 && statuses[1] !== 205, String(statuses));
  // The session of the deleted account can be accepted for a second.
  const left = both[0]?.status === 205 ? root : other;
  const { entries } = bodyOf<{ entries: { actor: string; email: string }[] }>(
    await ask(left.token, "GET", "_audit?kind=accountDeleted&limit=1"),
  );
  const [entry] = entries;
  assert.equal(entry?.actor, left.user.id);
  assert.equal(entry?.email, left === root ? other.user.email : root.user.email);
  const third = await join("bob@root.example");
  const [, , , , byBulk] = ways(third.user.id);
  bodyOf(await ask(left.token, byBulk[0], byBulk[1], byBulk[2]));
  const again = await post("sign-in", { email: "bob@root.example", password: goodPassword });
  assert.equal(problemOf(again), "401 SIGN_IN_FAILED");
});

test("a user deletes the own profile only in a confirmed session, and never with a key", async (t) => {
  let now = machineTime();
  const { service, join, post } = await startPeople(t, { now: () => now });
  const { token, user } = await join("ada@example.org");
  const path = `/api/v1/users/${user.id}`;
  const key = { name: "backup", expiresAt: new Date(now + 86_400_000).toISOString() };
  const made = bodyOf<Signed>(await post("sessions", key, bearer(token)), 201);
  const remove = (used: string) => service.send({ method: "DELETE", path, headers: bearer(used) });
  assert.equal(problemOf(await remove(made.token)), "403 CONFIRMATION_REQUIRED");
  now += 601_000;
  assert.equal(problemOf(await remove(token)), "403 CONFIRMATION_REQUIRED");
  const proof = { password: goodPassword };
  const { token: confirmed } = bodyOf<Signed>(await post("confirm", proof, bearer(token)));
  assert.equal((await remove(confirmed)).status, 205);
});
