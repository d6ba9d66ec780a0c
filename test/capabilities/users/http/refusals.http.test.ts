/**
 * What every endpoint of users refuses in the same way: an unknown parameter, a wrong token, a body of another kind. The OpenAPI
 * document says which of these a path can give, so a new path is tested without a line here.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFolder } from "../../../folder.ts";
import { openTestStore } from "../../../http/test-store.ts";
import { bearer, bodyOf, goodPassword, type People, problemOf, startPeople } from "./people.ts";

const email = "ada@example.org";
const unknownId = "00000000-0000-4000-8000-000000000000";

/** The settings with which every endpoint exists, and an administrator can be made. */
const options = {
  users: {
    methods: ["password", "email", "passkey", "providers"],
    providers: [
      { name: "work", label: "Work", issuer: "http://127.0.0.1:1", clientId: "shop", trustEmail: false },
    ],
    signUp: { domains: ["example.org"], roles: ["ops"] },
    roles: ["ops"],
  },
  limits: { bodyBytes: 2_000 },
} as const;

type Sent = Parameters<People["service"]["send"]>[0];

/** A request for each status that is not about the endpoint itself. */
const refused: Readonly<Record<number, (request: Sent) => Sent>> = {
  400: (request) => ({ ...request, path: `${request.path}?colour=red` }),
  401: (request) => ({ ...request, headers: bearer("hfs_wrong") }),
  // Strangers see no administrative path, and nothing has the names in the other paths.
  404: (request) =>
    request.path.includes("_auth")
      ? { ...request, path: request.path.replace("/work", "/other") }
      : { ...request, headers: {} },
  406: (request) => ({ ...request, headers: { ...request.headers, accept: "image/png" } }),
  413: (request) => ({ ...request, content: { email: "x".repeat(3_000) } }),
  415: ({ content: _, ...request }) => ({
    ...request,
    headers: { ...request.headers, "content-type": "text/plain" },
    body: "ada",
  }),
};

interface Described {
  paths: Record<string, Record<string, { requestBody?: object; responses: Record<string, unknown> }>>;
}

/** Each method of each path of users, with the statuses that the document has for it. */
async function described({ service }: People) {
  const { paths } = bodyOf<Described>(await service.send({ path: "/openapi.json" }));
  return Object.entries(paths)
    .filter(([path]) => /^\/api\/v1\/_(?:auth|accounts|invitations|audit|mails)\b/.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { requestBody, responses }]) => ({
        content: requestBody && {},
        method: method.toUpperCase(),
        path: path.replace("{name}", "work").replaceAll(/\{\w+\}/g, unknownId),
        statuses: Object.keys(responses).map(Number),
      })),
    );
}

test("every endpoint of users refuses what it does not understand, and changes nothing", async (t) => {
  const people = await startPeople(t, options);
  const { token } = await people.join(email);
  const all = await described(people);
  assert.ok(all.length > 20, `${all.length} endpoints`);
  for (const { method, path, content, statuses } of all)
    for (const [status, refuse] of Object.entries(refused)) {
      if (!statuses.includes(Number(status))) continue;
      const request = { method, path, headers: bearer(token), ...(content && { content }) };
      const answer = await people.service.send(refuse(request));
      assert.equal(answer.status, Number(status), `${method} ${path}: ${answer.text}`);
    }
  const { user } = bodyOf<{ user?: object }>(
    await people.service.send({ path: "/api/v1/_auth", headers: bearer(token) }),
  );
  assert.ok(user !== undefined, "the session has not ended");
});

test("a page of another site cannot make a browser use an endpoint of users", async (t) => {
  const people = await startPeople(t, options);
  await people.join(email);
  const own = { "sec-fetch-site": "same-origin" };
  const signedIn = await people.post("sign-in", { email, password: goodPassword, cookie: true }, own);
  const cookie = signedIn.rawHeaders
    .filter((_, n) => signedIn.rawHeaders[n - 1]?.toLowerCase() === "set-cookie")
    .map((value) => value.split(";", 1)[0])
    .join("; ");
  const headers = { cookie, "sec-fetch-site": "cross-site" };
  for (const { method, path, content, statuses } of await described(people)) {
    if (method === "GET" || !statuses.includes(403)) continue; // a read has no caller then
    const answer = await people.service.send({ method, path, headers, ...(content && { content }) });
    assert.equal(problemOf(answer), "403 CROSS_SITE", `${method} ${path}`);
  }
});

