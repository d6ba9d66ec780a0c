/** However a profile is deleted, its account goes in the same commit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../until.ts";
import { bearer, bodyOf, goodPassword, problemOf, startPeople } from "./people.ts";

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

test("a rewind to a time before a sign-up deletes the account with the profile", async (t) => {
  const { service, join, post } = await startPeople(t, {
    users: { signUp: { domains: ["root.example"], roles: ["ops"] } },
  });
  const root = await join("root@root.example");
  const path = "/api/v1/_rewind";
  // The clock of the service can show the same millisecond again.
  const to = new Date(Date.now() + 1).toISOString();
  await until("the time is over", () => Date.now() > Date.parse(to));
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
