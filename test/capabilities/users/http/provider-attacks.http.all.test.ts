/** What somebody hostile tries with providers, and what must not come of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { machineTime, until } from "../../../until.ts";
import { bearer, bodyOf, goodPassword, problemOf, type Signed, startPeople } from "./people.ts";
import { fragmentOf, startGithub, startOpenId, TestBrowser } from "./provider-servers.ts";

const ada = "ada@example.org";
const methods = ["password", "email", "providers"] as const;
const failed = "SIGN_IN_FAILED";

const changed = (address: string, name: string, value: string | undefined) => {
  const url = new URL(address);
  if (value === undefined) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  return url.href;
};

test("a return that was changed signs nobody in", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const { service } = await startPeople(t, { users: { methods, providers: [google.settings] } });
  google.person = { sub: "1", email: ada, email_verified: true };
  const other = new TestBrowser(service);
  const others = await other.visit("google");
  const valueIn = (name: string) => new URL(others).searchParams.get(name) ?? "";
  const attacks: [string, string | undefined][] = [
    ["state", "x".repeat(43)],
    ["state", valueIn("state")],
    ["code", undefined],
    ["code", "x".repeat(43)],
    ["code", valueIn("code")],
    ["iss", undefined],
    ["iss", "https://accounts.google.com"],
    ["error", "access_denied"],
  ];
  for (const [name, value] of attacks) {
    const browser = new TestBrowser(service);
    const back = changed(await browser.visit("google", "?return=/orders"), name, value);
    assert.equal(fragmentOf(await browser.comeBack(back)).error, failed, `${name}: ${value}`);
    assert.equal(await browser.user(), undefined);
  }
  const without = await other.send(changed(others, "state", undefined), { site: "cross-site" });
  assert.equal(problemOf(without), "400 INVALID_PARAMETER");
  const empty = others.replace(/\?.*/, "");
  assert.equal(fragmentOf(await other.comeBack(empty)).error, failed);
  const twice = `${others}&state=${valueIn("state")}`;
  assert.equal(fragmentOf(await other.comeBack(twice)).error, failed);
});

test("a response to another request of the same browser signs nobody in", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const { service } = await startPeople(t, { users: { methods, providers: [google.settings] } });
  google.person = { sub: "1", email: ada, email_verified: true };
  for (const name of ["nonce", "code_challenge"]) {
    const browser = new TestBrowser(service);
    const back = await browser.signInAt(changed(await browser.depart("google"), name, "x".repeat(43)));
    assert.equal(fragmentOf(await browser.comeBack(back)).error, failed, name);
    assert.equal(await browser.user(), undefined);
  }
});

test("a return works once, within ten minutes, and in its own browser only", async (t) => {
  let now = machineTime();
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const { service } = await startPeople(t, {
    now: () => now,
    users: { methods, providers: [google.settings] },
  });
  google.person = { sub: "1", email: ada, email_verified: true };
  const [browser, victim, late] = [
    new TestBrowser(service),
    new TestBrowser(service),
    new TestBrowser(service),
  ];
  const departure = await browser.depart("google");
  const [back, again] = [await browser.signInAt(departure), await browser.signInAt(departure)];
  await victim.visit("google");
  for (const other of [victim, new TestBrowser(service)]) {
    assert.equal(fragmentOf(await other.comeBack(back)).error, failed);
    assert.equal(await other.user(), undefined);
  }
  await browser.comeBack(back);
  assert.equal((await browser.user())?.email, ada);
  const cookies = [...browser.cookies];
  // A reloaded page gets where it went the first time, and no other session.
  for (const each of [back, again]) assert.equal(new URL(await browser.comeBack(each)).pathname, "/");
  assert.deepEqual([...browser.cookies], cookies);
  const old = await late.visit("google");
  now += 601_000;
  assert.equal(fragmentOf(await late.comeBack(old)).error, failed);
});

