/** A user changes the mail address of the account. The new one is proven first, and the old one gets a notice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { machineTime, until } from "../../../until.ts";
import { bearer, bodyOf, goodPassword, problemOf, type Signed, startPeople } from "./people.ts";

const ada = "ada@example.org";
const later = "Ada@example.net";
const bob = "bob@example.org";

test("a new address counts once it is proven: other devices are signed out, and the old address gets a notice", async (t) => {
  const people = await startPeople(t);
  const { service, post, mails, codeFor } = people;
  const { token, user } = await people.join(ada);
  const other = bodyOf<Signed>(await post("sign-in", { email: ada, password: goodPassword }));
  const signUp = bodyOf<{ ticket: string }>(
    await post("sign-up", { email: later, password: "first one here" }),
    202,
  );
  const earlier = { ticket: signUp.ticket, code: await codeFor(later) };
  const { ticket } = bodyOf<{ ticket: string }>(await post("email", { email: later }, bearer(token)), 202);
  const code = await codeFor(later, 1);
  const read = async (used: string) =>
    bodyOf<{ user?: Signed["user"] }>(await service.send({ path: "/api/v1/_auth", headers: bearer(used) }));
  assert.equal((await read(token)).user?.email, ada);
  const changed = bodyOf<Signed>(await post("email", { ticket, code }, bearer(token)));
  assert.equal(changed.user.email, later);
  assert.equal(changed.user.id, user.id);
  for (const used of [token, other.token])
    await until(
      "the session has ended",
      async () => (await service.send({ path: "/api/v1/_auth", headers: bearer(used) })).status === 401,
    );
  assert.equal((await read(changed.token)).user?.email, later);
  assert.equal(
    problemOf(await post("sign-in", { email: ada, password: goodPassword })),
    "401 SIGN_IN_FAILED",
  );
  assert.equal(problemOf(await post("sign-in", earlier)), "401 SIGN_IN_FAILED");
  assert.equal(problemOf(await post("email", { ticket, code }, bearer(changed.token))), "401 SIGN_IN_FAILED");
  bodyOf(await post("sign-in", { email: later.toLowerCase(), password: goodPassword }));
  await until("the old address has a notice", () =>
    mails.some(({ to, text }) => to === ada && text.includes("The address of your account was changed")),
  );
});

test("an address of another account is asked for like any other, and gets no mail", async (t) => {
  const people = await startPeople(t);
  const { token } = await people.join(ada);
  await people.join(bob);
  const before = people.mails.length;
  const [free, taken] = [
    await people.post("email", { email: "carol@example.org" }, bearer(token)),
    await people.post("email", { email: bob }, bearer(token)),
  ];
  assert.deepEqual([free.status, taken.status], [202, 202]);
  assert.equal(free.text.length, taken.text.length);
  await people.codeFor("carol@example.org");
  await people.post("code", { email: ada });
  await until("a later mail", () => people.mails.length === before + 2);
  assert.equal(people.mails.filter(({ to }) => to === bob).length, 1);
});

test("a ticket for an address works only for the user who asked, in a confirmed session", async (t) => {
  let now = machineTime();
  const people = await startPeople(t, { now: () => now });
  const first = await people.join(ada);
  const second = await people.join(bob);
  const { ticket } = bodyOf<{ ticket: string }>(
    await people.post("email", { email: later }, bearer(first.token)),
    202,
  );
  const proof = { ticket, code: await people.codeFor(later) };
  assert.equal(problemOf(await people.post("email", proof, bearer(second.token))), "401 SIGN_IN_FAILED");
  assert.equal(problemOf(await people.post("sign-in", proof)), "401 SIGN_IN_FAILED");
  assert.equal(problemOf(await people.post("email", proof)), "401 UNAUTHENTICATED");
  now += 601_000;
  for (const content of [{ email: later }, proof])
    assert.equal(
      problemOf(await people.post("email", content, bearer(first.token))),
      "403 CONFIRMATION_REQUIRED",
    );
});
