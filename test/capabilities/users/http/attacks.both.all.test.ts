/** What somebody hostile tries at the sign-in, and what must not come of it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { claimsAt, createPair, settingsFor, tokenOf } from "../../../access/issuer.ts";
import { makeFolder } from "../../../folder.ts";
import { follow } from "../../../http/follow.ts";
import { readExposition } from "../../../metrics/exposition.ts";
import { machineTime, until } from "../../../until.ts";
import { holdHashes } from "./hashes.ts";
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
const sameOrigin = { "sec-fetch-site": "same-origin" };

const statusOf = async ({ service }: People, token: string) =>
  (await service.send({ path: "/api/v1/_auth/sessions", headers: bearer(token) })).status;

const ticketFor = async ({ post }: People, path: string, content: object) =>
  bodyOf<{ ticket: string }>(await post(path, content), 202).ticket;

test("in a flood of mails, a new ticket takes the code that was mailed last", async (t) => {
  const people = await startPeople(t);
  await people.join(ada);
  for (let n = 0; n < 5; n++) await ticketFor(people, "code", { email: ada });
  const code = await people.codeFor(ada, 5);
  const mails = people.mails.length;
  const ticket = await ticketFor(people, "code", { email: ada });
  assert.equal(bodyOf<Signed>(await people.post("sign-in", { ticket, code })).user.email, ada);
  assert.equal(people.mails.length, mails);
});

test("in a flood of mails of one kind, the codes of the others stay what they are", async (t) => {
  const people = await startPeople(t);
  await people.join(ada);
  for (let n = 0; n < 6; n++) await ticketFor(people, "code", { email: ada });
  await people.codeFor(ada, 5); // a mail can arrive after the response
  const mails = people.mails.length;
  await ticketFor(people, "reset", { email: ada });
  await until("the mail of the reset", () => people.mails.length > mails);
  const code = await people.codeFor(ada, mails);
  const ticket = await ticketFor(people, "code", { email: ada });
  assert.equal(problemOf(await people.post("sign-in", { ticket, code })), "401 SIGN_IN_FAILED");
  const own = codeShape.exec(people.mails.at(-2)?.text ?? "")?.[0];
  assert.equal(bodyOf<Signed>(await people.post("sign-in", { ticket, code: own })).user.email, ada);
});

test("requests that mail nobody take no mail from the owner of an address", async (t) => {
  const people = await startPeople(t);
  // A code for an address without an account goes to nobody.
  for (let n = 0; n < 6; n++) await ticketFor(people, "code", { email: ada });
  const { token } = await people.join(ada);
  await people.join(bob);
  // Neither does one for a new address, if another account has it.
  for (let n = 0; n < 6; n++) bodyOf(await people.post("email", { email: bob }, bearer(token)), 202);
  const ticket = await ticketFor(people, "code", { email: bob });
  const code = await people.codeFor(bob, 1);
  assert.equal(bodyOf<Signed>(await people.post("sign-in", { ticket, code })).user.email, bob);
});

test("a sign-up for a known address mails to the address that was proven, in its own letters", async (t) => {
  const people = await startPeople(t);
  await people.join(ada);
  const before = people.mails.length;
  await ticketFor(people, "sign-up", { email: "ADA@example.org" });
  await until("a mail", () => people.mails.length > before);
  assert.equal(people.mails.at(-1)?.to, ada);
});

test("in a flood of mails, a code proves the address in the letters to which it was mailed", async (t) => {
  const people = await startPeople(t);
  const other = "ADA@example.org";
  for (let n = 0; n < 5; n++) await ticketFor(people, "sign-up", { email: other, password: goodPassword });
  const code = await people.codeFor(other, 4);
  const ticket = await ticketFor(people, "sign-up", { email: ada, password: goodPassword });
  assert.equal(bodyOf<Signed>(await people.post("sign-in", { ticket, code })).user.email, other);
  assert.ok(people.mails.every(({ to }) => to === other));
});

test("without the method password, no password signs in, confirms, or can be set", async (t) => {
  const people = await startPeople(t, { users: { methods: ["email"] } });
  const ticket = await ticketFor(people, "sign-up", { email: ada });
  const { token } = bodyOf<Signed>(await people.post("sign-in", { ticket, code: await people.codeFor(ada) }));
  assert.equal((await people.post("password", { password: goodPassword }, bearer(token))).status, 404);
  assert.equal(
    problemOf(await people.post("sign-up", { email: bob, password: goodPassword })),
    "400 INVALID_PARAMETER",
  );
  const wrong = { email: ada, password: goodPassword };
  assert.equal(problemOf(await people.post("sign-in", wrong)), "401 SIGN_IN_FAILED");
  const again = await people.post("confirm", { password: goodPassword }, bearer(token));
  assert.equal(problemOf(again), "401 SIGN_IN_FAILED");
});

test("a cookie with any text is no caller", async (t) => {
  const people = await startPeople(t);
  const { token } = await people.join(ada);
  const texts = [
    `hfs_%00${token.slice(5)}`,
    `hfs_%ff${token.slice(5)}`,
    `${token.slice(0, -1)}${encodeURIComponent(String.fromCodePoint(0x100 + (token.codePointAt(token.length - 1) ?? 0)))}`,
    `hfk_${token.slice(4)}`,
    "%00".repeat(80),
  ];
  await statusOf(people, token);
  for (const text of texts) {
    const headers = { cookie: `holdfast-${people.service.port}=${text}`, ...sameOrigin };
    const answer = await people.service.send({ path: "/api/v1/_auth", headers });
    assert.equal("user" in bodyOf<object>(answer), false, text);
  }
});

test("a sign-in ends the session of the caller, also if it was of another user", async (t) => {
  const people = await startPeople(t);
  const [first, other] = [await people.join(ada), await people.join(bob)];
  bodyOf(await people.post("sign-in", { email: ada, password: goodPassword }, bearer(other.token)));
  await until(
    "the session of the other user has ended",
    async () => (await statusOf(people, other.token)) === 401,
  );
  assert.equal(await statusOf(people, first.token), 200);
});

test("a known device stays one device when it signs in by code", async (t) => {
  const people = await startPeople(t);
  const { device = "" } = await people.join(ada);
  const ticket = await ticketFor(people, "code", { email: ada });
  const signed = bodyOf<Signed>(
    await people.post("sign-in", { ticket, code: await people.codeFor(ada, 1), device }),
  );
  assert.equal(signed.device, undefined);
});

test("of two changes of the password in one session, the second finds the session ended", async (t) => {
  const people = await startPeople(t);
  const { token } = await people.join(ada);
  const change = (password: string) => people.post("password", { password }, bearer(token));
  const answers = await Promise.all([
    change("a quite different password"),
    change("another different password"),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status).sort(),
    [200, 401],
    answers.map(({ text }) => text).join(),
  );
});

test("a token of another issuer cannot act as a user, unless the configuration says so", async (t) => {
  const pair = createPair("EdDSA");
  const jwt = settingsFor([pair]);
  const own = async (given: typeof jwt) => {
    const people = await startPeople(t, { auth: { jwt: given } });
    const { user } = await people.join(ada);
    const write = (sub: string) =>
      people.service.send({
        method: "POST",
        path: "/api/v1/articles",
        content: { authorId: user.id },
        headers: bearer(tokenOf(pair, claimsAt(machineTime(), { sub }))),
      });
    return [await write(user.id), await write(user.id), await write("kim")].map(
      ({ status, json }) => `${status} ${(json as { code?: string }).code}`,
    );
  };
  assert.deepEqual(await own(jwt), ["401 INVALID_TOKEN", "401 INVALID_TOKEN", "403 INSUFFICIENT_SCOPE"]);
  assert.deepEqual(await own({ ...jwt, actAsUsers: true }), [
    "201 undefined",
    "201 undefined",
    "403 INSUFFICIENT_SCOPE",
  ]);
});

test("a stream of events follows the cookie, and ends with the session", async (t) => {
  let elapsed = 0;
  const people = await startPeople(t, {
    elapsed: () => elapsed,
    heartbeatMs: 600_000,
    collections: {
      users: { access: { read: "public" } },
      notes: { access: { read: "authenticated", write: "public" } },
      news: { access: { read: "public", write: "public" } },
    },
  });
  const { service } = people;
  const inCookie = (token: string) => ({ cookie: `holdfast-${service.port}=${token}`, ...sameOrigin });
  for (const name of ["notes", "news"])
    for (const headersOf of [bearer, inCookie]) {
      const { token } = await people.join(`${name}${headersOf.name}@example.org`.toLowerCase());
      const stream = await follow(service, `/api/v1/${name}/_events`, headersOf(token));
      t.after(() => stream.close());
      await until("the first frame has come", () => stream.frames().length > 0);
      elapsed += 1_000; // the credential is checked again
      const request = { method: "POST", path: `/api/v1/${name}`, content: {} };
      assert.equal((await service.send(request)).status, 201);
      await until("the event has come", () => stream.frames().length > 1);
      assert.equal((await people.post("sign-out", {}, bearer(token))).status, 204);
      elapsed += 1_000;
      await until("the stream has ended", () => stream.hasEnded());
    }
});

test("many codes at once for one ticket: the right one signs in once, and all others are SIGN_IN_FAILED", async (t) => {
  const people = await startPeople(t);
  await people.join(ada);
  const ticket = await ticketFor(people, "code", { email: ada });
  const code = await people.codeFor(ada, 1);
  const answers = await Promise.all(
    Array.from({ length: 64 }, () => people.post("sign-in", { ticket, code })),
  );
  const found = answers.map((answer) => (answer.status === 200 ? "200" : problemOf(answer)));
  assert.deepEqual([...new Set(found)].sort(), ["200", "401 SIGN_IN_FAILED"]);
  assert.equal(found.filter((each) => each === "200").length, 1);
  const second = await ticketFor(people, "code", { email: ada });
  const wrong = await Promise.all(
    Array.from({ length: 64 }, () => people.post("sign-in", { ticket: second, code: "AAAA-AAAA" })),
  );
  assert.deepEqual([...new Set(wrong.map(problemOf))], ["401 SIGN_IN_FAILED"]);
});

test("no member of a request gives a role, an address or an id", async (t) => {
  const people = await startPeople(t, {
    collections: { users: { access: { read: "public", write: "authenticated" } } },
  });
  const given = {
    id: "mine",
    roles: ["ops"],
    email: bob,
    claims: { tenant: "a" },
    disabled: true,
    user: "x",
    password: "y",
  };
  const ticket = await ticketFor(people, "sign-up", {
    email: ada,
    profile: { ...given, __proto__: { roles: ["ops"] } },
  });
  const { user, token } = bodyOf<Signed>(
    await people.post("sign-in", { ticket, code: await people.codeFor(ada) }),
  );
  const path = `/api/v1/users/${user.id}`;
  const headers = bearer(token);
  const merge = { ...headers, "content-type": "application/merge-patch+json" };
  const body = JSON.stringify(given)
    .replace("{", '{"__proto__":{"roles":["ops"]},')
    .replace('"id":"mine",', "");
  const written = [
    await people.service.send({ method: "PATCH", path, body, headers: merge }),
    await people.service.send({ method: "PUT", path, content: { ...given, id: user.id }, headers }),
    await people.service.send({
      method: "POST",
      path: "/api/v1/users",
      content: { ...given, id: user.id },
      headers,
    }),
  ];
  for (const { status, text } of written) assert.ok(status < 300 || status === 400, text);
  const own = bodyOf<Signed>(await people.service.send({ path: "/api/v1/_auth", headers }));
  assert.deepEqual(own.user, { id: user.id, email: ada, roles: [], claims: {} });
});

test("the links in mails come from the configuration, whatever the request says", async (t) => {
  const people = await startPeople(t, { trustProxy: ["127.0.0.1"] });
  const headers = {
    "x-forwarded-host": "evil.example.org",
    forwarded: "host=evil.example.org",
    origin: "https://evil.example.org",
  };
  bodyOf(await people.post("sign-up", { email: ada }, headers), 202);
  await people.codeFor(ada);
  const text = JSON.stringify(people.mails);
  assert.ok(text.includes(`http://localhost:${people.service.port}/_sign-in#`), text);
  assert.equal(text.includes("evil"), false);
});

test("passwords and codes of any text are wrong, and nothing else", async (t) => {
  const people = await startPeople(t);
  await people.join(ada);
  const long = "x".repeat(1_024);
  for (const password of [long, `${goodPassword} `, goodPassword.toUpperCase()])
    assert.equal(problemOf(await people.post("sign-in", { email: ada, password })), "401 SIGN_IN_FAILED");
  for (const password of [`${goodPassword}\0`, `\0${goodPassword}`])
    assert.match(problemOf(await people.post("sign-in", { email: ada, password })), /^40[01] /);
  const half = { email: ada, password: `${goodPassword}\ud800` };
  const status = problemOf(await people.post("sign-in", half));
  assert.match(status, /^40[01] /);
  assert.match(problemOf(await people.post("sign-up", { ...half, email: bob })), /^400 /);
  const tooLong = { email: bob, password: "x".repeat(257) };
  assert.equal(problemOf(await people.post("sign-up", tooLong)), "400 PASSWORD_REFUSED");
  for (const [ticket, code] of [
    ["\0", "\0"],
    ["x".repeat(100), "ſſſſ-ſſſſ"],
    ["\ud800", "K7QF-29MX"],
  ])
    assert.match(problemOf(await people.post("sign-in", { ticket, code })), /^40[01] /);
});

test("a known device with ten wrong passwords is no longer known", async (t) => {
  const { post, join } = await startPeople(t);
  const { device } = await join(ada);
  const wrong = { email: ada, password: "not the right password", device };
  for (let n = 0; n < 10; n++) assert.equal(problemOf(await post("sign-in", wrong)), "401 SIGN_IN_FAILED");
  // Now the limit of unknown devices counts, and its tries too.
  for (let n = 0; n < 10; n++) assert.equal(problemOf(await post("sign-in", wrong)), "401 SIGN_IN_FAILED");
  assert.equal(problemOf(await post("sign-in", wrong)), "429 QUOTA_EXCEEDED");
  const right = await post("sign-in", { email: ada, password: goodPassword, device });
  assert.equal(problemOf(right), "429 QUOTA_EXCEEDED");
});

test("the history of a profile names its user as the one who has made it", async (t) => {
  const { service, join } = await startPeople(t, { showPrincipal: true });
  const { user } = await join(ada);
  const changes = await service.send({ path: `/api/v1/users/${user.id}/_changes` });
  assert.deepEqual(
    bodyOf<{ principal: string }[]>(changes).map(({ principal }) => principal),
    [user.id],
  );
});

test("a sign-up that was open when it began makes no account after it was closed", async (t) => {
  const folder = makeFolder();
  const store = { kind: "sqlite", path: join(folder, "store.db") } as const;
  const open = await startPeople(t, { store });
  const asked = await open.post("sign-up", { email: ada, password: goodPassword });
  const { ticket } = bodyOf<{ ticket: string }>(asked, 202);
  const code = await open.codeFor(ada);
  await open.service.stop();
  const closed = await startPeople(t, { store, users: { signUp: "closed" } });
  assert.equal(problemOf(await closed.post("sign-in", { ticket, code })), "401 SIGN_IN_FAILED");
});

test("a right password that was not checked, because too many wait, is no wrong one", async (t) => {
  const people = await startPeople(t);
  await people.join(ada);
  const right = { email: ada, password: goodPassword };
  const hashes = holdHashes(t);
  const refused: string[] = [];
  for (let round = 1; round <= 3; round++) {
    hashes.hold();
    const asked = Array.from({ length: 8 }, async () => {
      const { status, text } = await people.post("sign-in", right);
      if (status !== 200) refused.push(text);
    });
    await until("only four wait", () => refused.length === 4 * round);
    hashes.release();
    await Promise.all(asked);
  }
  assert.equal(refused.length, 12);
  assert.ok(
    refused.every((text) => text.includes("are being checked")),
    String(refused),
  );
  bodyOf(await people.post("sign-in", right));
});

test("the password of a client that has gone is not checked, if it still waits", async (t) => {
  const metrics = { host: "127.0.0.1", port: 0 };
  const { service, post, join } = await startPeople(t, { metrics, trustProxy: ["127.0.0.1"] });
  await join(ada);
  const shownBy = async (name: string) =>
    readExposition(await (await fetch(String(service.metrics))).text()).value(name);
  const held = holdHashes(t);
  const from = (network: number) => ({ "x-forwarded-for": `192.0.2.${network}` });
  const others = Array.from({ length: 12 }, (_, n) =>
    post("sign-in", { email: `${n}@example.org`, password: goodPassword }, from(n + 1)),
  );
  const body = JSON.stringify({ email: ada, password: goodPassword });
  const head = `POST /api/v1/_auth/sign-in HTTP/1.1\r\nHost: ${new URL(service.origin).host}\r\n`;
  const fields = `Content-Type: application/json\r\nX-Forwarded-For: 192.0.2.99\r\n`;
  const five = await Promise.all(Array.from({ length: 5 }, () => service.connect()));
  for (const each of five) each.write(`${head}${fields}Content-Length: ${body.length}\r\n\r\n${body}`);
  // Four of a network can wait, so the refusal of one shows that the four others have arrived. They wait behind those above, whose hashes are held.
  assert.equal((await Promise.any(five.map((each) => each.answer()))).status, 429);
  const waiting = () => shownBy("holdfast_password_waiting");
  await until("all others wait", async () => (await waiting()) === 12 + 4);
  for (const each of five) each.reset();
  await until("those who have gone wait no longer", async () => (await waiting()) === 12);
  held.release();
  bodyOf(await post("sign-in", { email: ada, password: goodPassword }, from(99)));
  await Promise.all(others);
  const hashes = () => shownBy("holdfast_password_hash_seconds_count");
  await until("all hashes are counted", async () => (await hashes()) >= 14);
  assert.equal(await hashes(), 14);
});
