/** People sign up and in by the typed client. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  createClient,
  HoldfastError,
  NotFoundError,
  ProblemError,
  SecondFactorError,
  type SignedIn,
  type User,
} from "../../client/src/index.ts";
import { codeAt } from "../capabilities/users/http/authenticator-app.ts";
import { bearer, goodPassword, type People, startPeople } from "../capabilities/users/http/people.ts";
import { fragmentOf, startOpenId, TestBrowser } from "../capabilities/users/http/provider-servers.ts";
import { startFor } from "../http/service.ts";
import { machineTime, until } from "../until.ts";
import { startFaultProxy } from "./fault-proxy.ts";

const ada = "ada@example.org";

/** A place for a text that a test can look into. */
function place(first?: string) {
  const kept = { text: first };
  return {
    kept,
    get: () => kept.text,
    set: (text: string | undefined) => {
      kept.text = text;
    },
  };
}

/** A client, with the ids of the users that its listener was told. */
function clientOf({ service }: People, options: Partial<Parameters<typeof createClient>[0]> = {}) {
  const store = place();
  const client = createClient({ baseUrl: `${service.origin}/api/v1`, auth: { store }, ...options });
  const told: (string | undefined)[] = [];
  const stop = client.$auth.onChange((user) => told.push(user?.email));
  return { client, store, told, stop };
}

/** What a browser does for a page of the service: it keeps the cookies, and says where requests come from. */
function browserOf(t: TestContext, people: People, credentials: (string | undefined)[] = []) {
  const jar = new Map<string, string>();
  const browse: typeof fetch = async (url, init) => {
    credentials.push(init?.credentials);
    const headers = new Headers(init?.headers);
    assert.equal(headers.has("authorization"), false);
    headers.set("cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "));
    headers.set("sec-fetch-site", "same-origin");
    const response = await fetch(url, { ...init, headers });
    for (const set of response.headers.getSetCookie()) {
      const [name = "", value = ""] = (set.split(";", 1)[0] ?? "").split(/=(.*)/);
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  };
  const baseUrl = `${people.service.origin}/api/v1`;
  const tab = () => {
    const client = createClient({ baseUrl, fetch: browse, auth: { cookie: true } });
    const told: (string | undefined)[] = [];
    t.after(client.$auth.onChange((user) => told.push(user?.email)));
    return { auth: client.$auth, told };
  };
  return { jar, tab };
}

/** People in a service whose clock goes forward when a test says so. */
async function startPeopleWithClock(t: TestContext) {
  let aheadMs = 0;
  const people = await startPeople(t, { now: () => machineTime() + aheadMs });
  return { people, advance: (ms: number) => (aheadMs += ms) };
}

test("somebody signs up, and every request then carries the token", async (t) => {
  const people = await startPeople(t);
  const { client, store, told } = clientOf(people);
  assert.equal(await client.$auth.user(), undefined);
  const ticket = await client.$auth.signUp({ email: ada, password: goodPassword, profile: { name: "Ada" } });
  assert.ok(Date.parse(ticket.expiresAt) > 0);
  const signed = await ticket.verify(await people.codeFor(ada));
  assert.deepEqual(Object.keys(signed).sort(), ["session", "user"]);
  assert.match(store.kept.text ?? "", /^hfs_/);
  assert.deepEqual(await client.$auth.user(), signed.user);
  const mine = await client.articles?.create({ authorId: signed.user.id });
  assert.equal(mine?.authorId, signed.user.id);
  assert.deepEqual(told, [undefined, ada]);
});

test("a code signs in, also by the ticket alone", async (t) => {
  const people = await startPeople(t);
  await people.join(ada);
  const { client } = clientOf(people);
  const { ticket } = await client.$auth.signInWithCode(ada);
  const other = clientOf(people).client;
  const { user } = await other.$auth.verify(ticket, await people.codeFor(ada, 1));
  assert.equal(user.email, ada);
  assert.equal((await other.$auth.user())?.id, user.id);
});

