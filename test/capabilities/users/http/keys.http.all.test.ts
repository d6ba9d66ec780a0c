/** A program acts as a user with a key of its own. The key cannot change the account, and the user sees and ends it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { machineTime, until } from "../../../until.ts";
import { bearer, bodyOf, goodPassword, type People, problemOf, type Signed, startPeople } from "./people.ts";

const ada = "ada@example.org";
const dayMs = 24 * 3_600_000;

interface Key {
  session: { id: string; name: string; scopes?: string[]; expiresAt: string };
  token: string;
}

/** A service with a clock that a test sets. */
async function start(t: Parameters<typeof startPeople>[0], options: Parameters<typeof startPeople>[1] = {}) {
  let [now, elapsed] = [machineTime(), 0];
  const people = await startPeople(t, { ...options, now: () => now, elapsed: () => elapsed });
  const wait = (ms: number) => {
    now += ms;
    elapsed += ms;
  };
  const inDays = (days: number) => new Date(now + days * dayMs).toISOString();
  return { people, wait, inDays };
}

const make = ({ post }: People, token: string, content: object) => post("sessions", content, bearer(token));

const write = ({ service }: People, token: string, authorId: string) =>
  service.send({ method: "POST", path: "/api/v1/articles", content: { authorId }, headers: bearer(token) });

test("a key acts as its user without an idle time, until it expires", async (t) => {
  const { people, wait, inDays } = await start(t);
  const { token, user } = await people.join(ada);
  const key = bodyOf<Key>(await make(people, token, { name: "backup", expiresAt: inDays(300) }), 201);
  assert.equal((await write(people, key.token, user.id)).status, 201);
  wait(299 * dayMs);
  assert.equal((await write(people, key.token, user.id)).status, 201);
  wait(2 * dayMs);
  assert.equal(problemOf(await write(people, key.token, user.id)), "401 INVALID_TOKEN");
});

test("a key can do only what its scopes name, and never administers", async (t) => {
  const users = { signUp: { domains: ["example.org"], roles: ["ops"] } };
  const { people, inDays } = await start(t, { users });
  const { token, user } = await people.join(ada);
  const accounts = async (used: string) =>
    (await people.service.send({ path: "/api/v1/_accounts", headers: bearer(used) })).status;
  const limits = { name: "reader", scopes: ["articles:read"], expiresAt: inDays(1) };
  const reader = bodyOf<Key>(await make(people, token, limits), 201);
  assert.deepEqual(reader.session.scopes, ["articles:read"]);
  assert.equal(problemOf(await write(people, reader.token, user.id)), "403 INSUFFICIENT_SCOPE");
  assert.deepEqual([await accounts(token), await accounts(reader.token)], [200, 404]);
  const whole = bodyOf<Key>(await make(people, token, { name: "whole", expiresAt: inDays(1) }), 201);
  assert.equal(await accounts(whole.token), 200);
});

test("a key cannot change the account, and a sign-in with it leaves it as it is", async (t) => {
  const { people, inDays } = await start(t);
  const { token, session } = await people.join(ada);
  const key = bodyOf<Key>(await make(people, token, { name: "backup", expiresAt: inDays(1) }), 201);
  for (const [path, content] of [
    ["password", { password: "another correct horse" }],
    ["email", { email: "other@example.org" }],
    ["sessions", { name: "more", expiresAt: inDays(1) }],
    ["sign-out", { everywhere: true }],
  ] as const)
    assert.equal(problemOf(await people.post(path, content, bearer(key.token))), "403 CONFIRMATION_REQUIRED");
  const path = `/api/v1/_auth/sessions/${session.id}`;
  const end = await people.service.send({ method: "DELETE", path, headers: bearer(key.token) });
  assert.equal(problemOf(end), "403 CONFIRMATION_REQUIRED");
  bodyOf(await people.post("sign-in", { email: ada, password: goodPassword }, bearer(key.token)));
  assert.equal(
    (await people.service.send({ path: "/api/v1/_auth", headers: bearer(key.token) })).status,
    200,
  );
});

test("keys are listed with the sessions, and end by themselves and with the password", async (t) => {
  const { people, wait, inDays } = await start(t);
  const { token } = await people.join(ada);
  const made = async (name: string) =>
    bodyOf<Key>(await make(people, token, { name, expiresAt: inDays(1) }), 201);
  const [first, second] = [await made("first"), await made("second")];
  const names = async () => {
    const answer = await people.service.send({ path: "/api/v1/_auth/sessions", headers: bearer(token) });
    return bodyOf<{ sessions: { name?: string }[] }>(answer)
      .sessions.map(({ name }) => name ?? "")
      .sort();
  };
  assert.deepEqual(await names(), ["", "first", "second"]);
  const isRefused = async (used: string) =>
    (await people.service.send({ path: "/api/v1/_auth", headers: bearer(used) })).status === 401;
  const path = `/api/v1/_auth/sessions/${first.session.id}`;
  assert.equal((await people.service.send({ method: "DELETE", path, headers: bearer(token) })).status, 205);
  await until("the first key has ended", () => isRefused(first.token));
  assert.equal(await isRefused(second.token), false);
  bodyOf<Signed>(await people.post("password", { password: "another correct horse" }, bearer(token)));
  wait(1_000); // a checked token is known for less than a second
  await until("the second key has ended", () => isRefused(second.token));
});

test("a user has at most 20 keys, not counting those that have expired, and 50 sessions end none", async (t) => {
  const { people, wait, inDays } = await start(t);
  const { token } = await people.join(ada);
  for (let n = 0; n < 20; n++)
    bodyOf(await make(people, token, { name: `key ${n}`, expiresAt: inDays(n === 0 ? 1 : 9) }), 201);
  const another = { name: "another", expiresAt: inDays(9) };
  assert.equal(problemOf(await make(people, token, another)), "409 TOO_MANY_KEYS");
  const signIn = async () =>
    bodyOf<Signed>(await people.post("sign-in", { email: ada, password: goodPassword }));
  for (let n = 0; n < 50; n++) await signIn();
  wait(2 * dayMs);
  const later = await signIn();
  bodyOf(await make(people, later.token, another), 201);
  assert.equal(problemOf(await make(people, later.token, another)), "409 TOO_MANY_KEYS");
});

test("a key needs a name, a time in the next 366 days, and scopes of the service", async (t) => {
  const { people, inDays } = await start(t);
  const { token } = await people.join(ada);
  for (const [content, pointer] of [
    [{ expiresAt: inDays(1) }, "#/name"],
    [{ name: "a" }, "#/expiresAt"],
    [{ name: "a", expiresAt: inDays(-1) }, "#/expiresAt"],
    [{ name: "a", expiresAt: inDays(367) }, "#/expiresAt"],
    [{ name: "a", expiresAt: inDays(1), scopes: ["nothing:read"] }, "#/scopes/0"],
    [{ name: "a", expiresAt: inDays(1), roles: ["ops"] }, "#/roles"],
  ] as const) {
    const { violations } = bodyOf<{ violations: { pointer: string }[] }>(
      await make(people, token, content),
      400,
    );
    assert.deepEqual(
      violations.map((each) => each.pointer),
      [pointer],
    );
  }
});
