/** The second factor: an authenticator app and recovery codes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bearer, bodyOf, problemOf, type Signed } from "./people.ts";
import { ada, addApp, byPassword, factorsOf, mailed, type Step, start } from "./second-factors.ts";

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

test("without second factors, their requests do not exist", async (t) => {
  const { post, join } = await start(t, { secondFactor: "off" });
  const { token } = await join(ada);
  for (const path of ["factors", "second-factor", "recovery-codes", "passkey"])
    assert.equal((await post(path, {}, bearer(token))).status, 404, path);
});
