/** People sign in at providers, and link the identities there to their accounts. */
import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test } from "node:test";
import { createClient, NotFoundError } from "../../../../client/src/index.ts";
import { readExposition } from "../../../metrics/exposition.ts";
import { machineTime, until } from "../../../until.ts";
import { codeAt } from "./authenticator-app.ts";
import { bearer, bodyOf, goodPassword, type People, problemOf, startPeople } from "./people.ts";
import { fragmentOf, startGithub, startOpenId, TestBrowser } from "./provider-servers.ts";

const ada = "ada@example.org";
const methods = ["password", "email", "providers"] as const;

const joinAt = async (browser: TestBrowser, people: People, email: string) => {
  const before = people.mails.filter(({ to }) => to === email).length;
  const content = { email, password: goodPassword };
  const asked = await browser.send("/api/v1/_auth/sign-up", { content });
  const { ticket } = bodyOf<{ ticket: string }>(asked, 202);
  const code = await people.codeFor(email, before);
  return bodyOf(await browser.send("/api/v1/_auth/sign-in", { content: { ticket, code, cookie: true } }));
};

const identitiesOf = async (browser: TestBrowser) =>
  bodyOf<{ identities: { id: string; provider: string; email: string }[] }>(
    await browser.send("/api/v1/_auth/identities"),
  ).identities;

const link = (browser: TestBrowser, ticket = "") =>
  browser.send("/api/v1/_auth/identities", { content: { ticket } });

test("a trusted provider proves the address: one return makes an account, the next one signs in to it", async (t) => {
  const google = await startOpenId(t, { name: "google", label: "Google", trustEmail: true });
  const people = await startPeople(t, { users: { methods, providers: [google.settings] } });
  const { origin, port } = people.service;
  google.person = { sub: "1", email: ada, email_verified: true };
  assert.deepEqual(
    bodyOf<{ providers: object }>(await people.service.send({ path: "/api/v1/_auth" })).providers,
    [{ name: "google", label: "Google" }],
  );
  const browser = new TestBrowser(people.service);
  assert.equal(
    await browser.signIn("google", "?return=/orders?page=2%23top"),
    `http://localhost:${port}/orders?page=2#top`,
  );
  const first = await browser.user();
  assert.equal(first?.email, ada);
  const other = new TestBrowser(people.service);
  google.person = { sub: "1", email: "changed@example.org" };
  assert.equal(await other.signIn("google"), `http://localhost:${port}/`);
  assert.deepEqual(await other.user(), first);
  assert.deepEqual(
    (await identitiesOf(other)).map(({ provider, email }) => [provider, email]),
    [["google", ada]],
  );
  assert.equal(people.mails.length, 0);
  const elsewhere = await people.service.send({
    path: "/api/v1/_auth/providers/google?return=/x",
    headers: { host: origin.slice("http://".length) },
  });
  assert.equal(
    elsewhere.headers.location,
    `http://localhost:${port}/api/v1/_auth/providers/google?return=/x`,
  );
  // A browser would say that the next request comes from another site.
  const onPage = await people.service.send({
    path: "/api/v1/_auth/providers/google?return=/x",
    headers: { host: origin.slice("http://".length), "sec-fetch-site": "same-origin" },
  });
  assert.equal(onPage.headers.location, `http://localhost:${port}/_sign-in?return=%2Fx`);
});

test("GitHub signs in with its own protocol, and its primary address counts", async (t) => {
  const github = await startGithub(t);
  const people = await startPeople(t, { users: { methods, providers: [github.settings] } });
  github.person = { sub: "583231", email: ada, email_verified: true, name: "Ada" };
  const browser = new TestBrowser(people.service);
  await browser.signIn("github");
  assert.equal((await browser.user())?.email, ada);
  assert.deepEqual(github.seen, ["GET /authorize", "POST /token", "GET /user", "GET /user/emails"]);
  github.person = { sub: "7", email: "bob@example.org", email_verified: false };
  const other = new TestBrowser(people.service);
  assert.equal(fragmentOf(await other.signIn("github")).email, "bob@example.org");
  assert.equal(await other.user(), undefined);
});

