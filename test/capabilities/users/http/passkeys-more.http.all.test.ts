/** More of passkeys: their limits, and passkeys beside other ways to sign in. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../until.ts";
import { codeAt } from "./authenticator-app.ts";
import { ada, addPasskey, type Begun, signIn, start } from "./passkeys.ts";
import { bearer, bodyOf, goodPassword, problemOf, type Signed, startPeople } from "./people.ts";
import { startOpenId, TestBrowser } from "./provider-servers.ts";
import { SoftwarePasskey } from "./software-passkey.ts";

test("a user has at most ten passkeys, and removes one", async (t) => {
  const all = await start(t);
  const { service, post, join } = all;
  const { token } = await join(ada);
  const begun = bodyOf<Begun>(await post("factors", { kind: "passkey" }, bearer(token)));
  const devices: SoftwarePasskey[] = [];
  for (let n = 0; n < 10; n++) devices.push((await addPasskey(all, token)).device);
  assert.equal(
    problemOf(await post("factors", { kind: "passkey" }, bearer(token))),
    "409 FACTOR_UNAVAILABLE",
  );
  const eleventh = { ticket: begun.ticket, passkey: all.device().create(begun.options) };
  assert.equal(problemOf(await post("factors", eleventh, bearer(token))), "409 FACTOR_UNAVAILABLE");
  const path = "/api/v1/_auth/factors";
  const { factors } = bodyOf<{ factors: { id: string }[] }>(
    await service.send({ path, headers: bearer(token) }),
  );
  const first = { method: "DELETE", path: `${path}/${factors[0]?.id}`, headers: bearer(token) };
  assert.equal((await service.send(first)).status, 205);
  assert.equal(problemOf((await signIn(all, devices[0] as SoftwarePasskey)).answer), "401 SIGN_IN_FAILED");
  bodyOf<Signed>((await signIn(all, devices[1] as SoftwarePasskey)).answer);
});

test("a passkey alone does not make a password the first factor only", async (t) => {
  const all = await start(t);
  await addPasskey(all, (await all.join(ada)).token);
  bodyOf<Signed>(await all.post("sign-in", { email: ada, password: goodPassword }));
});

test("wrong passkeys of a network have a limit, and right ones do not count", async (t) => {
  const all = await start(t);
  const { device } = await addPasskey(all, (await all.join(ada)).token);
  for (let n = 0; n < 100; n++)
    assert.equal((await signIn(all, device, { isVerified: false })).answer.status, 401);
  const refused = (await signIn(all, device)).answer;
  assert.equal(problemOf(refused), "429 QUOTA_EXCEEDED");
  all.wait(3_600_000);
  for (let n = 0; n < 3; n++) bodyOf<Signed>((await signIn(all, device)).answer);
});

test("somebody who can sign in at a provider can remove the last passkey", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const methods = ["passkey", "providers"] as const;
  const people = await startPeople(t, { users: { methods, providers: [google.settings] } });
  const browser = new TestBrowser(people.service);
  google.person = { sub: "0", email: ada, email_verified: true };
  await browser.signIn("google");
  const content = { kind: "passkey" };
  const begun = bodyOf<Begun>(await browser.send("/api/v1/_auth/factors", { content }));
  const device = new SoftwarePasskey(`http://localhost:${new URL(people.service.origin).port}`);
  const sent = { ticket: begun.ticket, passkey: device.create(begun.options) };
  const { factor } = bodyOf<{ factor: { id: string } }>(
    await browser.send("/api/v1/_auth/factors", { content: sent }),
  );
  const removed = await browser.send(`/api/v1/_auth/factors/${factor.id}`, { method: "DELETE" });
  assert.equal(removed.status, 205, removed.text);
});

test("another address that an administrator gives ends the passkeys, and keeps the authenticator app", async (t) => {
  const all = await start(t, { signUp: { domains: ["example.org"], roles: ["ops"] }, roles: ["ops"] });
  const { service, post, codeFor, mails, wait } = all;
  const root = await all.join("root@example.org");
  const move = async (id: string, email: string) => {
    const path = `/api/v1/_accounts/${id}`;
    bodyOf(await service.send({ method: "PATCH", path, content: { email }, headers: bearer(root.token) }));
    await until("a mail", () => mails.some(({ to }) => to === email));
    const text = mails.find(({ to }) => to === email)?.text ?? "";
    const asked = { email, invitation: /#invitation=([\w-]{43})/.exec(text)?.[1] };
    const { ticket } = bodyOf<{ ticket: string }>(await post("sign-up", asked), 202);
    return bodyOf<Signed & { factors?: string[] }>(
      await post("sign-in", { ticket, code: await codeFor(email, 1) }),
    );
  };
  const { token, user } = await all.join(ada);
  const { device } = await addPasskey(all, token);
  bodyOf((await signIn(all, device)).answer);
  const { token: moved } = await move(user.id, "ada2@example.org");
  assert.equal(problemOf((await signIn(all, device)).answer), "401 SIGN_IN_FAILED");
  const factors = async (headers: object) =>
    bodyOf<{ factors: { kind: string }[]; recoveryCodes: number }>(
      await service.send({ path: "/api/v1/_auth/factors", headers: { ...headers } }),
    );
  assert.deepEqual((await factors(bearer(moved))).factors, []);

  const { ticket, secret } = bodyOf<{ ticket: string; secret: string }>(
    await post("factors", { kind: "totp" }, bearer(moved)),
  );
  bodyOf(await post("factors", { ticket, totp: codeAt(secret, all.now()) }, bearer(moved)));
  const added = await addPasskey(all, moved);
  bodyOf(added.answer);
  const step = await move(user.id, "ada3@example.org");
  assert.deepEqual(step.factors, ["totp", "recoveryCode"]);
  wait(30_000);
  const second = { ticket: (step as unknown as { ticket: string }).ticket, totp: codeAt(secret, all.now()) };
  const signed = bodyOf<Signed>(await post("second-factor", second));
  const left = await factors(bearer(signed.token));
  assert.deepEqual([left.factors.map(({ kind }) => kind), left.recoveryCodes], [["totp"], 10]);
  assert.equal(problemOf((await signIn(all, added.device)).answer), "401 SIGN_IN_FAILED");
});
