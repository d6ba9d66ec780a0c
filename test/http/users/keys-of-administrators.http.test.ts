/** An administrator cannot become a user by an API key: the ids of accounts are public. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { addKey } from "../../../src/access/api-key.ts";
import { openKeys } from "../../../src/store/open.ts";
import { machineTime } from "../../until.ts";
import { start as startAudited } from "./audit-fixture.ts";
import { bearer, bodyOf, problemOf } from "./people.ts";

const ada = "ada@root.example";

/** A service with keys, whose clock the test sets, and an account. */
async function start(t: TestContext) {
  let ms = 0;
  const people = await startAudited(t, { auth: { keys: true }, elapsed: () => ms });
  const user = await people.join(ada);
  return {
    ...people,
    user,
    id: user.user.id,
    pass: () => {
      ms += 1_000;
    },
    read: async (key: string) => people.service.send({ path: "/api/v1/_auth", headers: bearer(key) }),
  };
}

test("the id of an account is no subject of a new key", async (t) => {
  const { ask, id } = await start(t);
  for (const content of [{ name: "spy", subject: id }, { name: id }]) {
    const answer = await ask("POST", "_keys", content);
    assert.equal(problemOf(answer), "409 KEY_UNAVAILABLE");
    assert.match(answer.text, /the id of a user of this service/);
  }
  bodyOf(await ask("POST", "_keys", { name: "program", subject: "worker" }), 201);
});

test("a key that was made for an account at the command line is refused, also once the account is deleted", async (t) => {
  const { ask, id, service, read, pass } = await start(t);
  const keys = await openKeys(service.store);
  t.after(() => keys.close());
  const properties = { name: "spy", subject: id, roles: [], scopes: undefined, expiresAt: undefined };
  const { text, key } = await addKey(keys, properties, machineTime());
  const refused = async () => {
    const answer = await read(text);
    assert.equal(problemOf(answer), "401 INVALID_TOKEN");
    assert.match(answer.text, /The subject of the API key is the id of a user of this service/);
  };
  await refused();
  assert.equal(problemOf(await ask("POST", `_keys/${key.prefix}/_rotate`, {})), "409 KEY_UNAVAILABLE");
  assert.equal((await ask("DELETE", `_accounts/${id}`)).status, 205);
  pass();
  await refused();
  assert.equal(problemOf(await ask("POST", "_keys", { name: "late", subject: id })), "409 KEY_UNAVAILABLE");
});
