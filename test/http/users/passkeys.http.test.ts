/** Passkeys: people sign in with their device. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { UserSettings } from "../../../src/users/user-settings.ts";
import { machineTime, until } from "../../until.ts";
import { codeAt } from "./authenticator-app.ts";
import { bearer, bodyOf, goodPassword, type People, problemOf, type Signed, startPeople } from "./people.ts";
import { startOpenId, TestBrowser } from "./provider-servers.ts";
import { SoftwarePasskey, type Wrong } from "./software-passkey.ts";

const ada = "ada@example.org";

interface Begun {
  ticket: string;
  options: { challenge: string; rpId: string; allowCredentials?: unknown };
}

/** A service with a clock that the test sets. */
async function start(t: TestContext, users: Partial<UserSettings> = {}) {
  let now = machineTime();
  const methods = ["password", "email", "passkey"] as const;
  const people = await startPeople(t, { now: () => now, users: { methods, ...users } });
  const wait = (ms: number) => {
    now += ms;
  };
  // A local service is found under the name of this machine.
  const page = `http://localhost:${new URL(people.service.origin).port}`;
  return { ...people, wait, now: () => now, device: () => new SoftwarePasskey(page) };
}

/** Adds a passkey of a new device. */
async function addPasskey(all: People & { device(): SoftwarePasskey }, token: string, wrong: Wrong = {}) {
  const device = all.device();
  const { ticket, options } = bodyOf<Begun>(await all.post("factors", { kind: "passkey" }, bearer(token)));
  const sent = { ticket, passkey: device.create(options, wrong), name: "laptop" };
  return { device, sent, answer: await all.post("factors", sent, bearer(token)) };
}

async function signIn({ post }: People, device: SoftwarePasskey, wrong: Wrong = {}) {
  const { ticket, options } = bodyOf<Begun>(await post("passkey", {}));
  const proof = { ticket, passkey: device.get(options, wrong) };
  return { proof, answer: await post("sign-in", proof) };
}

test("somebody adds a passkey and signs in with it alone, and each challenge works once", async (t) => {
  const all = await start(t);
  const { post, join, wait } = all;
  const { token, user } = await join(ada);
  const { device, sent, answer } = await addPasskey(all, token);
  const { factor, recoveryCodes } = bodyOf<{
    factor: { kind: string; name: string };
    recoveryCodes?: unknown;
  }>(answer);
  assert.deepEqual([factor.kind, factor.name, recoveryCodes], ["passkey", "laptop", undefined]);
  assert.equal(problemOf(await post("factors", sent, bearer(token))), "401 SIGN_IN_FAILED");
  const { proof, answer: first } = await signIn(all, device);
  assert.equal(bodyOf<Signed>(first).user.id, user.id);
  assert.equal(problemOf(await post("sign-in", proof)), "401 SIGN_IN_FAILED");
  const { ticket, options } = bodyOf<Begun>(await post("passkey", {}));
  const late = { ticket, passkey: device.get(options) };
  const answers = await Promise.all([1, 2, 3].map(() => post("sign-in", late)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401]);
  const old = bodyOf<Begun>(await post("passkey", {}));
  wait(300_000);
  const tooLate = await post("sign-in", { ticket: old.ticket, passkey: device.get(old.options) });
  assert.equal(problemOf(tooLate), "401 SIGN_IN_FAILED");
});

test("a sign-in with a passkey names no passkey and no address", async (t) => {
  const all = await start(t);
  const { post, join } = all;
  const before = bodyOf<Begun>(await post("passkey", {}));
  await addPasskey(all, (await join(ada)).token);
  const after = bodyOf<Begun>(await post("passkey", {}));
  const shape = ({ ticket, options }: Begun) => ({ ...options, challenge: "", ticket: ticket.length });
  assert.deepEqual(shape(after), shape(before));
  assert.notEqual(after.options.challenge, before.options.challenge);
});