test("a forgotten password is set by a code, and the device is known at the next sign-in", async (t) => {
  const people = await startPeople(t);
  await people.join(ada);
  const deviceStore = place();
  const { client, store } = clientOf(people, { auth: { deviceStore } });
  const ticket = await client.$auth.resetPassword(ada);
  const password = "another horse and a battery";
  await ticket.set(await people.codeFor(ada, 1), password);
  const device = deviceStore.kept.text;
  assert.match(device ?? "", /^hfd_/);
  await client.$auth.signOut();
  await client.$auth.signIn({ email: ada, password });
  assert.equal(deviceStore.kept.text, device);
  assert.equal(store.kept.text, undefined); // this client has another place
  await assert.rejects(client.$auth.signIn({ email: ada, password: goodPassword }), (error) => {
    assert.ok(error instanceof ProblemError);
    assert.equal(error.code, "SIGN_IN_FAILED");
    assert.doesNotMatch(JSON.stringify({ ...error, message: error.message }), /horse|hf[sd]_/);
    return true;
  });
});

test("who proves again who they are changes the password and ends other sessions", async (t) => {
  const { people, advance } = await startPeopleWithClock(t);
  await people.join(ada);
  const { client, store } = clientOf(people);
  await client.$auth.signIn({ email: ada, password: goodPassword });
  advance(11 * 60_000);
  await assert.rejects(client.$auth.changePassword("another horse and a battery"), {
    code: "CONFIRMATION_REQUIRED",
  });
  const before = store.kept.text;
  await client.$auth.confirm({ password: goodPassword });
  assert.notEqual(store.kept.text, before);
  const all = await client.$auth.sessions();
  const other = all.find(({ current }) => !current);
  assert.equal(all.length, 2);
  await client.$auth.endSession(other?.id ?? "");
  await assert.rejects(client.$auth.endSession(other?.id ?? ""), NotFoundError);
  await client.$auth.changePassword("another horse and a battery");
  assert.deepEqual(
    (await client.$auth.sessions()).map(({ current }) => current),
    [true],
  );
});

test("the address changes by a code, and a key for a program acts as the user", async (t) => {
  const { people, advance } = await startPeopleWithClock(t);
  const { user } = await people.join(ada);
  const { client } = clientOf(people);
  await client.$auth.signIn({ email: ada, password: goodPassword });
  advance(11 * 60_000);
  const later = "ada.later@example.org";
  const key = { name: "backup", scopes: ["articles:write"], expiresAt: new Date(machineTime() + 86_400_000) };
  const wanted = { ...key, expiresAt: key.expiresAt.toISOString() };
  await assert.rejects(client.$auth.changeEmail(later), { code: "CONFIRMATION_REQUIRED" });
  await assert.rejects(client.$auth.createKey(wanted), { code: "CONFIRMATION_REQUIRED" });
  await client.$auth.confirm({ password: goodPassword });
  const ticket = await client.$auth.changeEmail(later);
  await ticket.verify(await people.codeFor(later));
  assert.equal((await client.$auth.user())?.email, later);
  const { session, token } = await client.$auth.createKey(wanted);
  assert.deepEqual([session.name, session.scopes], ["backup", ["articles:write"]]);
  const headers = { ...bearer(token), "Content-Type": "application/json" };
  const content = { authorId: user.id };
  const made = await people.service.send({ method: "POST", path: "/api/v1/articles", content, headers });
  assert.equal(made.status, 201, made.text);
});

test("a sign-out forgets the token, and one from everywhere ends the sessions of other clients", async (t) => {
  const people = await startPeople(t);
  const { token } = await people.join(ada);
  const first = clientOf(people);
  const second = clientOf(people, { auth: { store: place(token) } });
  await first.client.$auth.signIn({ email: ada, password: goodPassword });
  await first.client.$auth.signOut({ everywhere: true });
  assert.equal(first.store.kept.text, undefined);
  assert.deepEqual(first.told, [ada, undefined]);
  await until("the session has ended", async () => (await second.client.$auth.user()) === undefined);
  await assert.rejects(first.client.$auth.signOut({ everywhere: true }), { status: 401 });
  await first.client.$auth.signOut();
});

test("the end of a session and a sign-out whose responses are lost have happened", async (t) => {
  const people = await startPeople(t);
  const { session } = await people.join(ada);
  const { client: first, store: kept } = clientOf(people);
  await first.$auth.signIn({ email: ada, password: goodPassword });
  const token = kept.get();
  const proxy = await startFaultProxy(people.service.port);
  t.after(() => proxy.stop());
  const store = place(token);
  const client = createClient({
    baseUrl: `${proxy.origin}/api/v1`,
    auth: { store },
    retry: { baseMs: 1 },
  });
  proxy.loseAnswers(1);
  await client.$auth.endSession(session.id);
  proxy.loseAnswers(1);
  await client.$auth.signOut({ everywhere: true });
  assert.equal(store.kept.text, undefined);
});

