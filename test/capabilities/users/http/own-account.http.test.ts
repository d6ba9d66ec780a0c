/** What users change about their own accounts, and what proves that it is them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { machineTime, until } from "../../../until.ts";
import { bearer, bodyOf, goodPassword, type People, problemOf, type Signed, startPeople } from "./people.ts";

const ada = "ada@example.org";
const bob = "bob@example.org";

/** The names in the profile, and a little more. */
const profile = { name: "Bartholomew", about: "Fotheringay" };
const guessable = ["bartholomew12", "fotheringay12"];

const inADay = () => new Date(machineTime() + 86_400_000).toISOString();

/** A key of the user for a program. */
async function keyOf({ post }: People, token: string, scopes?: string[]): Promise<string> {
  const asked = { name: "backup", expiresAt: inADay(), ...(scopes && { scopes }) };
  return bodyOf<{ token: string }>(await post("sessions", asked, bearer(token)), 201).token;
}

test("every new password is compared with the texts of the profile", async (t) => {
  const people = await startPeople(t, { users: { signUp: { domains: ["example.org"], roles: ["ops"] } } });
  const { post, codeFor, service, mails } = people;
  const { token } = await people.join(ada, { profile });
  const { ticket } = bodyOf<{ ticket: string }>(await post("reset", { email: ada }), 202);
  const code = await codeFor(ada, 1);
  const invited = { email: bob, profile };
  bodyOf(
    await service.send({
      method: "POST",
      path: "/api/v1/_invitations",
      content: invited,
      headers: bearer(token),
    }),
    201,
  );
  await until("the invitation", () => mails.some(({ to }) => to === bob));
  const text = mails.find(({ to }) => to === bob)?.text ?? "";
  const invitation = /invitation=([\w-]+)/.exec(text)?.[1];
  for (const password of guessable) {
    for (const [path, content, headers] of [
      ["password", { password }, bearer(token)],
      ["password", { ticket, code, password }, {}],
      ["sign-up", { email: bob, password, invitation }, {}],
    ] as const)
      assert.equal(problemOf(await post(path, content, headers)), "400 PASSWORD_REFUSED", password);
  }
  bodyOf(await post("password", { ticket, code, password: "another horse and a battery" }));
});

test("a mail tells the user of a new key for a program", async (t) => {
  const people = await startPeople(t);
  const { token } = await people.join(ada);
  await keyOf(people, token);
  await until("the notice", () =>
    people.mails.some(
      ({ to, text }) => to === ada && text.includes("A key with which a program acts as you"),
    ),
  );
});

test("to sign out everywhere needs a proof that is at most ten minutes old, and to sign out here does not", async (t) => {
  let now = machineTime();
  const people = await startPeople(t, { now: () => now });
  const { token } = await people.join(ada);
  const other = bodyOf<Signed>(await people.post("sign-in", { email: ada, password: goodPassword }));
  now += 601_000;
  const everywhere = { everywhere: true };
  const old = await people.post("sign-out", everywhere, bearer(token));
  assert.equal(problemOf(old), "403 CONFIRMATION_REQUIRED");
  const proof = { password: goodPassword };
  const confirmed = bodyOf<Signed>(await people.post("confirm", proof, bearer(other.token)));
  assert.equal((await people.post("sign-out", undefined, bearer(token))).status, 204);
  assert.equal((await people.post("sign-out", everywhere, bearer(confirmed.token))).status, 204);
});

test("a key with scopes reads nothing about the account, and a key without them does", async (t) => {
  const provider = {
    name: "work",
    label: "Work",
    issuer: "http://127.0.0.1:1",
    clientId: "shop",
    trustEmail: false,
  };
  const people = await startPeople(t, {
    users: { methods: ["password", "email", "providers"], providers: [provider] },
  });
  const { token, user } = await people.join(ada);
  const [scoped, whole] = [await keyOf(people, token, ["articles:read"]), await keyOf(people, token)];
  const read = (path: string, used: string) =>
    people.service.send({ path: `/api/v1/_auth${path}`, headers: bearer(used) });
  for (const path of ["/sessions", "/factors", "/identities"]) {
    assert.equal(problemOf(await read(path, scoped)), "403 INSUFFICIENT_SCOPE", path);
    bodyOf(await read(path, whole));
  }
  assert.equal(bodyOf<{ user: Signed["user"] }>(await read("", scoped)).user.id, user.id);
  assert.equal((await people.post("sign-out", undefined, bearer(scoped))).status, 204);
});

test("the audit names the user who has proven an address wrongly, not the owner of the address", async (t) => {
  const people = await startPeople(t, { users: { signUp: { domains: ["example.org"], roles: ["ops"] } } });
  const [caller, target] = [await people.join(ada), await people.join(bob)];
  const { ticket } = bodyOf<{ ticket: string }>(
    await people.post("email", { email: bob }, bearer(caller.token)),
    202,
  );
  const wrong = { ticket, code: "0000-0000" };
  assert.equal(problemOf(await people.post("email", wrong, bearer(caller.token))), "401 SIGN_IN_FAILED");
  const entriesOf = async (subject: string) => {
    const path = `/api/v1/_audit?subject=${subject}`;
    const answer = await people.service.send({ path, headers: bearer(caller.token) });
    return bodyOf<{ entries: { kind: string; result: string; policy?: string }[] }>(answer).entries;
  };
  const failedOf = async (subject: string) =>
    (await entriesOf(subject)).flatMap(({ kind, result }) => (result === "failed" ? [kind] : []));
  assert.deepEqual(await failedOf(target.user.id), []);
  assert.deepEqual(await failedOf(caller.user.id), ["email"]);
});

test("a wrong proof of a factor or an identity is recorded as what it was", async (t) => {
  const provider = {
    name: "work",
    label: "Work",
    issuer: "http://127.0.0.1:1",
    clientId: "shop",
    trustEmail: false,
  };
  const people = await startPeople(t, {
    users: {
      signUp: { domains: ["example.org"], roles: ["ops"] },
      methods: ["password", "email", "providers"],
      providers: [provider],
    },
  });
  const { token } = await people.join(ada);
  const { ticket } = bodyOf<{ ticket: string }>(
    await people.post("factors", { kind: "totp" }, bearer(token)),
  );
  const wrong = { ticket, totp: "000000x" };
  assert.equal(problemOf(await people.post("factors", wrong, bearer(token))), "401 SIGN_IN_FAILED");
  assert.equal(
    problemOf(await people.post("identities", { ticket: "x" }, bearer(token))),
    "401 SIGN_IN_FAILED",
  );
  const answer = await people.service.send({ path: "/api/v1/_audit", headers: bearer(token) });
  const { entries } = bodyOf<{ entries: { kind: string; result: string }[] }>(answer);
  assert.deepEqual(entries.flatMap(({ kind, result }) => (result === "failed" ? [kind] : [])).sort(), [
    "factorAdded",
    "identityLinked",
  ]);
});
