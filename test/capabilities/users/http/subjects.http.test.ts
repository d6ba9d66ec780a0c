/** Nobody becomes a user by an API key or a token of another issuer: the ids of accounts are public. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { addKey } from "../../../../src/access/api-key.ts";
import { openKeys } from "../../../../src/store/open.ts";
import { claimsAt, createPair, settingsFor, tokenOf } from "../../../access/issuer.ts";
import { machineTime, until } from "../../../until.ts";
import { start as startAudited } from "./audit-fixture.ts";
import { bearer, bodyOf, goodPassword, problemOf } from "./people.ts";

const ada = "ada@root.example";
const pair = createPair("EdDSA");

/** A service with keys, whose clock the test sets, and an account. */
async function start(t: TestContext) {
  let ms = 0;
  const auth = { keys: true, jwt: settingsFor([pair]) };
  const people = await startAudited(t, { auth, elapsed: () => ms });
  return {
    ...people,
    id: (await people.join(ada)).user.id,
    pass: () => {
      ms += 1_000;
    },
    read: (credential: string) => people.service.send({ path: "/api/v1/_auth", headers: bearer(credential) }),
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

test("the id of a deleted account is no subject of a token either", async (t) => {
  const { ask, id, read, pass } = await start(t);
  const token = (sub: string) => tokenOf(pair, claimsAt(machineTime(), { sub }));
  assert.equal((await read(token("kim"))).status, 200);
  assert.equal((await ask("DELETE", `_accounts/${id}`)).status, 205);
  pass();
  assert.equal(problemOf(await read(token(id))), "401 INVALID_TOKEN");
});

test("a profile whose id is the subject of a valid key gets no account, until the key is revoked", async (t) => {
  const id = "0190f5a0-7c3e-7b1a-9c54-3f1de3a4b5c6";
  const people = await startAudited(t, { auth: { keys: true }, seeds: { users: [{ id }] } });
  const { ask } = people;
  const makeKey = async (name: string) =>
    bodyOf<{ prefix: string }>(await ask("POST", "_keys", { name, subject: id }), 201).prefix;
  const email = "bob@example.org";
  const invite = () => ask("POST", "_invitations", { email, user: id });
  const first = await makeKey("first");
  const refused = await invite();
  assert.equal(problemOf(refused), "409 UNIQUE_VIOLATION");
  assert.match(refused.text, /A valid API key has the id of the profile as its subject/);
  bodyOf(await ask("POST", `_keys/${first}/_revoke`));
  bodyOf(await invite(), 201);
  const mailed = () => people.mails.find(({ to }) => to === email)?.text;
  await until("the mail is there", () => mailed() !== undefined);
  const second = await makeKey("second");
  const [, invitation] = /#invitation=([\w-]{43})/.exec(mailed() ?? "") ?? [];
  const signUp = { email, password: goodPassword, invitation };
  const { ticket } = bodyOf<{ ticket: string }>(await people.post("sign-up", signUp), 202);
  const code = await people.codeFor(email, 1);
  const verify = () => people.post("sign-in", { ticket, code });
  assert.equal(problemOf(await verify()), "409 KEY_UNAVAILABLE");
  bodyOf(await ask("POST", `_keys/${second}/_revoke`));
  bodyOf(await verify());
});
