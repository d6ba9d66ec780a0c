/** Administrators invite people, and manage their accounts. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../../../folder.ts";
import type { Answer } from "../../../http/service.ts";
import { machineTime, until } from "../../../until.ts";
import { codeAt } from "./authenticator-app.ts";
import {
  bearer,
  bodyOf,
  codeShape,
  goodPassword,
  type People,
  problemOf,
  type Signed,
  startPeople,
} from "./people.ts";

const ada = "ada@example.org";
const bob = "bob@example.org";

interface Account {
  id: string;
  email: string;
  roles: string[];
  claims: Record<string, unknown>;
  disabled: boolean;
}

/** A service in which the addresses of one domain administer. All others need an invitation. */
async function start(
  t: TestContext,
  options: Parameters<typeof startPeople>[1] & { profile?: Record<string, unknown> } = {},
) {
  const { users, profile = {}, ...others } = options;
  const signUp = { domains: ["root.example"], roles: ["ops"] };
  const people = await startPeople(t, {
    ...others,
    users: { signUp, roles: ["member", "editor", "ops"], ...users },
  });
  const root = await people.join("root@root.example", { profile });
  const ask = (method: string, path: string, content?: unknown, headers: Record<string, string> = {}) =>
    people.service.send({
      method,
      path: `/api/v1/${path}`,
      ...(content !== undefined && { content }),
      headers: { ...bearer(root.token), ...headers },
    });
  /** Invites somebody, who then signs up. */
  const joinInvited = async (email: string, roles: string[] = []) => {
    const before = people.mails.filter(({ to }) => to === email).length;
    bodyOf(await ask("POST", "_invitations", { email, roles }), 201);
    return accept(people, email, await mailedToken(people, email, before));
  };
  return { ...people, people, root, ask, joinInvited };
}

function tokenIn(link: string): string {
  return /#invitation=([\w-]{43})/.exec(link)?.[1] ?? assert.fail(`no token in ${link}`);
}

/** Signs up with an invitation, and proves the address. */
async function accept(
  { post, codeFor, mails }: People,
  email: string,
  invitation: string,
  more: object = {},
): Promise<Signed> {
  const before = mails.filter(({ to }) => to === email).length;
  const asked = await post("sign-up", { email, password: goodPassword, invitation, ...more });
  const { ticket } = bodyOf<{ ticket: string }>(asked, 202);
  return bodyOf<Signed>(await post("sign-in", { ticket, code: await codeFor(email, before) }));
}

/** The token in the last mail to an address. */
async function mailedToken({ mails }: People, email: string, before = 0): Promise<string> {
  const own = () => mails.filter(({ to }) => to === email);
  await until(`a mail to ${email}`, () => own().length > before);
  return tokenIn(own().at(-1)?.text ?? "");
}

function listed(answer: Answer): Account[] {
  return bodyOf<{ accounts: Account[] }>(answer).accounts;
}

test("an invited person proves the address, and gets the roles, the claims and the profile of the invitation", async (t) => {
  const { people, ask, post, service, mails } = await start(t);
  const wanted = {
    email: ada,
    roles: ["member"],
    claims: { tenant: "acme" },
    profile: { name: "Ada" },
  };
  const made = await ask("POST", "_invitations", wanted);
  const { id, ...shown } = bodyOf<{ id: string; expiresAt: string; createdAt: string }>(made, 201);
  assert.equal(made.headers.location, `/api/v1/_invitations/${id}`);
  const { createdAt, expiresAt, ...others } = shown;
  assert.deepEqual(others, wanted);
  assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 7 * 24 * 3_600_000);
  const invitation = await mailedToken(people, ada);
  assert.equal(made.text.includes(invitation), false);
  assert.match(
    mails.find(({ to }) => to === ada)?.text ?? "",
    /^http:\/\/localhost:\d+\/_sign-in#invitation=/m,
  );
  const one = await ask("GET", `_invitations/${id}`);
  assert.deepEqual(bodyOf(one), { id, ...wanted, createdAt, expiresAt });
  const list = await ask("GET", "_invitations");
  assert.deepEqual(bodyOf(list), { invitations: [one.json] });

  assert.equal(problemOf(await post("sign-up", { email: bob, invitation })), "400 INVALID_PARAMETER");
  const wrong = `${invitation.slice(0, -1)}${invitation.endsWith("A") ? "B" : "A"}`;
  assert.equal(problemOf(await post("sign-up", { email: ada, invitation: wrong })), "400 INVALID_PARAMETER");
  const signed = await accept(people, ada, invitation, { profile: { about: "Hello", name: "Eve" } });
  assert.deepEqual(signed.user.roles, ["member"]);
  assert.deepEqual(signed.user.claims, { tenant: "acme" });
  const profile = await service.send({ path: `/api/v1/users/${signed.user.id}` });
  assert.deepEqual(profile.json, { id: signed.user.id, name: "Ada", about: "Hello" });
  assert.deepEqual(bodyOf(await ask("GET", "_invitations")), { invitations: [] });
  assert.equal(problemOf(await post("sign-up", { email: ada, invitation })), "400 INVALID_PARAMETER");
});