test("an unknown identity with the address of an account is linked after a sign-in in the same browser", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const people = await startPeople(t, { users: { methods, providers: [google.settings] } });
  const { user } = await people.join(ada);
  google.person = { sub: "1", email: ada, email_verified: true };
  const browser = new TestBrowser(people.service);
  const { link: ticket, email, provider } = fragmentOf(await browser.signIn("google", "?return=/orders"));
  assert.deepEqual([email, provider, await browser.user()], [ada, "google", undefined]);
  assert.equal((await link(browser, ticket)).status, 401);
  bodyOf(
    await browser.send("/api/v1/_auth/sign-in", {
      content: { email: ada, password: goodPassword, cookie: true },
    }),
  );
  const made = bodyOf<{ id: string; provider: string }>(await link(browser, ticket));
  assert.equal(made.provider, "google");
  await until("a notice", () =>
    people.mails.some(({ text }) => /can now sign in to your account/.test(text)),
  );
  assert.equal(problemOf(await link(browser, ticket)), "401 SIGN_IN_FAILED");
  const other = new TestBrowser(people.service);
  await other.signIn("google");
  assert.equal((await other.user())?.id, user.id);
  const path = `/api/v1/_auth/identities/${made.id}`;
  assert.equal((await other.send(path, { method: "DELETE" })).status, 205);
  assert.equal((await other.send(path, { method: "DELETE" })).status, 404);
  await until("the other session has ended", async () => (await browser.user()) === undefined);
  assert.equal((await other.user())?.id, user.id);
  assert.ok(fragmentOf(await new TestBrowser(people.service).signIn("google")).link !== undefined);
});

test("without trust or a verified address, the address gets a code first", async (t) => {
  const work = await startOpenId(t, { name: "work" });
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const people = await startPeople(t, { users: { methods, providers: [work.settings, google.settings] } });
  for (const [n, [name, email_verified]] of (
    [
      ["work", true],
      ["google", false],
    ] as const
  ).entries()) {
    const email = `new${n}@example.org`;
    const running = name === "work" ? work : google;
    running.person = { sub: `${n}`, email, email_verified };
    const browser = new TestBrowser(people.service);
    const { link: ticket } = fragmentOf(await browser.signIn(name));
    assert.equal(await browser.user(), undefined);
    assert.equal(people.mails.filter(({ to }) => to === email).length, 0);
    await joinAt(browser, people, email);
    bodyOf(await link(browser, ticket));
    const other = new TestBrowser(people.service);
    await other.signIn(name);
    assert.equal((await other.user())?.email, email);
  }
});

for (const [what, inIdToken] of [
  ["nothing", []],
  ["the address", ["email"]],
  ["the address and that it is verified", ["email", "email_verified"]],
  ["everything", ["email", "email_verified", "name"]],
] as const)
  for (const email_verified of [true, "true"])
    test(`an ID token with ${what} is enough, and ${JSON.stringify(email_verified)} is true`, async (t) => {
      const google = await startOpenId(t, { name: "google", trustEmail: true }, undefined, inIdToken);
      const schema = { properties: { name: { type: "string" } }, required: ["name"] } as const;
      const people = await startPeople(t, {
        users: { methods, providers: [google.settings] },
        collections: { users: { schema, access: { read: "authenticated" } } },
      });
      google.person = { sub: "1", email: ada, email_verified, name: "Ada" };
      const browser = new TestBrowser(people.service);
      const { pathname } = new URL(await browser.signIn("google", "?return=/orders"));
      assert.equal(pathname, "/orders");
      assert.equal((await browser.user())?.email, ada);
    });

test("a provider whose response about the user fails still signs in who is known from the ID token", async (t) => {
  const isAsked = (path = "") => path.startsWith("/me");
  const intercept = (request: IncomingMessage, response: ServerResponse) => {
    if (isAsked(request.url)) response.writeHead(503).end();
    return isAsked(request.url);
  };
  const work = await startOpenId(t, { name: "work", trustEmail: true }, intercept, [
    "email",
    "email_verified",
  ]);
  const people = await startPeople(t, { users: { methods, providers: [work.settings] } });
  work.person = { sub: "1", email: ada, email_verified: true };
  const browser = new TestBrowser(people.service);
  await browser.signIn("work");
  assert.equal((await browser.user())?.email, ada);
});

