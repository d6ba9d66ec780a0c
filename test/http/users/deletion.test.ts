/** However a profile is deleted, its account goes in the same commit. */
import assert from "node:assert/strict";
import { test } from "node:test";
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
