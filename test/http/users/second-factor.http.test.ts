/** The second factor: an authenticator app and recovery codes. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openReader } from "../../../src/store/open.ts";
import type { UserSettings } from "../../../src/users/user-settings.ts";
import { machineTime, until } from "../../until.ts";
import { follow } from "../follow.ts";
import { codeAt } from "./authenticator-app.ts";
import { bearer, bodyOf, goodPassword, type People, problemOf, type Signed, startPeople } from "./people.ts";

const ada = "ada@example.org";
const byPassword = { email: ada, password: goodPassword };

interface Step {
  next: string;
  ticket: string;
  factors: string[];
}

interface Added {
  factor: { id: string; kind: string; name?: string };
  recoveryCodes?: string[];
}

/** A service with a clock that the test sets. */
async function start(t: TestContext, users: Partial<UserSettings> = {}, auth: object = {}) {
  let now = machineTime();
  const people = await startPeople(t, { now: () => now, users, auth });
  const wait = (ms: number) => {
    now += ms;
  };
  const code = (secret: string) => codeAt(secret, now);
  return { ...people, wait, code };
}

/** Waits for a mail. */
function mailed({ mails }: People, text: RegExp): Promise<void> {
  return until(`a mail with ${text}`, () => mails.some((mail) => text.test(mail.text)));
}

/** Sets up an authenticator app. */
async function addApp({ post, code }: { post: People["post"]; code(secret: string): string }, token: string) {
  const begun = await post("factors", { kind: "totp" }, bearer(token));
  const { ticket, secret, uri } = bodyOf<{ ticket: string; secret: string; uri: string }>(begun);
  const sent = { ticket, totp: code(secret), name: "phone" };
  return { secret, uri, ticket, ...bodyOf<Added>(await post("factors", sent, bearer(token))) };
}

async function factorsOf({ service }: People, token: string) {
  return bodyOf<{ factors: { id: string; kind: string }[]; recoveryCodes: number; asked: string[] }>(
    await service.send({ path: "/api/v1/_auth/factors", headers: bearer(token) }),
  );
}

test("after an authenticator app is set up, a sign-in asks for its code, and each code works once", async (t) => {
  const all = await start(t);
  const { post, join, wait, code } = all;
  const { token } = await join(ada);
  const { secret, uri, factor, recoveryCodes } = await addApp(all, token);
  assert.match(uri, /^otpauth:\/\/totp\/.*ada%40example\.org\?.*secret=[A-Z2-7]{32}/);
  assert.deepEqual({ kind: factor.kind, name: factor.name }, { kind: "totp", name: "phone" });
  assert.equal(new Set(recoveryCodes).size, 10);
  await mailed(all, /authenticator app was added/);
  const step = bodyOf<Step>(await post("sign-in", byPassword));
  assert.deepEqual(
    { next: step.next, factors: step.factors },
    { next: "secondFactor", factors: ["totp", "recoveryCode"] },
  );
  assert.equal("token" in step, false);
  const { ticket } = step;
  const again = await post("second-factor", { ticket, totp: code(secret) });
  assert.equal(problemOf(again), "401 SIGN_IN_FAILED", "the code that has set the app up is used");
  wait(30_000);
  const totp = code(secret);
  const answers = await Promise.all([1, 2, 3].map(() => post("second-factor", { ticket, totp })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401]);
  const other = bodyOf<Step>(await post("sign-in", byPassword));
  assert.equal(problemOf(await post("second-factor", { ticket: other.ticket, totp })), "401 SIGN_IN_FAILED");
  wait(60_000);
  assert.equal(
    problemOf(await post("second-factor", { ticket, totp: code(secret) })),
    "401 SIGN_IN_FAILED",
    "a ticket works once",
  );
  bodyOf<Signed>(await post("second-factor", { ticket: other.ticket, totp: code(secret) }));
});

test("a change of letters in the address ends a sign-in that waits for the second factor", async (t) => {
  const all = await start(t);
  const { post, join, codeFor, wait, code } = all;
  const { token } = await join(ada);
  const { secret } = await addApp(all, token);
  wait(60_000);
  const { ticket } = bodyOf<Step>(await post("sign-in", byPassword));
  const email = "Ada@example.org";
  const asked = bodyOf<{ ticket: string }>(await post("email", { email }, bearer(token)), 202);
  bodyOf(await post("email", { ticket: asked.ticket, code: await codeFor(email) }, bearer(token)));
  const late = await post("second-factor", { ticket, totp: code(secret) });
  assert.equal(problemOf(late), "401 SIGN_IN_FAILED");
});