test("two tabs of a browser can be at providers at once, and no response of one passes as that of the other", async (t) => {
  const [google, work] = [
    await startOpenId(t, { name: "google", trustEmail: true }),
    await startOpenId(t, { name: "office", trustEmail: true }),
  ];
  const providers = [google.settings, work.settings];
  const { service } = await startPeople(t, { users: { methods, providers } });
  google.person = { sub: "1", email: ada, email_verified: true };
  work.person = { sub: "1", email: "bob@example.org", email_verified: true };
  const browser = new TestBrowser(service);
  const mixed = (await browser.visit("google")).replace("/google/callback", "/office/callback");
  assert.equal(fragmentOf(await browser.comeBack(mixed)).error, failed);
  const iss = new URL(await browser.visit("office")).searchParams.get("iss") ?? "";
  const forged = changed(await browser.visit("google"), "iss", iss);
  assert.equal(fragmentOf(await browser.comeBack(forged)).error, failed);
  const [first, second] = [await browser.visit("google"), await browser.visit("office")];
  await browser.comeBack(first);
  assert.equal((await browser.user())?.email, ada);
  await browser.comeBack(second);
  assert.equal((await browser.user())?.email, "bob@example.org", "the same subject at another issuer");
});

test("an ID token whose signature is wrong signs nobody in", async (t) => {
  let isForged = true;
  const google = await startOpenId(t, { name: "google", trustEmail: true }, (request, response) => {
    if (request.url !== "/token") return false;
    const { end } = response;
    response.end = ((text: unknown, ...more: unknown[]) => {
      const body = JSON.parse(String(text)) as { id_token: string };
      const [head, content = "", signature] = body.id_token.split(".");
      const claims = JSON.parse(String(Buffer.from(content, "base64url"))) as object;
      const changes = { sub: "2", email: ada, email_verified: true };
      const forged = Buffer.from(JSON.stringify({ ...claims, ...changes })).toString("base64url");
      const sent = isForged ? { ...body, id_token: `${head}.${forged}.${signature}` } : body;
      response.setHeader("content-length", Buffer.byteLength(JSON.stringify(sent)));
      return Reflect.apply(end, response, [JSON.stringify(sent), ...more]);
    }) as typeof response.end;
    return false;
  });
  const { service } = await startPeople(t, { users: { methods, providers: [google.settings] } });
  google.person = { sub: "1", email: ada, email_verified: true };
  const browser = new TestBrowser(service);
  assert.equal(fragmentOf(await browser.signIn("google")).error, failed);
  isForged = false;
  await browser.signIn("google");
  assert.equal((await browser.user())?.email, ada);
});

test("a link that somebody else prepared does nothing, in whatever session", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const people = await startPeople(t, { users: { methods, providers: [google.settings] } });
  const { token } = await people.join(ada);
  google.person = { sub: "666", email: ada, email_verified: false };
  const attacker = new TestBrowser(people.service);
  const { link: ticket = "" } = fragmentOf(await attacker.signIn("google"));
  const victim = new TestBrowser(people.service);
  await victim.visit("google");
  const content = { email: ada, password: goodPassword, cookie: true };
  bodyOf(await victim.send("/api/v1/_auth/sign-in", { content }));
  const link = await victim.send("/api/v1/_auth/identities", { content: { ticket } });
  assert.equal(problemOf(link), "401 SIGN_IN_FAILED");
  const byProgram = await people.post("identities", { ticket }, bearer(token));
  assert.equal(problemOf(byProgram), "401 SIGN_IN_FAILED");
  const asCode = await victim.send("/api/v1/_auth/sign-in", { content: { ticket, code: "0000-0000" } });
  assert.equal(problemOf(asCode), "401 SIGN_IN_FAILED");
  assert.equal((await attacker.send("/api/v1/_auth/identities", { content: { ticket } })).status, 401);
  assert.deepEqual((await victim.send("/api/v1/_auth/identities")).json, { identities: [] });
});

test("a subject that changes is somebody else, whatever the address", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const { service } = await startPeople(t, { users: { methods, providers: [google.settings] } });
  google.person = { sub: "1", email: ada, email_verified: true };
  await new TestBrowser(service).signIn("google");
  google.person = { sub: "2", email: ada, email_verified: true };
  const other = new TestBrowser(service);
  assert.ok(fragmentOf(await other.signIn("google")).link !== undefined);
  assert.equal(await other.user(), undefined);
});

test("a provider that says another subject at its second address is not believed", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true }, (request, response) => {
    if (request.url !== "/me") return false;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ sub: "2", email: ada, email_verified: true }));
    return true;
  });
  const { service } = await startPeople(t, { users: { methods, providers: [google.settings] } });
  google.person = { sub: "1" };
  const browser = new TestBrowser(service);
  assert.equal(fragmentOf(await browser.signIn("google")).error, failed);
});

