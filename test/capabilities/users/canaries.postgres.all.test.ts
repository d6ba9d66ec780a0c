import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { Agent, type IncomingMessage, type ServerResponse } from "node:http";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { newSecret } from "../../../src/secrets.ts";
import { type RunningService, run, serve, stop } from "../../commands/cli.ts";
import { makeFolder } from "../../folder.ts";
import { follow } from "../../http/follow.ts";
import { type Answer, type Request, sendRequest } from "../../http/service.ts";
import { databaseFor, query } from "../../postgres/databases.ts";
import { startCollector } from "../../traces/collector.ts";
import { machineTime, until } from "../../until.ts";
import { startReceiver } from "../webhooks/http/receiver.ts";
import { Canaries } from "./canaries.ts";
import { codeAt } from "./http/authenticator-app.ts";
import { bearer, bodyOf, codeShape, problemOf, type Signed } from "./http/people.ts";
import { fragmentOf, startOpenId, TestBrowser } from "./http/provider-servers.ts";
import { SoftwarePasskey } from "./http/software-passkey.ts";
import { readable, startMailServer } from "./mail-server.ts";

// In the project, so that the file finds the packages.
const modules = makeFolder({}, "node_modules");

/** The file of the guide that turns traces on. */
async function tracingFile(): Promise<string> {
  const [, code = ""] =
    /```js\n(import threads [\s\S]+?)```/.exec(await readFile("docs/how-to/watch.md", "utf8")) ?? [];
  const path = resolve(modules, "tracing.mjs");
  await writeFile(path, code);
  return path;
}

const password = () => `Password ${randomBytes(16).toString("hex")}`;

const root = "root@example.org";
const ada = "ada@example.org";
const bob = "bob@example.org";
const cleo = "cleo@example.org";
const invitation = /#invitation=([\w-]{43})/;

/** What the provider and the service say to each other. */
function watchProvider(canaries: Canaries, request: IncomingMessage, response: ServerResponse): void {
  const emit = request.emit.bind(request);
  request.emit = (name: string | symbol, ...args: unknown[]) => {
    if (name === "data") canaries.addFromQuery(String(args[0]));
    return emit(name, ...args);
  };
  const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
  response.end = ((...args: unknown[]) => {
    const [body] = args;
    if (request.url === "/token") canaries.addFrom(JSON.parse(String(body)));
    return end(...args);
  }) as typeof response.end;
}

