/** More of the second factor: confirmations, roles, removal, limits, streams and the audit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { follow } from "../../../http/follow.ts";
import { until } from "../../../until.ts";
import { bearer, bodyOf, goodPassword, problemOf, type Signed, startPeople } from "./people.ts";
import { ada, addApp, byPassword, factorsOf, mailed, type Step, start } from "./second-factors.ts";

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
