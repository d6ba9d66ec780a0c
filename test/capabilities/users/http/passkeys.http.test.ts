/** Passkeys: people sign in with their device. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ada, addPasskey, type Begun, signIn, start } from "./passkeys.ts";
import { bearer, bodyOf, goodPassword, problemOf, type Signed } from "./people.ts";
import type { Wrong } from "./software-passkey.ts";

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

test("without the method, no passkey can be added or used", async (t) => {
  const all = await start(t, { methods: ["password", "email"] });
  const { post, join } = all;
  const { token } = await join(ada);
  assert.equal((await post("passkey", {})).status, 404);
  assert.equal(problemOf(await post("factors", { kind: "passkey" }, bearer(token))), "400 INVALID_PARAMETER");
});
