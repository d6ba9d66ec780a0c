/** People sign up, sign in, confirm, and sign out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { machineTime, until } from "../../../until.ts";
import { bearer, bodyOf, goodPassword, problemOf, type Signed, startPeople } from "./people.ts";

const ada = "ada@example.org";

test("somebody signs up: the account, the profile and the session exist once the code comes back", async (t) => {
  const { service, post, codeFor } = await startPeople(t);
  const asked = await post("sign-up", { email: ada, password: goodPassword, profile: { name: "Ada" } });
  const { ticket } = bodyOf<{ ticket: string }>(asked, 202);
  assert.deepEqual((await service.send({ path: "/api/v1/users" })).json, []);
  assert.equal(
    problemOf(await post("sign-in", { email: ada, password: goodPassword })),
    "401 SIGN_IN_FAILED",
  );
  const signed = bodyOf<Signed>(await post("sign-in", { ticket, code: await codeFor(ada) }));
  assert.equal(signed.user.email, ada);
  assert.deepEqual(signed.user.roles, []);
  const profile = await service.send({ path: `/api/v1/users/${signed.user.id}` });
  assert.deepEqual(profile.json, { id: signed.user.id, name: "Ada" });
  const again = bodyOf<Signed>(await post("sign-in", { email: "ADA@example.org", password: goodPassword }));
  assert.equal(again.user.id, signed.user.id);
  assert.notEqual(again.token, signed.token);
});

test("the id of the user is the subject of rules and of the history", async (t) => {
  const { service, join } = await startPeople(t, { showPrincipal: true });
  const [a, b] = [await join(ada), await join("bob@example.org")];
  const write = (token: string, authorId: string) =>
    service.send({ method: "POST", path: "/api/v1/articles", content: { authorId }, headers: bearer(token) });
  const { id } = bodyOf<{ id: string }>(await write(a.token, a.user.id), 201);
  assert.equal(problemOf(await write(b.token, a.user.id)), "403 INSUFFICIENT_SCOPE");
  const path = `/api/v1/articles/${id}`;
  const foreign = await service.send({ method: "DELETE", path, headers: bearer(b.token) });
  assert.equal(problemOf(foreign), "403 INSUFFICIENT_SCOPE");
  const changes = bodyOf<{ principal: string }[]>(await service.send({ path: `${path}/_changes` }));
  assert.deepEqual(
    changes.map(({ principal }) => principal),
    [a.user.id],
  );
});

test("a code works once, only with its ticket, and five wrong codes end the ticket", async (t) => {
  const { post, codeFor, join } = await startPeople(t);
  await join(ada);
  const first = bodyOf<{ ticket: string }>(await post("code", { email: ada }), 202);
  const code = await codeFor(ada, 1);
  const second = bodyOf<{ ticket: string }>(await post("code", { email: ada }), 202);
  const later = await codeFor(ada, 2);
  assert.equal(problemOf(await post("sign-in", { ticket: second.ticket, code })), "401 SIGN_IN_FAILED");
  assert.equal(
    problemOf(await post("sign-in", { ticket: `${first.ticket.slice(0, -1)}_`, code })),
    "401 SIGN_IN_FAILED",
  );
  const answers = await Promise.all([1, 2, 3, 4].map(() => post("sign-in", { ticket: first.ticket, code })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401]);
  // The address is proven, so the other ticket has ended too.
  assert.equal(
    problemOf(await post("sign-in", { ticket: second.ticket, code: later })),
    "401 SIGN_IN_FAILED",
  );
  const third = bodyOf<{ ticket: string }>(await post("code", { email: ada }), 202);
  const right = await codeFor(ada, 3);
  const wrong = right.startsWith("0") ? `1${right.slice(1)}` : `0${right.slice(1)}`;
  const tries = Array.from({ length: 5 }, () => post("sign-in", { ticket: third.ticket, code: wrong }));
  for (const answer of await Promise.all(tries)) assert.equal(problemOf(answer), "401 SIGN_IN_FAILED");
  assert.equal(problemOf(await post("sign-in", { ticket: third.ticket, code: right })), "401 SIGN_IN_FAILED");
});

test("a code can be typed in small letters, without the hyphen, and with letters that look like digits", async (t) => {
  const { post, codeFor, join } = await startPeople(t);
  await join(ada);
  const { ticket } = bodyOf<{ ticket: string }>(await post("code", { email: ada }), 202);
  const code = await codeFor(ada, 1);
  const typed = ` ${code.toLowerCase().replace("-", " ").replaceAll("0", "o").replaceAll("1", "l")}`;
  bodyOf<Signed>(await post("sign-in", { ticket, code: typed }));
});

test("a sign-up for an address that has an account changes nothing there, and its code signs in", async (t) => {
  const { service, post, codeFor, join, mails } = await startPeople(t);
  const owner = await join(ada, { profile: { name: "Ada" } });
  const other = { email: ada, password: "another long password", profile: { name: "Eve" } };
  const { ticket } = bodyOf<{ ticket: string }>(await post("sign-up", other), 202);
  const code = await codeFor(ada, 1);
  assert.match(mails.at(-1)?.text ?? "", /account/);
  const signed = bodyOf<Signed>(await post("sign-in", { ticket, code }));
  assert.equal(signed.user.id, owner.user.id);
  assert.equal(
    problemOf(await post("sign-in", { email: ada, password: other.password })),
    "401 SIGN_IN_FAILED",
  );
  bodyOf(await post("sign-in", { email: ada, password: goodPassword }));
  const profiles = bodyOf<object[]>(await service.send({ path: "/api/v1/users" }));
  assert.deepEqual(profiles, [{ id: owner.user.id, name: "Ada" }]);
});

test("an account that somebody opened in advance does not exist: once an address is proven, all earlier sign-ups end", async (t) => {
  const { post, codeFor, join } = await startPeople(t);
  const early = { email: ada, password: "the attacker knows this one" };
  const { ticket } = bodyOf<{ ticket: string }>(await post("sign-up", early), 202);
  const code = await codeFor(ada);
  await join(ada);
  assert.equal(problemOf(await post("sign-in", early)), "401 SIGN_IN_FAILED");
  assert.equal(problemOf(await post("sign-in", { ticket, code })), "401 SIGN_IN_FAILED");
});

test("a reset ends the session of the caller, also if it was of another user, and no key", async (t) => {
  const { service, post, codeFor, join } = await startPeople(t);
  await join(ada);
  const other = await join("bob@example.org");
  const content = { name: "backup", expiresAt: new Date(machineTime() + 86_400_000).toISOString() };
  const key = bodyOf<Signed>(await post("sessions", content, bearer(other.token)), 201);
  const isIn = async ({ token }: Signed) =>
    (await service.send({ path: "/api/v1/_auth", headers: bearer(token) })).status === 200;
  for (const [n, caller] of [key, other].entries()) {
    const { ticket } = bodyOf<{ ticket: string }>(await post("reset", { email: ada }), 202);
    const proof = { ticket, code: await codeFor(ada, 1 + n * 2) };
    const reset = { ...proof, password: `another staple battery ${n}` };
    assert.equal(bodyOf<Signed>(await post("password", reset, bearer(caller.token))).user.email, ada);
  }
  await until("the session has ended", async () => !(await isIn(other)));
  assert.ok(await isIn(key));
});

test("a reset sets a password, and ends all sessions", async (t) => {
  const { service, post, codeFor, join, mails } = await startPeople(t);
  const before = await join(ada);
  const { ticket } = bodyOf<{ ticket: string }>(await post("reset", { email: ada }), 202);
  const code = await codeFor(ada, 1);
  assert.equal(problemOf(await post("sign-in", { ticket, code })), "401 SIGN_IN_FAILED");
  assert.equal(
    problemOf(await post("password", { ticket, code, password: "short" })),
    "400 PASSWORD_REFUSED",
  );
  const password = "a quite different password";
  const after = bodyOf<Signed>(await post("password", { ticket, code, password }));
  const own = (token: string) => service.send({ path: "/api/v1/_auth/sessions", headers: bearer(token) });
  const { sessions } = bodyOf<{ sessions: { id: string }[] }>(await own(after.token));
  assert.deepEqual(
    sessions.map(({ id }) => id),
    [after.session.id],
  );
  assert.notEqual(before.session.id, after.session.id);
  assert.equal(
    problemOf(await post("sign-in", { email: ada, password: goodPassword })),
    "401 SIGN_IN_FAILED",
  );
  bodyOf(await post("sign-in", { email: ada, password }));
  assert.match(mails.at(-1)?.text ?? "", /password of your account was changed/);
});

test("a session changes the password only with a recent proof, and a confirmation gives a new token", async (t) => {
  let now = machineTime();
  const { post, join } = await startPeople(t, { now: () => now });
  const first = await join(ada);
  now += 601_000;
  const change = (token: string) =>
    post("password", { password: "a quite different password" }, bearer(token));
  assert.equal(problemOf(await change(first.token)), "403 CONFIRMATION_REQUIRED");
  const wrong = await post("confirm", { password: "not the right one" }, bearer(first.token));
  assert.equal(problemOf(wrong), "401 SIGN_IN_FAILED");
  const confirmed = bodyOf<Signed>(await post("confirm", { password: goodPassword }, bearer(first.token)));
  assert.notEqual(confirmed.token, first.token);
  bodyOf(await change(confirmed.token));
});

test("a user sees the own sessions, ends one, and signs out everywhere", async (t) => {
  const { service, post, join } = await startPeople(t);
  const [first, other] = [await join(ada), await join("bob@example.org")];
  const second = bodyOf<Signed>(await post("sign-in", { email: ada, password: goodPassword }));
  const path = "/api/v1/_auth/sessions";
  const list = await service.send({ path, headers: bearer(first.token) });
  const { sessions } = bodyOf<{ sessions: { id: string; current: boolean; network: string }[] }>(list);
  assert.deepEqual(new Set(sessions.map(({ id }) => id)), new Set([first.session.id, second.session.id]));
  assert.deepEqual(
    sessions.filter(({ current }) => current).map(({ id }) => id),
    [first.session.id],
  );
  const end = (id: string) =>
    service.send({ method: "DELETE", path: `${path}/${id}`, headers: bearer(first.token) });
  assert.equal((await end(other.session.id)).status, 404);
  assert.equal((await end(second.session.id)).status, 205);
  assert.equal((await end(second.session.id)).status, 404);
  const out = await post("sign-out", { everywhere: true }, bearer(first.token));
  assert.equal(out.status, 204);
  assert.equal(out.headers["clear-site-data"], '"cache"');
  assert.equal((await service.send({ path, headers: bearer(other.token) })).status, 200);
});

test("GET _auth says how people sign in, and who the caller is", async (t) => {
  const { service, join } = await startPeople(t);
  const { token, user } = await join(ada);
  const path = "/api/v1/_auth";
  const stranger = bodyOf(await service.send({ path }));
  assert.deepEqual(stranger, { methods: ["password", "email"], providers: [], signUp: "open" });
  const own = await service.send({ path, headers: bearer(token) });
  assert.deepEqual(bodyOf<Signed>(own).user, user);
  assert.equal(own.headers["cache-control"], "no-store");
});

test("a wrong body is refused with what is right", async (t) => {
  const { service, post } = await startPeople(t);
  const wrong: [path: string, body: object, violation: string][] = [
    ["sign-in", {}, "email"],
    ["sign-in", { email: ada }, "password"],
    ["sign-in", { email: ada, password: goodPassword, ticket: "a", code: "b" }, "email"],
    ["sign-in", { ticket: "a" }, "code"],
    ["sign-in", { email: "ada", password: goodPassword }, "email"],
    ["sign-up", { email: "ada@example.org, eve@example.org" }, "email"],
    ["sign-up", { email: ada, roles: ["ops"] }, "roles"],
    ["code", { email: 1 }, "email"],
  ];
  for (const [path, body, member] of wrong) {
    const answer = await post(path, body);
    assert.equal(problemOf(answer), "400 INVALID_PARAMETER", path);
    const { violations } = answer.json as { violations: { pointer: string }[] };
    assert.equal(violations[0]?.pointer, `#/${member}`);
  }
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const request = { method: "POST", path: "/api/v1/_auth/sign-in", headers: form, body: `email=${ada}` };
  assert.equal((await service.send(request)).status, 415);
  const profile = await post("sign-up", { email: ada, profile: { name: "", role: "ops" } });
  assert.equal(problemOf(profile), "400 VALIDATION_FAILED");
  const { violations } = profile.json as { violations: { pointer: string }[] };
  assert.deepEqual(violations.map(({ pointer }) => pointer).sort(), ["#/profile/name", "#/profile/role"]);
});

test("where sign-up is closed, it needs an invitation, and a domain is checked", async (t) => {
  const { post } = await startPeople(t, { users: { signUp: "closed" } });
  const uninvited = await post("sign-up", { email: ada });
  assert.equal(problemOf(uninvited), "400 INVALID_PARAMETER");
  assert.match(uninvited.text, /without an invitation/);
  const some = await startPeople(t, { users: { signUp: { domains: ["acme.example"], roles: ["member"] } } });
  assert.equal(problemOf(await some.post("sign-up", { email: ada })), "400 INVALID_PARAMETER");
  assert.deepEqual((await some.join("ada@acme.example")).user.roles, ["member"]);
});

test("only the methods of the service work", async (t) => {
  const byCode = await startPeople(t, { users: { methods: ["email"] } });
  const asked = { email: ada, password: goodPassword };
  assert.equal(problemOf(await byCode.post("sign-up", asked)), "400 INVALID_PARAMETER");
  const { ticket } = bodyOf<{ ticket: string }>(await byCode.post("sign-up", { email: ada }), 202);
  bodyOf(await byCode.post("sign-in", { ticket, code: await byCode.codeFor(ada) }));
  assert.equal(problemOf(await byCode.post("sign-in", asked)), "401 SIGN_IN_FAILED");
  assert.equal((await byCode.post("reset", { email: ada })).status, 404);
  const byPassword = await startPeople(t, { users: { methods: ["password"] } });
  assert.equal(problemOf(await byPassword.post("sign-up", { email: ada })), "400 INVALID_PARAMETER");
  assert.equal((await byPassword.post("code", { email: ada })).status, 404);
  await byPassword.join(ada);
});