test("a disabled account stays closed", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const allowed = { domains: ["example.org"], roles: ["ops"] };
  const people = await startPeople(t, { users: { methods, signUp: allowed, providers: [google.settings] } });
  const { token } = await people.join("boss@example.org");
  google.person = { sub: "1", email: ada, email_verified: true };
  const browser = new TestBrowser(people.service);
  await browser.signIn("google");
  const user = await browser.user();
  const change = { method: "PATCH", path: `/api/v1/_accounts/${user?.id}`, content: { disabled: true } };
  const headers = { ...bearer(token), "content-type": "application/merge-patch+json" };
  bodyOf(await people.service.send({ ...change, headers }));
  assert.equal(fragmentOf(await browser.signIn("google")).error, failed);
  const gone = { method: "DELETE", path: `/api/v1/_accounts/${user?.id}`, headers: bearer(token) };
  assert.equal((await people.service.send(gone)).status, 205);
  await browser.signIn("google");
  const next = await browser.user();
  assert.ok(next !== undefined && next.id !== user?.id, "a new account, not the deleted one");
});

test("a wrong return, and parameters that nobody knows, are refused before anything happens", async (t) => {
  const github = await startGithub(t);
  const { service } = await startPeople(t, {
    users: { methods, providers: [github.settings], origins: ["http://app.localhost:5173"] },
  });
  const browser = new TestBrowser(service);
  const wrong = [
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "javascript:alert(1)",
    "https://evil.example",
  ];
  const queries = [
    ...wrong.map((each) => `return=${encodeURIComponent(each)}`),
    "return=/a&return=/b",
    "link=yes",
    "next=/a",
  ];
  for (const query of queries) {
    const answer = await browser.send(`/api/v1/_auth/providers/github?${query}`);
    assert.equal(problemOf(answer), "400 INVALID_PARAMETER", query);
  }
  assert.equal(browser.cookies.size, 0);
  for (const path of ["nosuch", "nosuch/callback"])
    assert.equal((await browser.send(`/api/v1/_auth/providers/${path}`)).status, 404);
  github.person = { sub: "1", email: ada, email_verified: true };
  assert.equal(
    await browser.signIn("github", "?return=http://app.localhost:5173/a"),
    "http://app.localhost:5173/a",
  );
});

test("a provider that does not answer, or too much, fails the sign-in, and the next one works", async (t) => {
  let answer: "none" | "large" | "usual" = "none";
  const google = await startOpenId(t, { name: "google", trustEmail: true }, (request, response) => {
    if (request.url !== "/token" || answer === "usual") return false;
    if (answer === "none") request.socket.destroy();
    else response.end("x".repeat(2_000_000));
    return true;
  });
  const { service } = await startPeople(t, { users: { methods, providers: [google.settings] } });
  google.person = { sub: "1", email: ada, email_verified: true };
  const browser = new TestBrowser(service);
  for (const each of ["none", "large"] as const) {
    answer = each;
    const to = await browser.signIn("google", "?return=/orders");
    assert.equal(fragmentOf(to).error, "UNAVAILABLE");
    assert.equal(new URL(to).searchParams.get("return"), "/orders");
  }
  answer = "usual";
  await browser.signIn("google");
  assert.equal((await browser.user())?.email, ada);
});

test("a provider that cannot be reached says so on the page, and one network begins sixty sign-ins an hour", async (t) => {
  let isDown = true;
  const google = await startOpenId(t, { name: "google", trustEmail: true }, (request) => {
    if (isDown) request.socket.destroy();
    return isDown;
  });
  const { service } = await startPeople(t, { users: { methods, providers: [google.settings] } });
  const browser = new TestBrowser(service);
  const to = await browser.depart("google", "?return=/a");
  assert.deepEqual(fragmentOf(to), { error: "UNAVAILABLE", provider: "google" });
  isDown = false;
  for (let n = 1; n < 60; n++) assert.match(await browser.depart("google"), /^http:\/\/127\.0\.0\.1/);
  assert.deepEqual(fragmentOf(await browser.depart("google")), {
    error: "QUOTA_EXCEEDED",
    provider: "google",
  });
});

test("the session until now ends, and a page of another site cannot say which that is", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const people = await startPeople(t, { users: { methods, providers: [google.settings] } });
  const statusOf = async ({ token }: Signed) =>
    (await people.service.send({ path: "/api/v1/_auth/sessions", headers: bearer(token) })).status;
  google.person = { sub: "1", email: "new@example.org", email_verified: true };
  const before = await people.join(ada);
  const browser = new TestBrowser(people.service);
  browser.cookies.set(`holdfast-${people.service.port}`, before.token);
  await browser.signIn("google");
  assert.equal((await browser.user())?.email, "new@example.org");
  await until("the session until now has ended", async () => (await statusOf(before)) === 401);
});