test("what is signed must be the challenge, the service, its pages, and a verified user", async (t) => {
  const all = await start(t);
  const { post, join } = all;
  const [a, b] = [await join(ada), await join("bob@example.org")];
  const { device } = await addPasskey(all, a.token);
  const other = await addPasskey(all, b.token);
  const wrongs: Wrong[] = [
    { origin: "https://evil.example" },
    { host: "evil.example" },
    { challenge: "AAAA" },
    { isVerified: false },
    { userHandle: Buffer.from(b.user.id).toString("base64url") },
    { userHandle: "" },
    { type: "webauthn.create" },
  ];
  for (const wrong of wrongs) {
    const { answer } = await signIn(all, device, wrong);
    assert.equal(problemOf(answer), "401 SIGN_IN_FAILED", JSON.stringify(wrong));
    if (wrong.userHandle !== undefined) continue;
    const made = await addPasskey(all, a.token, wrong.type === undefined ? wrong : { type: "webauthn.get" });
    assert.equal(problemOf(made.answer), "401 SIGN_IN_FAILED", JSON.stringify(wrong));
  }
  assert.equal(
    problemOf((await signIn(all, all.device())).answer),
    "401 SIGN_IN_FAILED",
    "an unknown device",
  );
  const [mine, theirs] = [bodyOf<Begun>(await post("passkey", {})), bodyOf<Begun>(await post("passkey", {}))];
  const swapped = { ticket: mine.ticket, passkey: device.get(theirs.options) };
  assert.equal(
    problemOf(await post("sign-in", swapped)),
    "401 SIGN_IN_FAILED",
    "the challenge of another ticket",
  );
  const confirm = { ticket: mine.ticket, passkey: other.device.get(mine.options) };
  assert.equal(
    problemOf(await post("confirm", confirm, bearer(a.token))),
    "401 SIGN_IN_FAILED",
    "another user",
  );
  bodyOf<Signed>(await post("confirm", { ...confirm, passkey: device.get(mine.options) }, bearer(a.token)));
});

test("a counter of uses that does not rise is refused", async (t) => {
  const all = await start(t);
  const { device } = await addPasskey(all, (await all.join(ada)).token);
  device.counter = 5;
  bodyOf<Signed>((await signIn(all, device)).answer);
  for (const counter of [4, 5]) {
    device.counter = counter;
    assert.equal(problemOf((await signIn(all, device)).answer), "401 SIGN_IN_FAILED");
  }
  device.counter = 6;
  bodyOf<Signed>((await signIn(all, device)).answer);
});

test("a body that no browser sends is refused", async (t) => {
  const { post } = await start(t);
  const { ticket } = bodyOf<Begun>(await post("passkey", {}));
  for (const passkey of [
    {},
    "a",
    null,
    { id: "a", response: 1 },
    { id: "a", response: { x: "a".repeat(20_000) } },
  ])
    assert.equal(problemOf(await post("sign-in", { ticket, passkey })), "400 INVALID_PARAMETER");
  const userHandle = Buffer.from("a").toString("base64url");
  for (const response of [
    {},
    { userHandle: 1 },
    { userHandle },
    { userHandle, signature: [], clientDataJSON: {} },
  ])
    assert.equal(
      problemOf(await post("sign-in", { ticket, passkey: { id: "a", response } })),
      "401 SIGN_IN_FAILED",
    );
  const proof = { ticket, passkey: { id: "a", response: { userHandle } }, password: goodPassword };
  assert.equal(problemOf(await post("sign-in", proof)), "400 INVALID_PARAMETER");
});

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

test("a passkey is the second factor where one is required", async (t) => {
  const all = await start(t, { secondFactor: "required" });
  const { service, post, join } = all;
  const { token } = await join(ada);
  const { device, answer } = await addPasskey(all, token);
  assert.equal(bodyOf<{ recoveryCodes: string[] }>(answer).recoveryCodes.length, 10);
  assert.equal((await service.send({ path: "/api/v1/users", headers: bearer(token) })).status, 200);
  bodyOf<Signed>((await signIn(all, device)).answer);
  const step = async () =>
    bodyOf<{ ticket: string; factors: string[]; passkey: Begun["options"] }>(
      await post("sign-in", { email: ada, password: goodPassword }),
    );
  const { ticket, factors, passkey } = await step();
  assert.deepEqual(factors, ["passkey", "recoveryCode"]);
  const other = await step();
  const swapped = await post("second-factor", { ticket, passkey: device.get(other.passkey) });
  assert.equal(problemOf(swapped), "401 SIGN_IN_FAILED");
  assert.equal(problemOf(await post("second-factor", { ticket, totp: "123456" })), "401 SIGN_IN_FAILED");
  bodyOf<Signed>(await post("second-factor", { ticket, passkey: device.get(passkey) }));
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

test("without the method, no passkey can be added or used", async (t) => {
  const all = await start(t, { methods: ["password", "email"] });
  const { post, join } = all;
  const { token } = await join(ada);
  assert.equal((await post("passkey", {})).status, 404);
  assert.equal(problemOf(await post("factors", { kind: "passkey" }, bearer(token))), "400 INVALID_PARAMETER");
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