test("somebody who reloads the way back gets to the page that was asked for, or back to the page of sign-in with it", async (t) => {
  const work = await startOpenId(t, { name: "work", trustEmail: true });
  const people = await startPeople(t, { users: { methods, providers: [work.settings] } });
  work.person = { sub: "1", email: ada, email_verified: true };
  const browser = new TestBrowser(people.service);
  const back = await browser.visit("work", "?return=/orders?page=2");
  const asked = `http://localhost:${people.service.port}/orders?page=2`;
  assert.equal(await browser.comeBack(back), asked);
  assert.equal(await browser.comeBack(back), asked);
  assert.equal((await browser.user())?.email, ada);
  const other = new TestBrowser(people.service);
  const failed = new URL(await other.visit("work", "?return=/orders"));
  failed.searchParams.set("code", "another");
  for (let n = 0; n < 2; n++) {
    const page = new URL(await other.comeBack(failed.href));
    assert.equal(page.pathname, "/_sign-in");
    assert.equal(page.searchParams.get("return"), "/orders");
  }
  assert.equal(await other.user(), undefined);
  // The ticket belongs to one browser.
  const stranger = new TestBrowser(people.service);
  assert.equal(new URL(await stranger.comeBack(failed.href)).searchParams.get("return"), "/");
});

test("a sign-up that the settings refuse is refused by providers too", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const allowed = { domains: ["acme.example"], roles: ["member"] };
  for (const [signUp, email, isAllowed] of [
    ["closed", ada, false],
    ["invited", ada, false],
    [allowed, ada, false],
    [allowed, "ada@acme.example", true],
  ] as const) {
    const people = await startPeople(t, { users: { methods, signUp, providers: [google.settings] } });
    google.person = { sub: "1", email, email_verified: true };
    const browser = new TestBrowser(people.service);
    const to = await browser.signIn("google");
    assert.equal((await browser.user()) !== undefined, isAllowed, to);
    if (!isAllowed) assert.ok(fragmentOf(to).link !== undefined);
  }
});

test("a profile gets the name only if the schema requires one", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  google.person = { sub: "1", email: ada, email_verified: true, name: "Ada" };
  const schemas = [
    [{ required: ["name"] }, { name: "Ada" }],
    [{ required: [] }, {}],
    [{ required: ["age"] }, undefined],
  ] as const;
  for (const [schema, expected] of schemas) {
    const people = await startPeople(t, {
      users: { methods, providers: [google.settings] },
      collections: { users: { schema: { type: "object", ...schema }, access: { read: "public" } } },
    });
    const browser = new TestBrowser(people.service);
    const to = await browser.signIn("google");
    const user = await browser.user();
    if (expected === undefined) assert.ok(fragmentOf(to).link !== undefined);
    else {
      const { json } = await people.service.send({ path: `/api/v1/users/${user?.id}` });
      assert.deepEqual(json, { id: user?.id, ...expected });
    }
  }
});

test("somebody with an account links more identities, at most ten, and keeps one way to sign in", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const people = await startPeople(t, { users: { methods: ["providers"], providers: [google.settings] } });
  const browser = new TestBrowser(people.service);
  google.person = { sub: "0", email: ada, email_verified: true };
  await browser.signIn("google");
  const [only] = await identitiesOf(browser);
  const remove = (id = "") => browser.send(`/api/v1/_auth/identities/${id}`, { method: "DELETE" });
  assert.equal(problemOf(await remove(only?.id)), "409 IDENTITY_UNAVAILABLE");
  for (let n = 1; n <= 10; n++) {
    google.person = { sub: `${n}`, email: `ada${n}@example.org`, email_verified: true };
    const { link: ticket } = fragmentOf(
      await browser.signIn("google", "?link=true&return=/_sign-in%23account"),
    );
    const answer = await link(browser, ticket);
    if (n < 10) bodyOf(answer);
    else assert.equal(problemOf(answer), "409 IDENTITY_UNAVAILABLE");
  }
  assert.equal((await identitiesOf(browser)).length, 10);
  assert.equal((await remove(only?.id)).status, 205);
  const other = new TestBrowser(people.service);
  google.person = { sub: "99", email: "bob@example.org", email_verified: true };
  await other.signIn("google");
  google.person = { sub: "1", email: ada, email_verified: true };
  const { link: ticket } = fragmentOf(await other.signIn("google", "?link=true"));
  assert.equal(problemOf(await link(other, ticket)), "409 IDENTITY_UNAVAILABLE");
});