test("a token that has ended goes, the listeners hear it, and the next sign-in works", async (t) => {
  const { people, advance } = await startPeopleWithClock(t);
  const { token } = await people.join(ada);
  const store = place(token);
  const { client, told, stop } = clientOf(people, { auth: { store } });
  assert.equal((await client.$auth.user())?.email, ada);
  advance(100 * 24 * 3_600_000);
  await assert.rejects(async () => client.articles?.list().all(), { code: "INVALID_TOKEN" });
  assert.equal(store.kept.text, undefined);
  assert.deepEqual(told, [ada, undefined]);
  store.set(token);
  await client.$auth.signIn({ email: ada, password: goodPassword });
  assert.deepEqual(told, [ada, undefined, ada]);
  stop();
  await client.$auth.signOut();
  assert.equal(told.length, 3);
});

test("a refused token does not take away a newer one, or an API key", async (t) => {
  const people = await startPeople(t);
  const { token } = await people.join(ada);
  const ended = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
  const texts = [ended, token];
  const set: unknown[] = [];
  const store = { get: () => texts.shift(), set: (text: string | undefined) => void set.push(text) };
  const { client, told } = clientOf(people, { auth: { store } });
  await assert.rejects(async () => client.articles?.list().all(), { code: "INVALID_TOKEN" });
  const withKey = clientOf(people, { token: ended });
  await assert.rejects(async () => withKey.client.articles?.list().all(), { code: "INVALID_TOKEN" });
  assert.deepEqual([set, told, withKey.told], [[], [], []]);
});

test("a listener that throws stops neither the others nor the sign-in", async (t) => {
  const people = await startPeople(t);
  await people.join(ada);
  const { client } = clientOf(people);
  const thrown: unknown[] = [];
  const seen = (error: unknown) => thrown.push(error);
  process.setUncaughtExceptionCaptureCallback(seen);
  t.after(() => process.setUncaughtExceptionCaptureCallback(null));
  const fault = new Error("the listener");
  client.$auth.onChange(() => {
    throw fault;
  });
  const told: (User | undefined)[] = [];
  client.$auth.onChange((user) => told.push(user));
  const { user } = await client.$auth.signIn({ email: ada, password: goodPassword });
  assert.deepEqual([thrown, told], [[fault], [user]]);
});

test("in a browser the cookie signs in, and no script sees a token", async (t) => {
  const people = await startPeople(t);
  await people.join(ada);
  const credentials: (string | undefined)[] = [];
  const { jar, tab } = browserOf(t, people, credentials);
  const { auth, told } = tab();
  const other = tab();
  await auth.signIn({ email: ada, password: goodPassword });
  assert.equal(jar.size, 2);
  assert.equal((await auth.user())?.email, ada);
  await until("the other tab has heard it", () => other.told.length === 1);
  await auth.confirm({ password: goodPassword });
  await auth.changePassword("another horse and a battery");
  await auth.signOut();
  assert.equal(jar.size, 1); // the device stays known
  await until("the other tab has heard it", () => other.told.at(-1) === undefined);
  assert.deepEqual([told.at(-1), other.told[0]], [undefined, ada]);
  assert.deepEqual([...new Set(credentials)], ["include"]);
});

test("in a browser the end of a session is seen at the next request that needs one", async (t) => {
  const { people, advance } = await startPeopleWithClock(t);
  await people.join(ada);
  const { auth, told } = browserOf(t, people).tab();
  await auth.signIn({ email: ada, password: goodPassword });
  advance(100 * 24 * 3_600_000);
  await assert.rejects(auth.sessions(), { code: "UNAUTHENTICATED" });
  assert.deepEqual(told, [ada, undefined]);
});

test("a service without users has no sign-in", async (t) => {
  const service = await startFor(t);
  const { $auth: auth } = createClient({ baseUrl: `${service.origin}/api/v1` });
  await assert.rejects(auth.user(), NotFoundError);
});