test("a code by mail and a reset are the first factor only", async (t) => {
  const all = await start(t);
  const { post, join, codeFor, wait, code, service } = all;
  const { token } = await join(ada);
  const { secret } = await addApp(all, token);
  wait(60_000);
  const mailed = bodyOf<{ ticket: string }>(await post("code", { email: ada }), 202);
  const proof = { ticket: mailed.ticket, code: await codeFor(ada, 2) };
  const step = bodyOf<Step>(await post("sign-in", proof));
  assert.equal(step.next, "secondFactor");
  assert.equal(problemOf(await post("sign-in", proof)), "401 SIGN_IN_FAILED", "the code of the mail is used");
  const reset = bodyOf<{ ticket: string }>(await post("reset", { email: ada }), 202);
  const password = "a quite different password";
  const set = { ticket: reset.ticket, code: await codeFor(ada, 3), password };
  const after = bodyOf<Step>(await post("password", set));
  assert.equal(after.next, "secondFactor");
  const own = { path: "/api/v1/_auth/sessions", headers: bearer(token) };
  assert.equal((await service.send(own)).status, 401, "a reset ends all sessions at once");
  const late = await post("second-factor", { ticket: step.ticket, totp: code(secret) });
  assert.equal(problemOf(late), "401 SIGN_IN_FAILED", "the ticket is from before the reset");
  bodyOf<Signed>(await post("second-factor", { ticket: after.ticket, totp: code(secret) }));
});

test("a recovery code replaces the second factor once", async (t) => {
  const all = await start(t);
  const { post, join } = all;
  const { token } = await join(ada);
  const { recoveryCodes = [] } = await addApp(all, token);
  const use = async (recoveryCode: string) => {
    const { ticket } = bodyOf<Step>(await post("sign-in", byPassword));
    return post("second-factor", { ticket, recoveryCode });
  };
  const [first = "", second = ""] = recoveryCodes;
  const signed = bodyOf<Signed>(await use(first.toLowerCase().replaceAll("-", " ")));
  await mailed(all, /9 of them are left/);
  assert.equal(problemOf(await use(first)), "401 SIGN_IN_FAILED");
  assert.equal(problemOf(await use(second.slice(0, -1))), "401 SIGN_IN_FAILED");
  assert.equal((await factorsOf(all, signed.token)).recoveryCodes, 9);
  const renewed = await post("recovery-codes", {}, bearer(signed.token));
  const { recoveryCodes: codes } = bodyOf<{ recoveryCodes: string[] }>(renewed);
  assert.equal(problemOf(await use(second)), "401 SIGN_IN_FAILED");
  bodyOf<Signed>(await use(codes[9] as string));
});

test("a confirmation asks for the second factor too, and ends the session before", async (t) => {
  const all = await start(t);
  const { post, join, wait, code, service } = all;
  const { token } = await join(ada);
  const { secret } = await addApp(all, token);
  wait(601_000);
  const refused = await post("factors", { kind: "totp" }, bearer(token));
  assert.equal(problemOf(refused), "403 CONFIRMATION_REQUIRED");
  assert.equal(problemOf(await post("recovery-codes", {}, bearer(token))), "403 CONFIRMATION_REQUIRED");
  const step = bodyOf<Step>(await post("confirm", { password: goodPassword }, bearer(token)));
  const proof = { ticket: step.ticket, totp: code(secret) };
  const next = bodyOf<Signed>(await post("second-factor", proof));
  assert.equal((await service.send({ path: "/api/v1/_auth/sessions", headers: bearer(token) })).status, 401);
  bodyOf(await post("recovery-codes", {}, bearer(next.token)));
});

test("a factor is removed in a confirmed session, and all others end", async (t) => {
  const all = await start(t);
  const { post, join, wait, code, service } = all;
  const { token } = await join(ada);
  const { secret, factor } = await addApp(all, token);
  wait(30_000);
  const { ticket } = bodyOf<Step>(await post("sign-in", byPassword));
  const other = bodyOf<Signed>(await post("second-factor", { ticket, totp: code(secret) }));
  const open = bodyOf<Step>(await post("sign-in", byPassword));
  const remove = (id: string, who = token) =>
    service.send({ method: "DELETE", path: `/api/v1/_auth/factors/${id}`, headers: bearer(who) });
  assert.equal((await remove("unknown")).status, 404);
  wait(601_000);
  assert.equal(problemOf(await remove(factor.id)), "403 CONFIRMATION_REQUIRED");
  wait(-601_000);
  assert.equal((await remove(factor.id)).status, 205);
  await mailed(all, /was removed/);
  assert.equal(
    (await service.send({ path: "/api/v1/_auth/sessions", headers: bearer(other.token) })).status,
    401,
  );
  const late = await post("second-factor", { ticket: open.ticket, totp: code(secret) });
  assert.equal(problemOf(late), "401 SIGN_IN_FAILED");
  const signed = bodyOf<Signed>(await post("sign-in", byPassword));
  assert.deepEqual(await factorsOf(all, signed.token), {
    factors: [],
    recoveryCodes: 0,
    kinds: ["totp"],
    asked: [],
    required: false,
  });
  const none = await post("recovery-codes", {}, bearer(signed.token));
  assert.equal(problemOf(none), "409 FACTOR_UNAVAILABLE");
});

