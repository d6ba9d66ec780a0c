/** The audit: what people and administrators did, and what was refused. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { machineTime, until } from "../../../until.ts";
import { type Entry, partsOf, root, start } from "./audit-fixture.ts";
import { bearer, bodyOf, goodPassword, problemOf, type Signed } from "./people.ts";

const ada = "ada@example.org";
const bob = "bob@example.org";

test("each sign-in, change of a password and sign-out has an entry, with who did it and from where", async (t) => {
  const { post, codeFor, root: signed, service } = await start(t);
  const { id } = signed.user;
  const headers = { "user-agent": `Browser/${"x".repeat(300)}` };
  const asked = { email: root, password: goodPassword };
  const first = bodyOf<Signed>(await post("sign-in", asked, headers));
  const own = bearer(first.token);
  const confirmed = bodyOf<Signed>(await post("confirm", { password: goodPassword }, own));
  const { ticket } = bodyOf<{ ticket: string }>(await post("code", { email: root }), 202);
  bodyOf(await post("sign-in", { ticket, code: await codeFor(root, 1) }));
  const changed = { password: "a quite different password" };
  const again = bodyOf<Signed>(await post("password", changed, bearer(confirmed.token)));
  const done = await post("sign-out", undefined, bearer(again.token));
  assert.equal(done.status, 204);
  const last = bodyOf<Signed>(await post("sign-in", { ...asked, ...changed }));
  const answer = await service.send({ path: "/api/v1/_audit", headers: bearer(last.token) });
  const { entries } = bodyOf<{ entries: Entry[] }>(answer);
  assert.deepEqual(partsOf(entries), [
    "signUp email done",
    "signIn password done",
    "confirmation password done",
    "signIn email done",
    "password session done",
    "signOut done",
    "signIn password done",
  ]);
  assert.ok(entries.every(({ subject, actor }) => subject === id && actor === undefined));
  assert.deepEqual([entries.at(-1)?.email, entries.at(-1)?.network], [root, "127.0.0.0/24"]);
  const agent = entries.find(({ agent }) => agent?.startsWith("Browser"))?.agent;
  assert.equal(agent?.length, 200);
  assert.match(entries[0]?.request ?? "", /^[0-9a-f-]{36}$/);
});

test("a limit that refuses has an entry with its name", async (t) => {
  // Equal refusals share an entry if they come in the same minute, so a minute begins here.
  const ahead = 60_000 - (machineTime() % 60_000);
  const { post, audit, root: signed } = await start(t, { now: () => machineTime() + ahead });
  for (let n = 0; n < 12; n++) await post("sign-in", { email: root, password: "wrong wrong wrong" });
  for (let n = 0; n < 7; n++) await post("code", { email: bob });
  const refused = (await audit("?kind=refusal")).entries;
  const shown = refused.map(({ policy, subject, count, result }) => [policy, subject, count, result]);
  assert.deepEqual(shown.reverse(), [
    ["password-address", signed.user.id, 2, "refused"],
    ["mail-address", undefined, 2, "refused"],
  ]);
});

test("what administrators do has entries with the administrator, and with the state before and after", async (t) => {
  const { ask, audit, user, root: signed } = await withAda(t);
  const path = `_accounts/${user.id}`;
  bodyOf(await ask("PATCH", path, { roles: ["member"], claims: { tenant: "acme" } }));
  bodyOf(await ask("PATCH", path, { roles: ["member"] })); // changes nothing
  assert.equal((await ask("POST", `${path}/_sign-out`)).status, 204);
  assert.equal((await ask("POST", `${path}/_reset`)).status, 204);
  assert.equal((await ask("DELETE", path)).status, 205);
  const { id } = bodyOf<{ id: string }>(await ask("POST", "_invitations", { email: bob }), 201);
  assert.equal((await ask("DELETE", `_invitations/${id}`)).status, 205);
  const { entries } = await audit(`?actor=${signed.user.id}`);
  assert.deepEqual(partsOf(entries), [
    "invitation done",
    "accountChanged done",
    "signOut done",
    "accountReset done",
    "accountDeleted done",
    "invitation done",
    "invitationWithdrawn done",
  ]);
  const changed = entries.find(({ kind }) => kind === "accountChanged");
  assert.deepEqual(changed?.before, { roles: [], claims: {}, disabled: false });
  assert.deepEqual(changed?.after, { roles: ["member"], claims: { tenant: "acme" }, disabled: false });
  assert.deepEqual([changed?.subject, changed?.agent], [user.id, "Console/1"]);
  assert.equal(entries.find(({ kind }) => kind === "accountDeleted")?.email, ada);
});

/** A service with an administrator, and a user who was invited. */
async function withAda(t: TestContext) {
  const people = await start(t);
  const { ask, post, codeFor, mails } = people;
  bodyOf(await ask("POST", "_invitations", { email: ada }), 201);
  await until("the mail", () => mails.some(({ to }) => to === ada));
  const [, invitation] = /#invitation=([\w-]{43})/.exec(mails.find(({ to }) => to === ada)?.text ?? "") ?? [];
  const asked = await post("sign-up", { email: ada, password: goodPassword, invitation });
  const { ticket } = bodyOf<{ ticket: string }>(asked, 202);
  const { user } = bodyOf<Signed>(await post("sign-in", { ticket, code: await codeFor(ada, 1) }));
  return { ...people, user };
}