test("10.5.3: a provider that names another issuer in its description signs nobody in", async (t) => {
  let issuer: string | undefined = "https://accounts.google.com";
  const work = await startOpenId(t, { trustEmail: true }, (request, response) => {
    if (issuer === undefined || request.url !== "/.well-known/openid-configuration") return false;
    const origin = `http://${request.headers.host}`;
    const described = {
      issuer,
      authorization_endpoint: `${origin}/auth`,
      token_endpoint: `${origin}/token`,
      jwks_uri: `${origin}/jwks`,
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(described));
    return true;
  });
  const { service } = await startPeople(t, { users: { methods, providers: [work.settings] } });
  work.person = { sub: "1", email: ada, email_verified: true };
  const browser = new TestBrowser(service);
  assert.notEqual(fragmentOf(await browser.depart("work")).error, undefined);
  issuer = undefined;
  await new TestBrowser(service).signIn("work");
});

test("10.5.4: an ID token for another client or of another issuer signs nobody in", async (t) => {
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const key = { ...(await exportJWK(publicKey)), kid: "own", alg: "RS256", use: "sig" };
  let nonce = "";
  let claims: { aud?: string; iss?: string } = {};
  const work = await startOpenId(t, { trustEmail: true }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    nonce = searchParams.get("nonce") ?? nonce;
    const json = (body: object) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (pathname === "/jwks") json({ keys: [key] });
    else if (pathname === "/token")
      void new SignJWT({ sub: "1", nonce, email: ada, email_verified: true })
        .setProtectedHeader({ alg: "RS256", kid: "own" })
        .setIssuer(claims.iss ?? work.settings.issuer)
        .setAudience(claims.aud ?? work.settings.clientId)
        .setIssuedAt()
        .setExpirationTime("5m")
        .sign(privateKey)
        .then((token) => json({ access_token: "any", token_type: "Bearer", id_token: token }));
    else return false;
    return true;
  });
  const { service } = await startPeople(t, { users: { methods, providers: [work.settings] } });
  for (const wrong of [{ aud: "client of another" }, { iss: "https://accounts.google.com" }]) {
    claims = wrong;
    const browser = new TestBrowser(service);
    assert.equal(fragmentOf(await browser.signIn("work")).error, failed, JSON.stringify(wrong));
    assert.equal(await browser.user(), undefined);
  }
  claims = {};
  const browser = new TestBrowser(service);
  await browser.signIn("work");
  assert.equal((await browser.user())?.email, ada);
});

test("only pages of the service and of listed origins, and the user, send a browser to a provider", async (t) => {
  const google = await startOpenId(t, { name: "google", trustEmail: true });
  const app = "http://localhost:5173";
  const people = await startPeople(t, { users: { methods, providers: [google.settings], origins: [app] } });
  const browser = new TestBrowser(people.service);
  const from = async (site: string, headers: Record<string, string> = {}) => {
    const sender = new TestBrowser(people.service, () => headers);
    return (await sender.send("/api/v1/_auth/providers/google", { site })).status;
  };
  const refused = await browser.send("/api/v1/_auth/providers/google", { site: "cross-site" });
  assert.equal(problemOf(refused), "403 CROSS_SITE");
  assert.equal(browser.cookies.size, 0);
  assert.equal(await from("same-site", { referer: "http://evil.localhost/page" }), 403);
  assert.equal(await from("other"), 403);
  for (const site of ["same-origin", "none"]) assert.equal(await from(site), 303, site);
  assert.equal(await from("same-site", { referer: `${app}/page` }), 303);
  assert.equal(await from("same-site", { referer: app }), 303);
  assert.equal(await from("same-site"), 403, "any page of the site can leave the header out");
  const old = await people.service.send({
    path: "/api/v1/_auth/providers/google",
    headers: { host: `localhost:${people.service.port}` },
  });
  assert.equal(old.status, 303);
  const alone = await startPeople(t, { users: { methods, providers: [google.settings] } });
  const sibling = await new TestBrowser(alone.service).send("/api/v1/_auth/providers/google", {
    site: "same-site",
  });
  assert.equal(sibling.status, 403);
});