test("a new app replaces the one before, and a wrong code sets up nothing", async (t) => {
  const all = await start(t);
  const { post, join, code } = all;
  const [a, b] = [await join(ada), await join("bob@example.org")];
  const begun = await post("factors", { kind: "totp" }, bearer(a.token));
  const { ticket, secret } = bodyOf<{ ticket: string; secret: string }>(begun);
  const totp = code(secret);
  const wrong = `${(Number(totp[0]) + 1) % 10}${totp.slice(1)}`;
  assert.equal(
    problemOf(await post("factors", { ticket, totp: wrong }, bearer(a.token))),
    "401 SIGN_IN_FAILED",
  );
  const foreign = await post("factors", { ticket, totp }, bearer(b.token));
  assert.equal(problemOf(foreign), "401 SIGN_IN_FAILED", "the ticket is that of another user");
  assert.deepEqual((await factorsOf(all, a.token)).factors, []);
  bodyOf(await post("factors", { ticket, totp }, bearer(a.token)));
  const second = await addApp(all, a.token);
  assert.equal(second.recoveryCodes, undefined, "the recovery codes stay");
  const { factors } = await factorsOf(all, a.token);
  assert.deepEqual(
    factors.map(({ id }) => id),
    [second.factor.id],
  );
});

test("after ten wrong codes, an unknown device gets 429, and a mail says that somebody has the password", async (t) => {
  const all = await start(t);
  const { post, join, wait, code, mails } = all;
  const { token, device } = await join(ada);
  const { secret } = await addApp(all, token);
  wait(30_000);
  const tryCode = async (totp: string, more: object = {}) => {
    const { ticket } = bodyOf<Step>(await post("sign-in", { ...byPassword, ...more }));
    return post("second-factor", { ticket, totp, ...more });
  };
  const right = code(secret);
  const wrong = `${(Number(right[0]) + 1) % 10}${right.slice(1)}`;
  for (let n = 0; n < 10; n++) assert.equal(problemOf(await tryCode(wrong)), "401 SIGN_IN_FAILED");
  const notices = () => mails.filter(({ text }) => text.includes("many wrong codes")).length;
  for (let n = 0; n < 2; n++) {
    const refused = await tryCode(right);
    assert.equal(problemOf(refused), "429 QUOTA_EXCEEDED");
    assert.equal(refused.headers["retry-after"] !== undefined, true);
  }
  await mailed(all, /many wrong codes/);
  assert.equal(notices(), 1);
  bodyOf<Signed>(await tryCode(right, { device }));
});

test("who must have a second factor can only set one up", async (t) => {
  const all = await start(t, { secondFactor: "required" });
  const { service, post, join } = all;
  const joined = await join(ada);
  const { token } = joined;
  const read = (path: string) => service.send({ path: `/api/v1/${path}`, headers: bearer(token) });
  assert.equal((joined.session as unknown as { mustAddFactor: boolean }).mustAddFactor, true);
  assert.equal(problemOf(await read("users")), "403 SECOND_FACTOR_REQUIRED");
  assert.equal(problemOf(await read("_auth/sessions")), "403 SECOND_FACTOR_REQUIRED");
  const password = { password: "a quite different password" };
  assert.equal(problemOf(await post("password", password, bearer(token))), "403 SECOND_FACTOR_REQUIRED");
  assert.equal((await read("_auth")).status, 200);
  assert.equal((await service.send({ path: "/api/v1/users" })).status, 200, "everybody can read it");
  const { factor } = await addApp(all, token);
  assert.equal((await read("users")).status, 200, "at once");
  const remove = { method: "DELETE", path: `/api/v1/_auth/factors/${factor.id}`, headers: bearer(token) };
  assert.equal(problemOf(await service.send(remove)), "409 FACTOR_UNAVAILABLE");
});

test("a role can need a second factor", async (t) => {
  const all = await start(t, {
    secondFactor: { roles: ["editor"] },
    signUp: { domains: ["acme.example", "example.org"], roles: ["editor"] },
  });
  const { token } = await all.join(ada);
  const answer = await all.service.send({ path: "/api/v1/users", headers: bearer(token) });
  assert.equal(problemOf(answer), "403 SECOND_FACTOR_REQUIRED");
  const other = await start(t, { secondFactor: { roles: ["editor"] } });
  const free = await other.join(ada);
  assert.equal(
    (await other.service.send({ path: "/api/v1/users", headers: bearer(free.token) })).status,
    200,
  );
});