test("a browser goes to a provider, and the user links and removes identities", async (t) => {
  const google = await startOpenId(t, { name: "google" });
  const users = { methods: ["password", "email", "providers"], providers: [google.settings] } as const;
  const people = await startPeople(t, { users });
  await people.join(ada);
  google.person = { sub: "1", email: ada };
  const browser = new TestBrowser(people.service);
  const { link: ticket = "" } = fragmentOf(await browser.signIn("google", "?link=true"));
  const baseUrl = `${people.service.origin}/api/v1`;
  const browse: typeof fetch = async (url, init) => {
    const headers = new Headers(init?.headers);
    headers.set("cookie", [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; "));
    return fetch(url, { ...init, headers });
  };
  const { $auth } = createClient({ baseUrl, fetch: browse });
  await $auth.signIn({ email: ada, password: goodPassword });
  const identity = await $auth.linkIdentity(ticket);
  assert.deepEqual(await $auth.identities(), [identity]);
  assert.deepEqual([identity.provider, identity.email], ["google", ada]);
  await $auth.unlinkIdentity(identity.id);
  assert.deepEqual(await $auth.identities(), []);
  const address = `${baseUrl}/_auth/providers/google`;
  assert.equal($auth.providerAddress("google"), address);
  assert.equal(
    $auth.providerAddress("google", { returnTo: "/a?b=c", link: true }),
    `${address}?return=%2Fa%3Fb%3Dc&link=true`,
  );
  assert.throws(() => $auth.signInWith("google"), /Use a password or a code/);
  let went = "";
  Object.assign(globalThis, { location: { assign: (to: string) => (went = to) } });
  t.after(() => Reflect.deleteProperty(globalThis, "location"));
  createClient({ baseUrl, auth: { cookie: true } }).$auth.signInWith("google", { returnTo: "/a" });
  assert.equal(went, `${address}?return=%2Fa`);
});

/** The error of a sign-in that needs the second factor. */
async function secondFactorOf(signIn: Promise<SignedIn>): Promise<SecondFactorError<SignedIn>> {
  const error = await signIn.then(
    () => assert.fail("the sign-in needs no second factor"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof SecondFactorError);
  return error;
}

test("a user sets up an app, and a sign-in then needs its code or a recovery code", async (t) => {
  const { people, advance } = await startPeopleWithClock(t);
  const { user: joined } = await people.join(ada);
  const { client, store } = clientOf(people);
  const { $auth } = client;
  await $auth.signIn({ email: ada, password: goodPassword });
  const app = await $auth.factors.addApp();
  assert.match(app.uri, /^otpauth:/);
  const start = machineTime();
  const { factor, recoveryCodes = [] } = await app.finish(codeAt(app.secret, start), { name: "phone" });
  assert.equal(factor.name, "phone");
  await $auth.signOut();
  const needed = await secondFactorOf($auth.signIn({ email: ada, password: goodPassword }));
  assert.deepEqual(needed.factors, ["totp", "recoveryCode"]);
  assert.equal(store.kept.text, undefined);
  await assert.rejects(needed.prove({ totp: "abcdef" }), (error) => {
    assert.ok(error instanceof ProblemError);
    return error.code === "SIGN_IN_FAILED";
  });
  advance(30_000);
  const { user } = await needed.prove({ totp: codeAt(app.secret, start + 30_000) });
  assert.equal(user.id, joined.id);
  assert.match(store.kept.text ?? "", /^hfs_/);
  const again = await secondFactorOf($auth.confirm({ password: goodPassword }));
  await again.prove({ recoveryCode: recoveryCodes[0] as string });
  assert.equal((await $auth.factors.list()).recoveryCodes, 9);
  assert.equal((await $auth.factors.renewRecoveryCodes()).length, 10);
  await $auth.factors.remove(factor.id);
  assert.deepEqual((await $auth.factors.list()).factors, []);
  await $auth.signIn({ email: ada, password: goodPassword });
});

test("without a browser, passkeys say what they need", async (t) => {
  const people = await startPeople(t, { users: { methods: ["password", "passkey"] } });
  const { client } = clientOf(people);
  await assert.rejects(client.$auth.signInWithPasskey(), (error) => {
    assert.ok(error instanceof HoldfastError);
    return /need a browser/.test(error.message);
  });
});