test("a session that was not confirmed lately changes no identity", async (t) => {
  let now = machineTime();
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const people = await startPeople(t, { now: () => now, users: { methods, providers: [google.settings] } });
  google.person = { sub: "1", email: ada, email_verified: true };
  const browser = new TestBrowser(people.service);
  await browser.signIn("google");
  const [identity] = await identitiesOf(browser);
  now += 660_000;
  assert.equal(problemOf(await link(browser, "any")), "403 CONFIRMATION_REQUIRED");
  const path = `/api/v1/_auth/identities/${identity?.id}`;
  assert.equal(problemOf(await browser.send(path, { method: "DELETE" })), "403 CONFIRMATION_REQUIRED");
});

test("an account with a second factor is asked for it after the provider", async (t) => {
  let now = machineTime();
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const users = { methods, providers: [google.settings] };
  const metrics = { host: "127.0.0.1", port: 0 };
  const people = await startPeople(t, { now: () => now, users, metrics });
  google.person = { sub: "1", email: ada, email_verified: true };
  const first = new TestBrowser(people.service);
  await first.signIn("google");
  const add = (content: object) => first.send("/api/v1/_auth/factors", { content });
  const { ticket, secret } = bodyOf<{ ticket: string; secret: string }>(await add({ kind: "totp" }));
  bodyOf(await add({ ticket, totp: codeAt(secret, now), name: "phone" }));
  now += 30_000;
  const browser = new TestBrowser(people.service);
  const to = await browser.signIn("google", "?return=/orders");
  assert.equal(new URL(to).searchParams.get("return"), "/orders");
  const step = JSON.parse(fragmentOf(to).secondFactor ?? "") as { ticket: string; factors: string[] };
  assert.deepEqual(step.factors, ["totp", "recoveryCode"]);
  assert.equal(await browser.user(), undefined);
  const content = { ticket: step.ticket, totp: codeAt(secret, now), cookie: true };
  bodyOf(await browser.send("/api/v1/_auth/second-factor", { content }));
  assert.equal((await browser.user())?.email, ada);
  const { value } = readExposition(await (await fetch(String(people.service.metrics))).text());
  const begun = ["providers", "totp"].map((method) =>
    value("holdfast_sign_ins_total", { method, result: "done" }),
  );
  assert.deepEqual(begun, [1, 1]);
});

test("the identities of a deleted profile or account sign in to nothing", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const people = await startPeople(t, { users: { methods, providers: [google.settings] } });
  google.person = { sub: "1", email: ada, email_verified: true };
  const browser = new TestBrowser(people.service);
  await browser.signIn("google");
  const first = await browser.user();
  assert.equal((await browser.send(`/api/v1/users/${first?.id}`, { method: "DELETE" })).status, 205);
  await browser.signIn("google");
  assert.notEqual((await browser.user())?.id, first?.id);
});