test("nobody signs up without an invitation where sign-up is closed or by invitation", async (t) => {
  for (const signUp of ["closed", "invited"] as const) {
    const { post } = await startPeople(t, { users: { signUp } });
    const answer = await post("sign-up", { email: ada, password: goodPassword });
    assert.equal(problemOf(answer), "400 INVALID_PARAMETER");
    assert.match(answer.text, /#\/invitation/);
  }
});

test("an invitation for a profile gives it an account, and goes with the profile", async (t) => {
  const { people, ask, service, post, root } = await start(t, {
    collections: {
      users: {
        schema: { type: "object", properties: { name: { type: "string" } } },
        access: { read: "public", create: { role: "ops" }, update: { role: "ops" }, delete: { role: "ops" } },
      },
    },
  });
  const create = async (name: string) => {
    const request = { method: "POST", path: "/api/v1/users", content: { name }, headers: bearer(root.token) };
    return bodyOf<{ id: string }>(await service.send(request), 201).id;
  };
  const user = await create("Ada");
  const both = await ask("POST", "_invitations", { email: ada, user, profile: {} });
  assert.equal(problemOf(both), "400 INVALID_PARAMETER");
  const unknown = await ask("POST", "_invitations", { email: ada, user: crypto.randomUUID() });
  assert.equal(problemOf(unknown), "400 INVALID_PARAMETER");
  bodyOf(await ask("POST", "_invitations", { email: ada, user }), 201);
  const invitation = await mailedToken(people, ada);
  const given = await post("sign-up", { email: ada, invitation, profile: { name: "Eve" } });
  assert.equal(problemOf(given), "400 INVALID_PARAMETER");
  const signed = await accept(people, ada, invitation);
  assert.equal(signed.user.id, user);
  assert.equal(problemOf(await ask("POST", "_invitations", { email: bob, user })), "409 UNIQUE_VIOLATION");
  assert.equal(problemOf(await ask("POST", "_invitations", { email: ada })), "409 UNIQUE_VIOLATION");

  const other = await create("Bob");
  bodyOf(await ask("POST", "_invitations", { email: bob, user: other }), 201);
  assert.equal((await ask("DELETE", `users/${other}`)).status, 205);
  assert.deepEqual(bodyOf(await ask("GET", "_invitations")), { invitations: [] });
});

test("the token of an invitation tells what a sign-up needs, and nothing else does", async (t) => {
  const properties = { name: { type: "string" }, team: { type: "string" }, level: { type: "integer" } };
  const { people, ask, service, post, root } = await start(t, {
    collections: {
      users: {
        schema: { type: "object", required: ["name", "team", "level"], properties },
        defaults: { level: 1, team: "none" },
        access: { read: { role: "ops" }, create: { role: "ops" } },
      },
    },
    profile: { name: "Root" },
  });
  const invite = async (email: string, more: object = {}) => {
    const before = people.mails.filter(({ to }) => to === email).length;
    bodyOf(await ask("POST", "_invitations", { email, ...more }), 201);
    return mailedToken(people, email, before);
  };
  const read = (invitation: string) => post("invitation", { invitation });
  const ofNew = await invite(ada);
  assert.deepEqual(bodyOf(await read(ofNew)), { email: ada, required: ["name"], hasAccount: false });
  assert.deepEqual(
    bodyOf(await read(ofNew)),
    { email: ada, required: ["name"], hasAccount: false },
    "it stays usable",
  );
  const wrong = await read("A".repeat(43));
  assert.equal(problemOf(wrong), "400 INVALID_PARAMETER");
  const withName = await invite(ada, { profile: { name: "Ada" } });
  assert.deepEqual(bodyOf(await read(withName)), { email: ada, required: [], hasAccount: false });
  const withdrawn = await read(ofNew);
  const { detail } = wrong.json as { detail: string };
  assert.equal((withdrawn.json as { detail: string }).detail, detail, "it does not say what is wrong");
  const profile = { content: { name: "Bob" }, headers: bearer(root.token) };
  const made = await service.send({ method: "POST", path: "/api/v1/users", ...profile });
  const user = bodyOf<{ id: string }>(made, 201).id;
  const ofOld = await invite(bob, { user });
  assert.deepEqual(bodyOf(await read(ofOld)), { email: bob, required: [], hasAccount: false });
});

test("an invitation ends after 7 days, with a new one for the address, and when it is withdrawn", async (t) => {
  let now = machineTime();
  const { people, ask, post, codeFor } = await start(t, { now: () => now });
  bodyOf(await ask("POST", "_invitations", { email: ada }), 201);
  const first = await mailedToken(people, ada);
  const { id } = bodyOf<{ id: string }>(await ask("POST", "_invitations", { email: ada }), 201);
  const second = await mailedToken(people, ada, 1);
  const tryWith = async (invitation: string) =>
    (await post("sign-up", { email: ada, password: goodPassword, invitation })).status;
  assert.equal(await tryWith(first), 400);
  const { ticket } = bodyOf<{ ticket: string }>(
    await post("sign-up", { email: ada, password: goodPassword, invitation: second }),
    202,
  );
  const code = await codeFor(ada, 2);
  assert.equal((await ask("DELETE", `_invitations/${id}`)).status, 205);
  assert.equal((await ask("DELETE", `_invitations/${id}`)).status, 404);
  assert.equal(problemOf(await post("sign-in", { ticket, code })), "401 SIGN_IN_FAILED");
  assert.equal(await tryWith(second), 400);
  bodyOf(await ask("POST", "_invitations", { email: bob }), 201);
  const late = await mailedToken(people, bob);
  now += 7 * 24 * 3_600_000;
  assert.equal(problemOf(await post("sign-up", { email: bob, invitation: late })), "400 INVALID_PARAMETER");
});

test("administrators give only the roles that the configuration allows, and only administrators reach the paths", async (t) => {
  const { people, ask, service } = await start(t, { users: { roles: ["member"] } });
  const invited = await ask("POST", "_invitations", { email: ada, roles: ["ops"] });
  assert.equal(problemOf(invited), "400 INVALID_PARAMETER");
  assert.match(invited.text, /the allowed roles are member/);
  const large = await ask("POST", "_invitations", { email: ada, claims: { a: "x".repeat(2_048) } });
  assert.equal(problemOf(large), "400 INVALID_PARAMETER");
  const wrongProfile = await ask("POST", "_invitations", { email: ada, profile: { role: "ops" } });
  assert.equal(problemOf(wrongProfile), "400 VALIDATION_FAILED");
  bodyOf(await ask("POST", "_invitations", { email: ada, roles: ["member"] }), 201);
  const { token, user } = await accept(people, ada, await mailedToken(people, ada));
  for (const roles of [["ops"], ["member", "ops"]])
    assert.equal(problemOf(await ask("PATCH", `_accounts/${user.id}`, { roles })), "400 INVALID_PARAMETER");
  const paths = ["_accounts", `_accounts/${user.id}`, `_accounts/${user.id}/_sessions`, "_invitations"];
  for (const path of paths)
    for (const headers of [bearer(token), {}]) {
      const answer = await service.send({ path: `/api/v1/${path}`, headers });
      assert.notEqual(answer.status, 200);
      assert.equal(answer.text.includes(ada), false);
    }
});

test("a changed role, claim or state of an account counts within a second, and the address shows nowhere else", async (t) => {
  const { ask, joinInvited, service, post } = await start(t);
  const { token, user } = await joinInvited(ada);
  assert.deepEqual(
    listed(await ask("GET", "_accounts")).map(({ email }) => email),
    ["root@root.example", ada],
  );
  const path = `_accounts/${user.id}`;
  const read = await ask("GET", path);
  assert.equal(bodyOf<Account>(read).email, ada);
  const etag = read.headers.etag as string;
  const roles = ["member", "editor"];
  const changed = await ask(
    "PATCH",
    path,
    { roles, claims: { tenant: "acme", plan: 1 } },
    { "if-match": etag },
  );
  assert.deepEqual(bodyOf<Account>(changed).roles, roles);
  assert.notEqual(changed.headers.etag, etag);
  const late = await ask("PATCH", path, { roles: [] }, { "if-match": etag });
  assert.equal(problemOf(late), "412 PRECONDITION_FAILED");
  const patched = await ask("PATCH", path, { claims: { plan: null } });
  assert.deepEqual(bodyOf<Account>(patched), { ...bodyOf<Account>(changed), claims: { tenant: "acme" } });
  const large = await ask("PATCH", path, { claims: { a: "x".repeat(2_040) } });
  assert.equal(problemOf(large), "400 INVALID_PARAMETER");
  const form = { "content-type": "application/json-patch+json" };
  assert.equal((await ask("PATCH", path, [], form)).status, 415);
  const own = () => service.send({ path: "/api/v1/_auth", headers: bearer(token) });
  await until("the roles count", async () => bodyOf<Signed>(await own()).user.roles.length === 2);
  bodyOf(await ask("PATCH", path, { disabled: true }));
  await until("the session has ended", async () => (await own()).status === 401);
  const asked = { email: ada, password: goodPassword };
  assert.equal(problemOf(await post("sign-in", asked)), "401 SIGN_IN_FAILED");
  bodyOf(await ask("PATCH", path, { disabled: false }));
  assert.equal((await own()).status, 401);
  bodyOf(await post("sign-in", asked));
});

test("an administrator sees and ends the sessions of an account, and starts a reset without seeing a code", async (t) => {
  const { ask, joinInvited, post, codeFor, mails } = await start(t);
  const { user, session } = await joinInvited(ada);
  const sessions = async () =>
    bodyOf<{ sessions: { id: string }[] }>(await ask("GET", `_accounts/${user.id}/_sessions`)).sessions;
  assert.deepEqual(
    (await sessions()).map(({ id }) => id),
    [session.id],
  );
  assert.equal((await ask("POST", `_accounts/${user.id}/_sign-out`)).status, 204);
  assert.deepEqual(await sessions(), []);
  const asked = { email: ada, password: goodPassword };
  bodyOf(await post("sign-in", asked));
  const before = mails.filter(({ to }) => to === ada).length;
  const reset = await ask("POST", `_accounts/${user.id}/_reset`);
  assert.equal(reset.status, 204);
  assert.equal(reset.text, "");
  assert.deepEqual(await sessions(), []);
  await until("the mail", () => mails.filter(({ to }) => to === ada).length > before);
  assert.match(mails.at(-1)?.text ?? "", /An administrator has ended all sessions/);
  assert.equal(problemOf(await post("sign-in", asked)), "401 SIGN_IN_FAILED");
  const { ticket } = bodyOf<{ ticket: string }>(await post("reset", { email: ada }), 202);
  const code = await codeFor(ada, before + 1);
  bodyOf(await post("password", { ticket, code, password: "a quite different password" }));
  for (const name of ["_sign-out", "_reset", "_reset-factors"])
    assert.equal((await ask("POST", `_accounts/${crypto.randomUUID()}/${name}`)).status, 404);
});

test("an administrator removes the factors of a user who has lost them", async (t) => {
  const { ask, joinInvited, post, service, mails } = await start(t);
  const { token, user } = await joinInvited(ada);
  const begun = await post("factors", { kind: "totp" }, bearer(token));
  const { ticket, secret } = bodyOf<{ ticket: string; secret: string }>(begun);
  bodyOf(await post("factors", { ticket, totp: codeAt(secret, machineTime()) }, bearer(token)));
  const byPassword = { email: ada, password: goodPassword };
  const step = bodyOf<{ ticket: string; next: string }>(await post("sign-in", byPassword));
  assert.equal(step.next, "secondFactor");
  const reset = await ask("POST", `_accounts/${user.id}/_reset-factors`);
  assert.deepEqual([reset.status, reset.text], [204, ""]);
  await until("the session has ended", async () => {
    const own = await service.send({ path: "/api/v1/_auth/sessions", headers: bearer(token) });
    return own.status === 401;
  });
  await until("the mail", () => mails.some(({ text }) => text.includes("removed the second factor")));
  const signed = bodyOf<Signed>(await post("sign-in", byPassword));
  assert.equal(signed.user.id, user.id);
});

test("the delete of an account leaves the profile, which can get another account", async (t) => {
  const { people, ask, joinInvited, post, service } = await start(t);
  const { user, token } = await joinInvited(ada);
  const path = `_accounts/${user.id}`;
  const wrong = await ask("DELETE", path, undefined, { "if-match": '"999"' });
  assert.equal(problemOf(wrong), "412 PRECONDITION_FAILED");
  assert.equal((await ask("DELETE", path)).status, 205);
  assert.equal((await ask("DELETE", path)).status, 404);
  const own = () => service.send({ path: "/api/v1/_auth/sessions", headers: bearer(token) });
  await until("the session has ended", async () => (await own()).status === 401);
  assert.equal(
    problemOf(await post("sign-in", { email: ada, password: goodPassword })),
    "401 SIGN_IN_FAILED",
  );
  assert.equal((await service.send({ path: `/api/v1/users/${user.id}` })).status, 200);
  bodyOf(await ask("POST", "_invitations", { email: bob, user: user.id }), 201);
  const again = await accept(people, bob, await mailedToken(people, bob));
  assert.equal(again.user.id, user.id);
});

test("the last account that administers cannot be disabled, deleted or lose its role, and two cannot remove each other", async (t) => {
  const { ask, joinInvited, root, service } = await start(t);
  const own = `_accounts/${root.user.id}`;
  const refused = [
    await ask("PATCH", own, { disabled: true }),
    await ask("PATCH", own, { roles: ["member"] }),
    await ask("DELETE", own),
  ];
  for (const answer of refused) assert.equal(problemOf(answer), "409 LAST_ADMINISTRATOR");
  const other = await joinInvited(ada, ["ops"]);
  const remove = (token: string, id: string) =>
    service.send({
      method: "PATCH",
      path: `/api/v1/_accounts/${id}`,
      content: { roles: [] },
      headers: bearer(token),
    });
  const both = await Promise.all([remove(root.token, other.user.id), remove(other.token, root.user.id)]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
});

test("the list of accounts filters by address, role and state, page by page", async (t) => {
  const { ask, joinInvited } = await start(t);
  const first = await joinInvited(ada, ["member", "editor"]);
  await joinInvited(bob, ["member"]);
  bodyOf(await ask("PATCH", `_accounts/${first.user.id}`, { disabled: true }));
  const emails = async (query: string) =>
    listed(await ask("GET", `_accounts?${query}`)).map(({ email }) => email);
  assert.deepEqual(await emails("email=ADA@example.org"), [ada]);
  assert.deepEqual(await emails("email=ada@example.or"), []);
  assert.deepEqual(await emails("role=member"), [ada, bob]);
  assert.deepEqual(await emails("role=edit"), []);
  assert.deepEqual(await emails("disabled=true"), [ada]);
  assert.deepEqual(await emails("disabled=false&role=member"), [bob]);
  const page = bodyOf<{ next: string }>(await ask("GET", "_accounts?role=member&limit=1"));
  const next = page.next.replace("/api/v1/", "");
  assert.deepEqual(
    listed(await ask("GET", next)).map(({ email }) => email),
    [bob],
  );
  assert.equal(problemOf(await ask("GET", "_accounts?disabled=yes")), "400 INVALID_PARAMETER");
  assert.equal(problemOf(await ask("GET", "_accounts?password=x")), "400 INVALID_PARAMETER");
});

test("administrators of a local service read the mails that it kept, and others do not", async (t) => {
  const { ask, joinInvited, service } = await start(t);
  const { token } = await joinInvited(ada);
  const { mails } = bodyOf<{ mails: { to: string; subject: string; text: string; time: string }[] }>(
    await ask("GET", "_mails"),
  );
  assert.deepEqual(
    mails.map(({ to }) => to),
    [ada, ada, "root@root.example"],
  );
  assert.match(mails[0]?.text ?? "", codeShape);
  assert.match(mails[0]?.time ?? "", /^\d{4}-\d\d-\d\dT.*Z$/);
  assert.equal((await service.send({ path: "/api/v1/_mails", headers: bearer(token) })).status, 404);
  assert.equal((await service.send({ path: "/api/v1/_mails" })).status, 404);
});

test("the link for the first administrator works once, for any address, and only while nobody administers", async (t) => {
  let ahead = 0;
  const people = await startPeople(t, { users: { signUp: "closed" }, now: () => machineTime() + ahead });
  const offer = async () => tokenIn((await people.service.offerFirstAccount()) ?? "");
  const [replaced, late] = [await offer(), await offer()];
  ahead = 600_000;
  const token = await offer();
  for (const invitation of [replaced, late]) {
    const asked = await people.post("sign-up", { email: ada, password: goodPassword, invitation });
    assert.equal(problemOf(asked), "400 INVALID_PARAMETER");
  }
  const second = bodyOf<{ ticket: string }>(
    await people.post("sign-up", { email: bob, password: goodPassword, invitation: token }),
    202,
  );
  const code = await people.codeFor(bob);
  assert.deepEqual(bodyOf(await people.post("invitation", { invitation: token })), {
    required: [],
    hasAccount: false,
  });
  const { user } = await accept(people, ada, token);
  assert.deepEqual(user.roles, ["ops"]);
  const again = await people.post("sign-up", { email: bob, password: goodPassword, invitation: token });
  assert.equal(problemOf(again), "400 INVALID_PARAMETER");
  assert.equal(
    problemOf(await people.post("sign-in", { ticket: second.ticket, code })),
    "401 SIGN_IN_FAILED",
  );
  assert.equal(await people.service.offerFirstAccount(), undefined);
});

test("the link for the first administrator gives nothing once another account administers", async (t) => {
  const signUp = { domains: ["root.example"], roles: ["ops"] };
  const people = await startPeople(t, { users: { signUp } });
  const invitation = tokenIn((await people.service.offerFirstAccount()) ?? "");
  const asked = { email: ada, password: goodPassword, invitation };
  const { ticket } = bodyOf<{ ticket: string }>(await people.post("sign-up", asked), 202);
  const code = await people.codeFor(ada);
  await people.join("root@root.example");
  assert.equal(problemOf(await people.post("sign-in", { ticket, code })), "401 SIGN_IN_FAILED");
});

test("an address that an administrator gives counts once it is proven, and ends what the old one began", async (t) => {
  const { people, ask, post, service, root, joinInvited, mails } = await start(t);
  const signed = await joinInvited(ada, ["editor"]);
  const path = `_accounts/${signed.user.id}`;
  const before = bodyOf<Account>(await ask("GET", path));
  const wrong = await ask("PATCH", path, { email: "ada@" });
  assert.equal(problemOf(wrong), "400 INVALID_PARAMETER");
  assert.equal(problemOf(await ask("PATCH", path, { email: root.user.email })), "409 UNIQUE_VIOLATION");
  assert.deepEqual(bodyOf(await ask("PATCH", path, { email: ada })), before);
  assert.deepEqual(bodyOf(await ask("GET", "_invitations")), { invitations: [] });

  assert.deepEqual(bodyOf(await ask("PATCH", path, { email: "first@example.net" })), before);
  const first = await mailedToken(people, "first@example.net");
  assert.deepEqual(bodyOf(await ask("PATCH", path, { email: bob })), before);
  const invitation = await mailedToken(people, bob);
  const open = bodyOf<{ invitations: { email: string; user: string }[] }>(await ask("GET", "_invitations"));
  assert.deepEqual(
    open.invitations.map(({ email, user }) => [email, user]),
    [[bob, signed.user.id]],
  );
  const refused = await post("sign-up", {
    email: "first@example.net",
    password: goodPassword,
    invitation: first,
  });
  assert.equal(problemOf(refused), "400 INVALID_PARAMETER");
  await until("a notice to the old address", () =>
    mails.some(
      ({ to, text }) =>
        to === ada && text.includes("An administrator has given your account another address"),
    ),
  );
  bodyOf(await post("sign-in", { email: ada, password: goodPassword }));

  const moved = await accept(people, bob, invitation, { password: "another horse and a battery" });
  assert.deepEqual([moved.user.id, moved.user.email, moved.user.roles], [signed.user.id, bob, ["editor"]]);
  await until(
    "the session before has ended",
    async () => (await service.send({ path: "/api/v1/_auth", headers: bearer(signed.token) })).status === 401,
  );
  for (const proof of [
    { email: ada, password: goodPassword },
    { email: bob, password: goodPassword },
  ])
    assert.equal(problemOf(await post("sign-in", proof)), "401 SIGN_IN_FAILED");
  bodyOf(await post("sign-in", { email: bob, password: "another horse and a battery" }));
  await until("a notice of the change", () =>
    mails.some(({ to, text }) => to === ada && text.includes("The address of your account was changed")),
  );
  assert.deepEqual(bodyOf(await ask("GET", "_invitations")), { invitations: [] });
  const { entries } = bodyOf<{ entries: { kind: string; actor?: string }[] }>(
    await ask("GET", `_audit?subject=${signed.user.id}`),
  );
  const kinds = entries.map(({ kind, actor }) => `${kind} ${actor === root.user.id}`);
  assert.equal(kinds.filter((each) => each === "emailAsked true").length, 2);
  assert.ok(kinds.includes("email false"));
});

test("an address that an administrator gives needs no password, also if nobody signs in by a code", async (t) => {
  const { people, ask, post, joinInvited } = await start(t, { users: { methods: ["password"] } });
  const { user } = await joinInvited(ada);
  bodyOf(await ask("PATCH", `_accounts/${user.id}`, { email: bob }));
  const invitation = await mailedToken(people, bob);
  const moved = await accept(people, bob, invitation, { password: undefined });
  assert.deepEqual([moved.user.id, moved.user.email], [user.id, bob]);
  bodyOf(await post("sign-in", { email: bob, password: goodPassword }));
  const other = "carol@example.org";
  bodyOf(await ask("POST", "_invitations", { email: other }), 201);
  const asked = { email: other, invitation: await mailedToken(people, other) };
  assert.equal(problemOf(await post("sign-up", asked)), "400 INVALID_PARAMETER");
});

test("a new address that is proven ends the session of the caller, also if it was of another user", async (t) => {
  const { people, ask, post, joinInvited } = await start(t);
  const { user } = await joinInvited(ada);
  const other = await joinInvited("carol@example.org");
  bodyOf(await ask("PATCH", `_accounts/${user.id}`, { email: bob }));
  const asked = { email: bob, password: goodPassword, invitation: await mailedToken(people, bob) };
  const { ticket } = bodyOf<{ ticket: string }>(await post("sign-up", asked), 202);
  bodyOf(await post("sign-in", { ticket, code: await people.codeFor(bob, 1) }, bearer(other.token)));
  await until(
    "the session has ended",
    async () =>
      (await people.service.send({ path: "/api/v1/_auth", headers: bearer(other.token) })).status === 401,
  );
});

test("an invitation that is withdrawn at the moment of its use gives nothing", async (t) => {
  const { people, ask, post, joinInvited } = await start(t);
  const { user } = await joinInvited(ada);
  for (let n = 0; n < 10; n++) {
    const email = `carol${n}@example.org`;
    if (n % 2 === 0) bodyOf(await ask("PATCH", `_accounts/${user.id}`, { email }));
    else bodyOf(await ask("POST", "_invitations", { email }), 201);
    const invitation = await mailedToken(people, email);
    const asked = { email, password: goodPassword, invitation };
    const { ticket } = bodyOf<{ ticket: string }>(await post("sign-up", asked), 202);
    const code = await people.codeFor(email, 1);
    const [open] = bodyOf<{ invitations: { id: string }[] }>(await ask("GET", "_invitations")).invitations;
    const [used, withdrawn] = await Promise.all([
      post("sign-in", { ticket, code }),
      ask("DELETE", `_invitations/${open?.id}`),
    ]);
    assert.ok([used.status, withdrawn.status].join() === "200,404" || used.status === 401, used.text);
  }
});

test("a change of the address that is withdrawn, or overtaken by another one, changes nothing", async (t) => {
  const { people, ask, post, joinInvited } = await start(t);
  const signed = await joinInvited(ada);
  const path = `_accounts/${signed.user.id}`;
  const begin = async (email: string) => {
    bodyOf(await ask("PATCH", path, { email }));
    const invitation = await mailedToken(people, email);
    const asked = await post("sign-up", { email, password: goodPassword, invitation });
    const { ticket } = bodyOf<{ ticket: string }>(asked, 202);
    return { ticket, code: await people.codeFor(email, 1) };
  };
  const withdrawn = await begin("one@example.net");
  const [{ id } = { id: "" }] = bodyOf<{ invitations: { id: string }[] }>(
    await ask("GET", "_invitations"),
  ).invitations;
  assert.equal((await ask("DELETE", `_invitations/${id}`)).status, 205);
  assert.equal(problemOf(await post("sign-in", withdrawn)), "401 SIGN_IN_FAILED");
  const letters = await begin("ADA@example.org");
  const [other] = bodyOf<{ invitations: { id: string }[] }>(await ask("GET", "_invitations")).invitations;
  assert.equal((await ask("DELETE", `_invitations/${other?.id}`)).status, 205);
  assert.equal(problemOf(await post("sign-in", letters)), "401 SIGN_IN_FAILED");
  const late = await begin("two@example.net");
  const { ticket } = bodyOf<{ ticket: string }>(
    await post("email", { email: bob }, bearer(signed.token)),
    202,
  );
  bodyOf(await post("email", { ticket, code: await people.codeFor(bob) }, bearer(signed.token)));
  assert.equal(problemOf(await post("sign-in", late)), "401 SIGN_IN_FAILED");
  const ofDeleted = await begin("three@example.net");
  assert.equal((await ask("DELETE", path)).status, 205);
  assert.equal(problemOf(await post("sign-in", ofDeleted)), "401 SIGN_IN_FAILED");
  assert.deepEqual(bodyOf(await ask("GET", "_invitations")), { invitations: [] });
});

test("an administrator who gives back the present address withdraws the other one", async (t) => {
  const { people, ask, post, joinInvited } = await start(t);
  const { user } = await joinInvited(ada);
  const path = `_accounts/${user.id}`;
  bodyOf(await ask("PATCH", path, { email: bob }));
  const invitation = await mailedToken(people, bob);
  bodyOf(await ask("PATCH", path, { roles: ["editor"] }));
  bodyOf(await post("invitation", { invitation }));
  assert.equal(bodyOf<Account>(await ask("PATCH", path, { email: ada })).email, ada);
  assert.equal(problemOf(await post("invitation", { invitation })), "400 INVALID_PARAMETER");
  const { entries } = bodyOf<{ entries: { kind: string; subject?: string }[] }>(await ask("GET", "_audit"));
  assert.ok(
    entries.some(({ kind, subject }) => kind === "invitationWithdrawn" && subject === user.id),
    "the audit has it",
  );
});

test("an administrator gives no address to an account with a role that administrators cannot give", async (t) => {
  const { people, ask } = await start(t, { users: { roles: ["member"] } });
  const { user } = await people.join("chief@root.example");
  const path = `_accounts/${user.id}`;
  const refused = await ask("PATCH", path, { email: bob });
  assert.equal(problemOf(refused), "400 INVALID_PARAMETER");
  const { violations } = refused.json as { violations: { pointer: string; code: string; detail: string }[] };
  assert.deepEqual(
    violations.map(({ pointer, code }) => [pointer, code]),
    [["#/email", "role"]],
  );
  assert.match(violations[0]?.detail ?? "", /the account has the role "ops"/);
  assert.deepEqual(bodyOf(await ask("GET", "_invitations")), { invitations: [] });
  assert.equal(bodyOf<Account>(await ask("PATCH", path, { email: user.email })).email, user.email);
});

test("an address that was asked for before the account got such a role gives nothing", async (t) => {
  const folder = makeFolder();
  const store = { kind: "sqlite", path: join(folder, "store.db") } as const;
  const startWith = (roles: string[]) => start(t, { store, users: { roles } });
  const first = await startWith(["member"]);
  const { user } = await first.joinInvited(ada, ["member"]);
  bodyOf(await first.ask("PATCH", `_accounts/${user.id}`, { email: bob }));
  const invitation = await mailedToken(first.people, bob);
  await first.service.stop();
  const { ask, service } = await startWith(["member", "ops"]);
  bodyOf(await ask("PATCH", `_accounts/${user.id}`, { roles: ["ops"] }));
  await service.stop();
  const { people } = await startWith(["member"]);
  const asked = { email: bob, password: goodPassword, invitation };
  const { ticket } = bodyOf<{ ticket: string }>(await people.post("sign-up", asked), 202);
  const proven = await people.post("sign-in", { ticket, code: await people.codeFor(bob) });
  assert.equal(problemOf(proven), "401 SIGN_IN_FAILED");
});