test("a stream of events ends when its user has to set up a second factor", async (t) => {
  let elapsed = 0;
  const { service, join } = await startPeople(t, {
    elapsed: () => elapsed,
    heartbeatMs: 600_000,
    users: {
      secondFactor: { roles: ["editor"] },
      signUp: { domains: ["example.org"], roles: ["ops"] },
      roles: ["ops", "editor"],
    },
  });
  const [root, { token, user }] = [await join("root@example.org"), await join(ada)];
  const stream = await follow(service, "/api/v1/users/_events", bearer(token));
  t.after(() => stream.close());
  await until("the first frame has come", () => stream.frames().length > 0);
  const roles = { roles: ["ops", "editor"] };
  const path = `/api/v1/_accounts/${user.id}`;
  bodyOf(await service.send({ method: "PATCH", path, content: roles, headers: bearer(root.token) }));
  elapsed += 1_000;
  const profile = `/api/v1/users/${root.user.id}`;
  bodyOf(
    await service.send({
      method: "PATCH",
      path: profile,
      content: { about: "x" },
      headers: bearer(root.token),
    }),
  );
  await until("the stream has ended", () => stream.hasEnded());
  assert.ok(!stream.frames().some((frame) => JSON.stringify(frame).includes("about")));
});

test("without second factors, their requests do not exist", async (t) => {
  const { post, join } = await start(t, { secondFactor: "off" });
  const { token } = await join(ada);
  for (const path of ["factors", "second-factor", "recovery-codes", "passkey"])
    assert.equal((await post(path, {}, bearer(token))).status, 404, path);
});

test("the store has neither the secret nor the recovery codes as text", async (t) => {
  const all = await start(t);
  const { token, user } = await all.join(ada);
  const { secret, recoveryCodes = [] } = await addApp(all, token);
  const store = await openReader(all.service.store);
  t.after(() => store.close());
  let stored = "";
  for await (const { text } of store.scan("_accounts")) stored += text;
  assert.ok(stored.includes(user.id) && stored.includes("totp"));
  for (const text of [secret, ...recoveryCodes, ...recoveryCodes.map((each) => each.replaceAll("-", ""))])
    assert.ok(!stored.includes(text));
});

test("the audit says whose second factor was wrong, and records a confirmation once it is proven", async (t) => {
  const all = await start(t, { signUp: { domains: ["example.org"], roles: ["ops"] } });
  const { post, join, wait, code, service } = all;
  const { token, user } = await join(ada);
  const { secret } = await addApp(all, token);
  wait(60_000);
  const { ticket } = bodyOf<Step>(await post("confirm", { password: goodPassword }, bearer(token)));
  await post("second-factor", { ticket, totp: "000000" });
  const entries = async (kind: string, used = token) =>
    bodyOf<{ entries: { result: string; subject?: string; method: string }[] }>(
      await service.send({ path: `/api/v1/_audit?kind=${kind}`, headers: bearer(used) }),
    ).entries.map(({ result, subject, method }) => [result, subject, method]);
  assert.deepEqual(await entries("confirmation"), []);
  assert.deepEqual(await entries("secondFactor"), [["failed", user.id, "totp"]]);
  const next = bodyOf<Signed>(await post("second-factor", { ticket, totp: code(secret) }));
  assert.deepEqual(await entries("confirmation", next.token), [["done", user.id, "totp"]]);
});

test("what ends the sessions of a user also ends a sign-in that waits for the second factor", async (t) => {
  const all = await start(t, { signUp: { domains: ["example.org"], roles: ["ops"] } });
  const { post, join, wait, code, service } = all;
  const { token, user } = await join(ada);
  const { secret } = await addApp(all, token);
  const send = (method: string, path: string, used: string) =>
    service.send({ method, path: `/api/v1/${path}`, headers: bearer(used) });
  const signIn = async () => {
    const { ticket } = bodyOf<Step>(await post("sign-in", byPassword));
    wait(30_000);
    return bodyOf<Signed>(await post("second-factor", { ticket, totp: code(secret) })).token;
  };
  for (const end of [
    (used: string) => post("sign-out", { everywhere: true }, bearer(used)),
    (used: string) => send("POST", `_accounts/${user.id}/_sign-out`, used),
  ]) {
    const used = await signIn();
    const { ticket } = bodyOf<Step>(await post("sign-in", byPassword));
    assert.equal((await end(used)).status, 204);
    wait(30_000);
    const late = await post("second-factor", { ticket, totp: code(secret) });
    assert.equal(problemOf(late), "401 SIGN_IN_FAILED");
  }
  await signIn();
});