test("an administrator sees and removes the identities of a user, and another address ends them", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const signUp = { domains: ["example.org"], roles: ["ops"] };
  const users = { methods, providers: [google.settings], signUp, roles: ["ops"] };
  const people = await startPeople(t, { users });
  const root = await people.join("root@example.org");
  const ask = (method: string, path: string, content?: object) =>
    people.service.send({
      method,
      path: `/api/v1/${path}`,
      ...(content && { content }),
      headers: bearer(root.token),
    });
  google.person = { sub: "1", email: ada, email_verified: true };
  const browser = new TestBrowser(people.service);
  await browser.signIn("google");
  const user = await browser.user();
  const path = `_accounts/${user?.id}`;
  const { $accounts } = createClient({
    baseUrl: `${people.service.origin}/api/v1`,
    token: root.token,
  });
  const shown = () => $accounts.identities(user?.id ?? "");
  const [identity] = await shown();
  assert.deepEqual([identity], await identitiesOf(browser));
  bodyOf(await ask("GET", `${path}/_identities`));
  assert.equal((await ask("DELETE", `${path}/_identities/${root.user.id}`)).status, 404);
  assert.equal((await ask("GET", `_accounts/${crypto.randomUUID()}/_identities`)).status, 404);
  await assert.rejects($accounts.unlinkIdentity(user?.id ?? "", root.user.id), NotFoundError);
  const removing = () => ask("DELETE", `${path}/_identities/${identity?.id}`);
  assert.equal((await removing()).status, 205);
  assert.equal((await removing()).status, 404);
  assert.deepEqual(await shown(), []);
  await until("the session has ended", async () => (await browser.user()) === undefined);
  await until("a notice", () =>
    people.mails.some(({ to, text }) => to === ada && /An administrator has removed/.test(text)),
  );
  const { link: ticket } = fragmentOf(await browser.signIn("google"));
  const { entries } = bodyOf<{ entries: { kind: string; actor?: string; item?: string }[] }>(
    await ask("GET", `_audit?subject=${user?.id}&kind=identityRemoved`),
  );
  assert.deepEqual(
    entries.map(({ actor, item }) => [actor, item]),
    [[root.user.id, identity?.id]],
  );

  await joinAt(browser, people, ada);
  bodyOf(await link(browser, ticket));
  assert.equal((await shown()).length, 1);
  const bob = "bob@example.org";
  bodyOf(await ask("PATCH", path, { email: bob }));
  await until("a mail", () => people.mails.some(({ to }) => to === bob));
  const [, invitation] =
    /#invitation=([\w-]{43})/.exec(people.mails.find(({ to }) => to === bob)?.text ?? "") ?? [];
  const asked = bodyOf<{ ticket: string }>(await people.post("sign-up", { email: bob, invitation }), 202);
  const code = await people.codeFor(bob, 1);
  bodyOf(await people.post("sign-in", { ticket: asked.ticket, code }));
  assert.deepEqual(await shown(), []);
});

test("a read-only service sends nobody to a provider", async (t) => {
  const google = await startOpenId(t, { name: "google" });
  const { service } = await startPeople(t, {
    readOnly: true,
    seeds: { users: [] },
    users: { methods, providers: [google.settings] },
  });
  for (const path of ["google", "google/callback"]) {
    const headers = { host: `localhost:${service.port}` };
    const answer = await service.send(
      { path: `/api/v1/_auth/providers/${path}`, headers },
      { mayFail: true },
    );
    assert.equal(problemOf(answer), "503 UNAVAILABLE");
  }
});

test("two identities with one new address, at the same moment: one gets an account, and the other one can be linked", async (t) => {
  const providers = [];
  for (const name of ["google", "work"]) providers.push(await startOpenId(t, { name, trustEmail: true }));
  const settings = providers.map((each) => each.settings);
  const { service } = await startPeople(t, { users: { methods, providers: settings } });
  for (let n = 0; n < 5; n++) {
    const email = `ada${n}@example.org`;
    const returns: (() => Promise<string>)[] = [];
    for (const provider of providers) {
      provider.person = { sub: `${n}`, email, email_verified: true };
      const browser = new TestBrowser(service);
      const back = await browser.visit(provider.settings.name, "?return=/orders");
      returns.push(() => browser.comeBack(back));
    }
    const ends = await Promise.all(returns.map((comeBack) => comeBack()));
    const shown = ends.map((end) => {
      const { pathname, hash } = new URL(end);
      const { error, email: named } = Object.fromEntries(new URLSearchParams(hash.slice(1)));
      return `${pathname} ${error ?? named ?? ""}`;
    });
    assert.deepEqual(shown.sort(), [`/_sign-in ${email}`, "/orders "]);
  }
});