test("an API key that an administrator makes, replaces or ends has an entry with its prefix and never the key", async (t) => {
  const { ask, audit, root: signed } = await start(t, { auth: { keys: true } });
  const made = bodyOf<{ prefix: string; key: string }>(await ask("POST", "_keys", { name: "deploy" }), 201);
  const next = bodyOf<{ prefix: string }>(await ask("POST", `_keys/${made.prefix}/_rotate`), 201);
  bodyOf(await ask("POST", `_keys/${next.prefix}/_revoke`));
  assert.equal((await ask("POST", `_keys/hf_00000000/_revoke`)).status, 404);
  const { entries } = await audit(`?actor=${signed.user.id}`);
  assert.deepEqual(
    entries.map(({ kind, item }) => [kind, item]),
    [
      ["apiKeyRevoked", next.prefix],
      ["apiKeyRotated", next.prefix],
      ["apiKeyCreated", made.prefix],
    ],
  );
  assert.equal(JSON.stringify(entries).includes(made.key), false);
});

test("the list of the audit has pages, and filters by kind, user and time", async (t) => {
  let now = 1_790_000_000_000;
  const { post, audit, ask, root: signed } = await start(t, { now: () => now });
  const session = { email: root, password: goodPassword };
  for (let n = 0; n < 5; n++) {
    now += 1_000;
    bodyOf(await post("sign-in", session));
  }
  bodyOf(await post("sign-in", session)); // at the same time as the one before
  const whole = (await audit()).entries;
  assert.equal(whole.length, 7);
  const pages: Entry[] = [];
  for (let path = "_audit?limit=2&kind=signIn"; ; ) {
    const page = bodyOf<{ entries: Entry[]; next?: string }>(await ask("GET", path));
    assert.ok(page.entries.length <= 2);
    pages.push(...page.entries);
    if (page.next === undefined) break;
    path = page.next.replace("/api/v1/", "");
  }
  assert.deepEqual(
    pages,
    whole.filter(({ kind }) => kind === "signIn"),
  );
  const from = new Date(now - 2_000).toISOString();
  const to = new Date(now).toISOString();
  assert.equal((await audit(`?from=${from}&to=${to}`)).entries.length, 2);
  assert.equal((await audit(`?subject=${signed.user.id}&kind=signUp`)).entries.length, 1);
  assert.equal((await audit("?subject=nobody")).entries.length, 0);
  for (const wrong of ["from=yesterday", "to=5x", "after=1", "colour=red", "limit=0", "kind=a&kind=b"])
    assert.equal(problemOf(await ask("GET", `_audit?${wrong}`)), "400 INVALID_PARAMETER", wrong);
});

test("only administrators see the audit, and nothing else reaches it by name", async (t) => {
  const { service, post, codeFor, ask } = await withAda(t);
  const { ticket } = bodyOf<{ ticket: string }>(await post("code", { email: ada }), 202);
  const { token } = bodyOf<Signed>(await post("sign-in", { ticket, code: await codeFor(ada, 2) }));
  const path = "/api/v1/_audit";
  for (const headers of [bearer(token), {}])
    assert.equal((await service.send({ path, headers })).status, 404);
  const operations = [{ method: "GET", path: "/_audit/x" }];
  assert.notEqual((await ask("POST", "_batch", { operations })).status, 200);
  for (const method of ["POST", "PUT", "DELETE"])
    assert.equal((await ask(method, "_audit", {})).status, 405, method);
});