test("a read-only service signs nobody in, and its sessions go on", async (t) => {
  const folder = makeFolder();
  const { address: store, release } = await openTestStore(folder);
  const before = await startPeople(t, { ...options, store });
  const { token } = await before.join(email);
  await before.service.stop();
  const people = await startPeople(t, { ...options, store, readOnly: true });
  t.after(release);
  for (const { method, path, content } of await described(people)) {
    if (method === "GET") continue;
    const headers = bearer(token);
    const answer = await people.service.send(
      { method, path, headers, ...(content && { content }) },
      { mayFail: true },
    );
    assert.equal(problemOf(answer), "503 UNAVAILABLE", `${method} ${path}`);
  }
  assert.equal(
    (await people.service.send({ path: "/api/v1/_auth/sessions", headers: bearer(token) })).status,
    200,
  );
});

test("mails, wrong passwords and waiting passwords of one network have limits at every endpoint", async (t) => {
  const people = await startPeople(t);
  const { token } = await people.join(email);
  const problems = async (path: string, content: object, times: number) => {
    const send = () => people.post(path, content, bearer(token));
    const answers = await Promise.all(Array.from({ length: times }, send));
    return answers.filter(({ status }) => status >= 400).map(problemOf);
  };
  const ofMails = await problems("code", { email }, 25);
  assert.ok(ofMails.length >= 5 && ofMails.every((each) => each === "429 QUOTA_EXCEEDED"), String(ofMails));
  for (const [path, content] of [
    ["reset", { email }],
    ["sign-up", { email: "bob@example.org", password: goodPassword }],
    ["email", { email: "bob@example.org" }],
  ] as const)
    assert.deepEqual(await problems(path, content, 1), ["429 QUOTA_EXCEEDED"], path);
  const waiting = await problems("password", { password: "another correct horse" }, 100);
  assert.ok(waiting.includes("429 QUOTA_EXCEEDED"), String(waiting));
});

test("wrong passwords of a confirmation count as those of a sign-in", async (t) => {
  const people = await startPeople(t);
  const { token } = await people.join(email);
  const tries: string[] = [];
  for (let n = 0; n < 11; n++)
    tries.push(problemOf(await people.post("confirm", { password: "a wrong one" }, bearer(token))));
  assert.deepEqual(new Set(tries.slice(0, 10)), new Set(["401 SIGN_IN_FAILED"]));
  assert.equal(tries[10], "429 QUOTA_EXCEEDED");
});

test("a code whose profile another user has made impossible is a conflict, and can be used again", async (t) => {
  const people = await startPeople(t, {
    collections: {
      users: {
        schema: { type: "object", properties: { name: { type: "string", maxLength: 100 } } },
        unique: ["name"],
        access: { read: "public", delete: { where: { id: "$subject" } } },
      },
    },
  });
  const asked = await people.post("sign-up", { email, password: goodPassword, profile: { name: "Ada" } });
  const proof = { ticket: bodyOf<{ ticket: string }>(asked, 202).ticket, code: await people.codeFor(email) };
  const bob = await people.join("bob@example.org", { profile: { name: "Ada" } });
  assert.equal((await people.post("sign-in", proof)).status, 409);
  const profile = { method: "DELETE", path: `/api/v1/users/${bob.user.id}`, headers: bearer(bob.token) };
  assert.equal((await people.service.send(profile)).status, 205);
  assert.equal((await people.post("sign-in", proof)).status, 200);
});

test("a session that must first set up a second factor reads nothing else", async (t) => {
  const people = await startPeople(t, { ...options, users: { ...options.users, secondFactor: "required" } });
  const headers = bearer((await people.join(email)).token);
  for (const { method, path, statuses } of await described(people)) {
    if (method !== "GET" || !statuses.includes(403)) continue;
    // Users set up a factor and sign in here. Their 403 is for keys with scopes, and for other sites.
    if (/_auth\/(?:factors|providers\/work)$/.test(path)) continue;
    const answer = await people.service.send({ path, headers });
    assert.equal(problemOf(answer), "403 SECOND_FACTOR_REQUIRED", path);
  }
});