/** A running program, its mails, and all secret texts that it has got or given. */
async function start(t: TestContext, store: string) {
  const canaries = new Canaries();
  const [collector, mailServer, receiver] = await Promise.all([
    startCollector(),
    startMailServer(),
    startReceiver(),
  ]);
  t.after(() => Promise.all([collector.close(), mailServer.close(), receiver.close()]));
  const provider = await startOpenId(t, { name: "work", label: "Work" }, (request, response) => {
    watchProvider(canaries, request, response);
    return false;
  });
  const { issuer, clientId } = provider.settings;
  const cwd = makeFolder({
    "holdfast.config.json": JSON.stringify({
      store,
      collections: {
        users: { id: "uuid", access: { read: "public", delete: { where: { id: "$subject" } } } },
        articles: {
          references: { authorId: "users" },
          access: { read: "public", write: { where: { authorId: "$subject" } } },
        },
      },
      auth: {
        keys: true,
        keyRoles: ["member"],
        administrators: { role: "ops" },
        users: {
          collection: "users",
          signUp: "open",
          methods: ["password", "email", "passkey", "providers"],
          providers: { work: { issuer, clientId, name: "Work", trustEmail: true } },
          roles: ["ops", "member"],
        },
      },
      mail: { from: "noreply@shop.example", smtp: `smtp://shop@127.0.0.1:${mailServer.port}` },
      webhooks: { allow: ["127.0.0.0/8"] },
    }),
  });
  const env = {
    HOLDFAST_SECRET: newSecret(),
    HOLDFAST_SMTP_PASSWORD: password(),
    HOLDFAST_PROVIDER_WORK_SECRET: `secret of work`,
    HOLDFAST_LOG: "requests",
    HOLDFAST_METRICS: "administrators",
    NODE_OPTIONS: `--import=${await tracingFile()}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: new URL(collector.url).origin,
  };
  for (const name of ["HOLDFAST_SECRET", "HOLDFAST_SMTP_PASSWORD", "HOLDFAST_PROVIDER_WORK_SECRET"] as const)
    canaries.add(name, env[name]);
  const command = (...args: string[]) => run(t, args, { cwd, env: { ...env, NODE_OPTIONS: "" } });
  const invited = await command("users", "invite", root, "--role", "ops");
  const [, link = ""] = invitation.exec(invited.stdout) ?? assert.fail(invited.stderr);
  const service: RunningService = await serve(t, [], { cwd, env });
  const port = Number(new URL(service.origin).port);
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const errors: string[] = [];

  const send = async (request: Request): Promise<Answer> => {
    canaries.addFrom(request.content);
    canaries.addFromQuery(request.path.split("?")[1] ?? "");
    const answer = await sendRequest(port, agent, request);
    for (const [n, name] of answer.rawHeaders.entries()) {
      const value = answer.rawHeaders[n + 1] ?? "";
      const [, cookie] = /^[^=]+=([^;]{6,})/.exec(value) ?? [];
      if (n % 2 === 0 && name.toLowerCase() === "set-cookie" && cookie !== undefined)
        canaries.add("cookie", cookie);
    }
    const { location } = answer.headers;
    if (location !== undefined) {
      const { search, hash } = new URL(location, service.origin);
      canaries.addFromQuery(search.slice(1));
      canaries.addFromQuery(hash.slice(1));
    }
    if (answer.status >= 400) errors.push(`${answer.rawHeaders.join("\n")}\n${answer.text}`);
    else if (request.method !== undefined && request.method !== "GET" && answer.text !== "")
      canaries.addFrom(answer.json);
    return answer;
  };

  const mailsTo = (email: string) =>
    mailServer.taken.filter(({ to }) => to.includes(email)).map(({ raw }) => readable(raw));
  /** The code or the token of the next mail to an address, after `before` mails to it. */
  const mailed = async (email: string, before = 0, shape = codeShape) => {
    await until(`a mail to ${email}`, () => mailsTo(email).length > before);
    const found = shape.exec(mailsTo(email).at(-1)?.split("\r\n\r\n").slice(1).join() ?? "");
    return found?.[1] ?? found?.[0] ?? assert.fail(`${email}: ${mailsTo(email).at(-1)}`);
  };
  const post = (path: string, content?: unknown, headers: Record<string, string> = {}) =>
    send({ method: "POST", path: `/api/v1/${path}`, content, headers });
  const get = (path: string, headers: Record<string, string> = {}) => send({ path, headers });
  return {
    ...{ canaries, collector, mailServer, receiver, provider, cwd, command, service, port, errors },
    ...{ send, mailsTo, mailed, post, get, link },
  };
}

type Parts = Awaited<ReturnType<typeof start>>;

/** Ada signs up and in, with everything that can go wrong, and changes her password and her address. */
async function passwordsAndCodes(all: Parts): Promise<{ token: string; password: string }> {
  const { post, mailed, mailsTo } = all;
  const auth = (path: string, content: object, headers = {}) => post(`_auth/${path}`, content, headers);
  assert.equal(
    (await auth("sign-up", { email: ada, password: `zQ${randomBytes(4).toString("base64url").slice(0, 5)}` }))
      .status,
    400,
  );
  const first = { email: ada, password: password() };
  const { ticket } = bodyOf<{ ticket: string }>(
    await auth("sign-up", { ...first, profile: { name: "Ada Harmless" } }),
    202,
  );
  assert.equal(problemOf(await auth("sign-in", { ticket, code: "7QXK-4WZN" })), "401 SIGN_IN_FAILED");
  const signed = bodyOf<Signed>(await auth("sign-in", { ticket, code: await mailed(ada) }));
  const code = bodyOf<{ ticket: string }>(await auth("code", { email: ada }), 202);
  bodyOf(await auth("sign-in", { ticket: code.ticket, code: await mailed(ada, 1), cookie: false }));
  const cookie = { "sec-fetch-site": "same-origin" };
  bodyOf(await auth("sign-in", { ...first, device: signed.device, cookie: true }, cookie));
  const reset = bodyOf<{ ticket: string }>(await auth("reset", { email: ada }), 202);
  const second = { email: ada, password: password() };
  const afterReset = bodyOf<Signed>(
    await auth("password", {
      ticket: reset.ticket,
      code: await mailed(ada, 2),
      password: second.password,
    }),
  );
  const confirmed = bodyOf<Signed>(
    await auth("confirm", { password: second.password }, bearer(afterReset.token)),
  );
  const third = password();
  const changed = bodyOf<Signed>(await auth("password", { password: third }, bearer(confirmed.token)));
  const later = "ada@example.net";
  const asked = bodyOf<{ ticket: string }>(await auth("email", { email: later }, bearer(changed.token)), 202);
  const proof = { ticket: asked.ticket, code: await mailed(later) };
  const moved = bodyOf<Signed>(await auth("email", proof, bearer(changed.token)));
  await until("the notices have come", () => mailsTo(ada).length >= 6);
  return { token: moved.token, password: third };
}

/** Ada sets up an app and a passkey, and signs in with each, and with a recovery code. */
async function factors({ post, port, canaries }: Parts, ada: { token: string; password: string }) {
  const auth = (path: string, content: object, token?: string) =>
    post(`_auth/${path}`, content, token === undefined ? {} : bearer(token));
  const begun = bodyOf<{ ticket: string; secret: string }>(
    await auth("factors", { kind: "totp" }, ada.token),
  );
  const totp = (steps: number) => codeAt(begun.secret, machineTime() + steps * 30_000);
  canaries.add("totp seed", Buffer.from(bytesOf(begun.secret)).toString("latin1"));
  canaries.add("totp seed", Buffer.from(bytesOf(begun.secret)).toString("hex"));
  const set = { ticket: begun.ticket, totp: totp(0), name: "phone" };
  const { recoveryCodes = [] } = bodyOf<{ recoveryCodes?: string[] }>(await auth("factors", set, ada.token));
  const page = new SoftwarePasskey(`http://localhost:${port}`);
  type Asked = { ticket: string; options: { challenge: string } };
  const made = bodyOf<Asked>(await auth("factors", { kind: "passkey" }, ada.token));
  const passkey = page.create(made.options);
  bodyOf(await auth("factors", { ticket: made.ticket, passkey, name: "laptop" }, ada.token));
  const step = async () => {
    const email = "ada@example.net";
    const answer = await auth("sign-in", { email, password: ada.password });
    return bodyOf<{ ticket: string }>(answer).ticket;
  };
  const ticket = await step();
  assert.equal(problemOf(await auth("second-factor", { ticket, totp: "918273" })), "401 SIGN_IN_FAILED");
  bodyOf(await auth("second-factor", { ticket, totp: totp(1) }));
  bodyOf(await auth("second-factor", { ticket: await step(), recoveryCode: recoveryCodes[0] }));
  const asked = bodyOf<Asked>(await auth("passkey", {}));
  const signed = bodyOf<Signed>(
    await auth("sign-in", { ticket: asked.ticket, passkey: page.get(asked.options) }),
  );
  bodyOf(await auth("recovery-codes", {}, signed.token));
  const expiresAt = new Date(machineTime() + 86_400_000).toISOString();
  const key = bodyOf<Signed>(await auth("sessions", { name: "backup", expiresAt }, signed.token), 201);
  const content = { authorId: signed.user.id, title: "Written by a key" };
  const replayed = { ...bearer(key.token), "idempotency-key": `"${randomUUID()}"` };
  for (let n = 0; n < 2; n++) bodyOf(await post("articles", content, replayed), 201);
  return signed;
}

function bytesOf(base32: string): number[] {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...base32].map((letter) => letters.indexOf(letter).toString(2).padStart(5, "0")).join("");
  return (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
}

/** Bob signs up by a provider, and another identity of his is linked. A return that somebody has changed fails. */
async function providers(all: Parts) {
  const browser = new TestBrowser(all);
  all.provider.person = { sub: "bob", email: bob, email_verified: true };
  await browser.signIn("work");
  assert.equal((await browser.user())?.email, bob);
  all.provider.person = { sub: "bob2", email: "bob2@example.org", email_verified: true };
  const { link: ticket } = fragmentOf(await browser.signIn("work", "?link=true&return=/x"));
  bodyOf(await browser.send("/api/v1/_auth/identities", { content: { ticket } }));
  const back = new URL(await browser.visit("work", "?link=true"));
  back.searchParams.set("state", "wrong state");
  await browser.comeBack(back.href);
}

/** The administrator invites Cleo, and does everything that administrators can do with accounts, keys and webhooks. */
async function administration(all: Parts, token: string, subject: string) {
  const { post, mailed, mailsTo, send, receiver } = all;
  const as = (path: string, content?: unknown, headers = {}) =>
    post(path, content, { ...bearer(token), ...headers });
  bodyOf(await as("_invitations", { email: cleo, roles: ["member"] }), 201);
  const invited = { email: cleo, password: password(), invitation: await mailed(cleo, 0, invitation) };
  const { ticket } = bodyOf<{ ticket: string }>(await post("_auth/sign-up", invited), 202);
  const signed = bodyOf<Signed>(await post("_auth/sign-in", { ticket, code: await mailed(cleo, 1) }));
  const account = `_accounts/${signed.user.id}`;
  for (const path of ["_sign-out", "_reset-factors", "_reset"])
    assert.equal((await as(`${account}/${path}`)).status, 204, path);
  await until("a notice", () => mailsTo(cleo).length > 2);
  const changed = { method: "PATCH", path: `/api/v1/${account}`, content: { disabled: true } };
  bodyOf(
    await send({
      ...changed,
      headers: { ...bearer(token), "content-type": "application/merge-patch+json" },
    }),
  );
  const retry = { "idempotency-key": `"${randomUUID()}"` };
  const key = bodyOf<{ prefix: string }>(
    await as("_keys", { name: "importer", roles: ["member"] }, retry),
    201,
  );
  await as("_keys", { name: "importer", roles: ["member"] }, retry);
  bodyOf(await as(`_keys/${key.prefix}/_rotate`, { overlapSeconds: 60 }), 201);
  const hook = { url: receiver.url, collections: ["articles"], roles: [] };
  const sent = { "idempotency-key": `"${randomUUID()}"` };
  const webhook = bodyOf<{ id: string }>(await as("_webhooks", hook, sent), 201);
  await as("_webhooks", hook, sent);
  bodyOf(await as(`_webhooks/${webhook.id}/_rotate`));
  bodyOf(await as(`_webhooks/${webhook.id}/_test`));
  const given = `whsec_${randomBytes(32).toString("base64")}`;
  bodyOf(await as("_webhooks", { ...hook, secret: given }), 201);
  bodyOf(await as("articles", { authorId: subject, title: "Delivered" }), 201);
  await until("a delivery", () => receiver.received.some(({ body }) => body.includes("Delivered")));
}

/** Requests that fail with a secret in them, in each place. */
async function failures({ send, get, canaries, service }: Parts, token: string) {
  const secret = password();
  canaries.add("typed password", secret);
  const path = "/api/v1/_auth/sign-in";
  const type = (name: string) => ({ "content-type": name });
  const bodies: [string, Record<string, string>][] = [
    [`{"email":"${ada}","password":"${secret}"`, type("application/json")],
    [`{"email":"${ada}","password":"${secret}",}`, type("application/json")],
    [`{"email":"${ada}","password":["${secret}"]}`, type("application/json")],
    [`{"email":"${ada}","secret":"${secret}","password":"${secret}"}`, type("application/json")],
    [`["${secret}"]`, type("application/json")],
    [`"${secret}"`, type("application/json")],
    [`email=ada&password=${encodeURIComponent(secret)}`, type("application/x-www-form-urlencoded")],
    [`{"email":"${secret}","password":"${secret}"}`, type("application/json")],
    [`{"ticket":"${secret}","code":"${secret}"}`, type("application/json")],
    [`{"email":"${ada}","password":"${secret}${"x".repeat(2_000)}"}`, type("application/json")],
    [`{"email":"${ada}","password":"${secret}\\ud800"}`, type("application/json")],
  ];
  for (const [body, headers] of bodies)
    assert.ok((await send({ method: "POST", path, body, headers })).status >= 400, body);
  for (let n = 0; n < 12; n++)
    await send({ method: "POST", path, content: { email: bob, password: password() } });
  const wrong = `${token.slice(0, -4)}AAAA`;
  canaries.add("wrong token", wrong);
  for (const authorization of [
    `Bearer ${wrong}`,
    `Basic ${Buffer.from(`ada:${secret}`).toString("base64")}`,
    `Bearer ${encodeURIComponent(secret)}`,
    secret,
  ])
    await get("/api/v1/articles", { authorization });
  const cookie = { cookie: `holdfast-${new URL(service.origin).port}=${token}` };
  const content = { password: secret };
  await send({ method: "POST", path, content, headers: { ...cookie, "sec-fetch-site": "cross-site" } });
  await get(`${path}/callback?code=${encodeURIComponent(secret)}`);
  await get(`/api/v1/_auth?token=${token}`);
  await get(`/api/v1/articles?access_token=${token}`);
}

/** Everything that somebody can read afterwards, by its place. */
async function readAll({ get, service }: Parts, token: string, user: string) {
  const own = bearer(token);
  const text = async (path: string, headers = {}) => {
    const answer = await get(path, { ...own, ...headers });
    assert.equal(answer.status, 200, `${path} ${answer.text}`);
    return answer.text;
  };
  const places: Record<string, string> = {};
  for (const path of [
    ..."_accounts _invitations _audit?limit=1000 _configuration _keys _webhooks _auth/sessions _auth/factors".split(
      " ",
    ),
    ..."_auth/identities _auth _events articles/_events articles users".split(" "),
    `users/${user}/_changes`,
    `_accounts/${user}/_sessions`,
  ])
    places[path] = await text(`/api/v1/${path}`);
  for (const { id } of (JSON.parse(places._webhooks ?? "") as { id: string }[]).values())
    for (const more of ["", "/_status", "/_deliveries"])
      places[`_webhooks${more}`] += await text(`/api/v1/_webhooks/${id}${more}`);
  for (const path of ["/metrics", "/openapi.json", "/_sign-in", "/"])
    places[path] = await (
      await fetch(`${service.origin}${path}`, { headers: { ...own, accept: "*/*" } })
    ).text();
  return places;
}

/** All that the store and the backup have on disk or in tables. */
async function storedIn(cwd: string, store: string): Promise<Record<string, string>> {
  const places: Record<string, string> = {};
  for (const name of await readdir(cwd))
    if (name !== "holdfast.config.json") places[name] = await readFile(join(cwd, name), "latin1");
  if (!store.startsWith("postgres")) return places;
  const { rows } = await query(
    store,
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
  );
  for (const { name } of rows as { name: string }[])
    places[name] = (await query(store, `select t::text as row from ${name} t`)).rows
      .map(({ row }) => row)
      .join("\n");
  return places;
}

for (const kind of ["SQLite", "PostgreSQL"] as const)
  test(`no secret text of a sign-in gets into a log, metric, span, feed, list or file on ${kind}`, async (t) => {
    const store = kind === "SQLite" ? "sqlite:shop.db" : await databaseFor(t);
    const all = await start(t, store);
    const { canaries, service, mailsTo, mailServer, errors, collector, cwd, command, port, post } = all;
    const { ticket } = bodyOf<{ ticket: string }>(
      await post("_auth/sign-up", { email: root, password: password(), invitation: all.link }),
      202,
    );
    const code = await all.mailed(root);
    const administrator = bodyOf<Signed>(await post("_auth/sign-in", { ticket, code }));
    const stream = await follow({ port }, "/api/v1/_events", bearer(administrator.token));
    t.after(() => stream.close());

    const signed = await factors(all, await passwordsAndCodes(all));
    await providers(all);
    await administration(all, administrator.token, administrator.user.id);
    await failures(all, signed.token);
    for (const { raw } of mailServer.taken) {
      const mail = readable(raw).split("\r\n\r\n").slice(1).join("\n");
      for (const [each] of mail.matchAll(new RegExp(`${codeShape.source}|http:[^\\s"<]+#[^\\s"<]+`, "g")))
        canaries.add("mailed", each);
    }
    const kinds = canaries.kinds();
    for (const [name, least] of Object.entries({
      ...{ password: 15, code: 4, ticket: 10, token: 10, device: 5, cookie: 3, totp: 3, secret: 4, key: 2 },
      ...{ recoveryCodes: 15, invitation: 2, challenge: 2, signature: 1, mailed: 12, "totp seed": 2 },
      ...{ client_secret: 1, access_token: 2, id_token: 2, code_verifier: 2, state: 3, nonce: 3 },
    }))
      assert.ok((kinds[name] ?? 0) >= least, `${name}: ${JSON.stringify(kinds)}`);

    const beforeStop = await storedIn(cwd, store);
    const places: Record<string, string> = {
      ...(await readAll(all, administrator.token, administrator.user.id)),
      errors: errors.join("\n"),
      feed: stream.text(),
    };
    const runCommand = async (args: string) => {
      const { stdout, stderr, exitCode } = await command(...args.split(" "));
      assert.equal(exitCode, 0, `${args}: ${stderr}`);
      places[args] = stdout + stderr;
    };
    for (const args of ["backup copy.db", "check"]) await runCommand(args);
    const { stdout, stderr } = await stop(service);
    for (const args of ["users list", "keys list", "export users"]) await runCommand(args);
    places.log = stderr;
    places.output = stdout;
    places.spans = JSON.stringify(collector.spans);
    const stored = await storedIn(cwd, store);
    for (const [name, text] of Object.entries({ ...places, ...stored }))
      assert.deepEqual(canaries.foundIn(text), [], name);
    for (const [name, text] of Object.entries(beforeStop))
      assert.deepEqual(canaries.foundIn(text), [], `${name}, while the service runs`);

    // It has looked into what it says.
    const everything = Object.values({ ...beforeStop }).join("");
    assert.ok(everything.includes("Ada Harmless") && everything.includes(ada), Object.keys(stored).join());
    assert.ok(stored["copy.db"]?.includes("Ada Harmless"));
    assert.match(places.log, /"path":"\/api\/v1\/_auth\/sign-in"/);
    assert.match(places.spans, /_auth\/sign-in/);
    assert.match(places.feed ?? "", /Ada Harmless/);
    assert.match(places["/metrics"] ?? "", /holdfast_sign_ins_total\{/);
    assert.match(places["_audit?limit=1000"] ?? "", /"factorAdded"/);
    assert.ok(mailsTo(ada).length >= 6);
  });
