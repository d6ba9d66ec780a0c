/** Administrators manage accounts and invitations by the typed client. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  type Account,
  ConflictError,
  createClient,
  NotFoundError,
  ProblemError,
} from "../../../client/src/index.ts";
import { machineTime, until } from "../../until.ts";
import { goodPassword, startPeople } from "./http/people.ts";

const root = "root@root.example";
const ada = "ada@example.org";
const bob = "bob@example.org";

/** A service with an administrator, the client of the administrator, and one without a session. */
async function start(t: TestContext) {
  const people = await startPeople(t, {
    users: { signUp: { domains: ["root.example"], roles: ["ops"] }, roles: ["editor", "ops"] },
  });
  const baseUrl = `${people.service.origin}/api/v1`;
  const clientOf = (token?: string) => createClient({ baseUrl, ...(token !== undefined && { token }) });
  const { $accounts, $invitations } = clientOf((await people.join(root)).token);
  /** The token in the last invitation of an address. */
  const tokenFor = async (email: string) => {
    const find = () => people.mails.findLast(({ to, text }) => to === email && text.includes("#invitation="));
    await until(`an invitation of ${email}`, () => find() !== undefined);
    return /#invitation=([\w-]+)/.exec(find()?.text ?? "")?.[1] ?? "";
  };
  /** Invites somebody, who then signs up. */
  const join = async (email: string, roles: string[] = []) => {
    await $invitations.create({ email, roles });
    const { $auth } = createClient({ baseUrl, auth: { store: { get: () => undefined, set: () => {} } } });
    const invitation = await tokenFor(email);
    assert.deepEqual(await $auth.invitation(invitation), { email, required: [], hasAccount: false });
    const ticket = await $auth.signUp({ email, password: goodPassword, invitation });
    return ticket.verify(await people.codeFor(email, 1));
  };
  return { people, clientOf, baseUrl, $accounts, $invitations, join };
}

const emailsOf = (accounts: readonly Account[]) => accounts.map(({ email }) => email);

test("people are invited, and an invitation is withdrawn", async (t) => {
  const { $invitations, $accounts, join, clientOf } = await start(t);
  const made = await $invitations.create({
    email: bob,
    roles: ["editor"],
    claims: { tenant: "acme" },
    profile: { name: "Bob" },
  });
  assert.deepEqual(
    [made.email, made.roles, made.claims, made.profile],
    [bob, ["editor"], { tenant: "acme" }, { name: "Bob" }],
  );
  assert.deepEqual(await $invitations.list(), { invitations: [made] });
  await $invitations.delete(made.id);
  await assert.rejects($invitations.delete(made.id), NotFoundError);
  assert.deepEqual(await $invitations.list(), { invitations: [] });
  const { user } = await join(ada, ["editor"]);
  assert.deepEqual(user.roles, ["editor"]);
  await assert.rejects($invitations.create({ email: ada }), { code: "UNIQUE_VIOLATION" });
  await assert.rejects(clientOf().$auth.invitation("A".repeat(43)), { code: "INVALID_PARAMETER" });
  await assert.rejects(clientOf().$accounts.list(), NotFoundError);
  assert.equal((await $accounts.get(user.id)).email, ada);
});

test("accounts and invitations are read page by page, and accounts are filtered", async (t) => {
  const { $accounts, $invitations, join } = await start(t);
  const { user } = await join(ada, ["editor"]);
  await join(bob);
  await $accounts.patch(user.id, { disabled: true });
  const first = await $accounts.list({ limit: 2 });
  const rest = await $accounts.list({ limit: 2, after: first.after });
  assert.deepEqual([...emailsOf(first.accounts), ...emailsOf(rest.accounts)], [root, ada, bob]);
  assert.equal(rest.after, undefined);
  for (const [filter, found] of [
    [{ email: "ADA@example.org" }, [ada]],
    [{ role: "ops" }, [root]],
    [{ disabled: true }, [ada]],
    [{ disabled: false }, [root, bob]],
    [{ disabled: false, role: "editor" }, []],
  ] as const)
    assert.deepEqual(emailsOf((await $accounts.list(filter)).accounts), found, JSON.stringify(filter));
  for (const email of ["c@example.org", "d@example.org"]) await $invitations.create({ email });
  const page = await $invitations.list({ limit: 1 });
  const next = await $invitations.list({ limit: 1, after: page.after });
  assert.deepEqual(
    [...page.invitations, ...next.invitations].map(({ email }) => email),
    ["c@example.org", "d@example.org"],
  );
});

test("an account is changed as it was read, reset, signed out and deleted", async (t) => {
  const { people, $accounts, clientOf } = await start(t);
  const { token, user } = await people.join("ada@root.example");
  const isIn = async () => (await clientOf(token).$auth.user()) !== undefined;
  const read = await $accounts.get(user.id);
  const changed = await $accounts.patch(read, { roles: ["editor"], claims: { tenant: "acme" } });
  assert.deepEqual([changed.roles, changed.claims], [["editor"], { tenant: "acme" }]);
  await assert.rejects($accounts.patch(read, { disabled: true }), ConflictError);
  assert.deepEqual((await $accounts.patch(changed, { claims: null })).claims, {});

  const expiresAt = new Date(machineTime() + 86_400_000).toISOString();
  const key = { name: "backup", scopes: ["users:read"], expiresAt };
  const made = await people.post("sessions", key, { authorization: `Bearer ${token}` });
  assert.equal(made.status, 201, made.text);
  const sessions = await $accounts.sessions(user.id);
  assert.equal(sessions.length, 2);
  assert.deepEqual(sessions.find(({ name }) => name === "backup")?.scopes, ["users:read"]);
  assert.equal(await isIn(), true);
  await $accounts.signOut(user.id);
  assert.deepEqual(await $accounts.sessions(user.id), []);
  await until("the session has ended", async () => !(await isIn()));

  const proof = { email: user.email, password: goodPassword };
  await $accounts.resetFactors(user.id);
  assert.equal((await people.post("sign-in", proof)).status, 200);
  assert.deepEqual((await $accounts.sessions(user.id)).length, 1);
  await $accounts.reset(user.id);
  assert.equal((await people.post("sign-in", proof)).status, 401);
  await $accounts.delete(await $accounts.get(user.id));
  for (const ask of [
    () => $accounts.get(user.id),
    () => $accounts.signOut(user.id),
    () => $accounts.reset(user.id),
    () => $accounts.sessions(user.id),
    () => $accounts.delete(user.id),
  ])
    await assert.rejects(ask, NotFoundError);
  const { accounts } = await $accounts.list();
  await assert.rejects($accounts.delete(accounts[0] as Account), (error: unknown) => {
    return error instanceof ProblemError && error.code === "LAST_ADMINISTRATOR";
  });
});
