/** People who sign in to a service inside an application of Fastify, on the machine of its developer. */
import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import type { HookCaller } from "../../src/index.ts";
import { audience, claimsAt, createPair, issuer, tokenOf } from "../access/issuer.ts";
import { machineTime, until } from "../until.ts";
import { type EmbeddedUsers, json, post, startWithUsers, usersConfig } from "./embedded.ts";

const ada = { email: "ada@example.org", password: "correct horse battery" };

/** Signs up. Returns the token of the session, the id of the user, and the link in the mail. */
async function signUp({ origin, mails }: EmbeddedUsers, base = "/api/v1") {
  const asked = await post(`${origin}${base}/_auth/sign-up`, ada);
  assert.equal(asked.status, 202, await asked.clone().text());
  const { ticket } = (await asked.json()) as { ticket: string };
  await until("the mail is there", async () => (await mails()).length === 1);
  const [mail = ""] = await mails();
  const [code] = /\b[A-Z0-9]{4}-[A-Z0-9]{4}\b/.exec(mail) ?? [];
  const signedIn = await post(`${origin}${base}/_auth/sign-in`, { ticket, code });
  const { token, user } = (await signedIn.json()) as { token: string; user: { id: string } };
  return { token, id: user.id, link: /http:\S+/.exec(mail)?.[0] ?? "" };
}

test("an application on this machine needs no address, mail server and secret, and its hooks know the caller", async (t) => {
  const started = await startWithUsers(t);
  const { origin, port, hook, logged } = started;
  const { token, id, link } = await signUp(started);
  assert.ok(link.startsWith(`http://localhost:${port}/api/v1/_sign-in#code=`), link);
  assert.ok(logged.some((line) => line.includes("mail: each mail is a file in")));
  assert.ok(!logged.join("").includes(link), "the log has no code");
  const seen: [string, HookCaller | undefined][] = [];
  hook.run = (...call) => void seen.push(call);
  const notes = `${origin}/api/v1/notes`;
  const authorization = `Bearer ${token}`;
  const created = await post(notes, {}, { ...json, authorization });
  assert.equal(created.status, 201);
  await fetch(notes);
  assert.equal((await post(notes, {}, { ...json, authorization: "Bearer hfs_wrong" })).status, 401);
  const caller = { subject: id, roles: [], claims: {}, scopes: undefined };
  assert.deepEqual(seen, [
    ["POST /api/v1/notes", caller],
    ["GET /api/v1/notes", undefined],
    ["POST /api/v1/notes", undefined],
  ]);
});

test("what a hook changes in its caller changes no right", async (t) => {
  const pair = createPair("EdDSA");
  const started = await startWithUsers(t, {
    collections: { ...usersConfig.collections, secrets: { access: { read: { role: "ops" } } } },
    auth: { ...usersConfig.auth, jwt: { issuer, audience, jwks: { keys: [pair.jwk] } } },
  });
  const readWith = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${started.origin}/api/v1/secrets`, { headers })).status;
  };
  const tokenFor = (role: string) => tokenOf(pair, claimsAt(machineTime(), { roles: [role] }));
  assert.equal(await readWith(tokenFor("ops")), 200);
  started.hook.run = (_, caller) => {
    for (const list of [caller?.roles, caller?.claims.roles]) (list as string[]).push("ops");
  };
  const token = tokenFor("reader");
  for (const _ of [1, 2]) assert.equal(await readWith(token), 403); // then the service knows the token
});

for (const [prefix, outer, base] of [
  [undefined, "", "/api/v1"],
  ["/data", "/outer", "/outer/data"],
  ["/", "", ""],
] as const)
  test(`an application has the pages and descriptions below the prefix "${base}", and no console`, async (t) => {
    const started = await startWithUsers(t, prefix === undefined ? {} : { prefix }, undefined, outer);
    const { origin } = started;
    const get = async (path: string) => {
      const response = await fetch(`${origin}${path}`, { headers: { accept: "text/html,*/*" } });
      return { status: response.status, text: await response.text(), link: response.headers.get("link") };
    };
    const signIn = await get(`${base}/_sign-in?return=/`);
    assert.equal(signIn.status, 200);
    assert.match(signIn.text, /<meta name="holdfast-prefix" content="">/);
    const files = [...signIn.text.matchAll(/(?:src|href)="\.\/(_console\/[^"]+)"/g)].map(
      ([, file = ""]) => file,
    );
    assert.ok(files.length >= 2);
    for (const file of files) assert.equal((await get(`${base}/${file}`)).status, 200, file);
    assert.match((await get(`${base}/docs`)).text, /<script src="docs\/start\.js"/);
    const script = (await get(`${base}/docs/start.js`)).text;
    const [, up = ""] = /new URL\("([^"]+)", location\.href\)/.exec(script) ?? [];
    assert.equal(
      new URL(up, `${origin}${base}/docs`).href,
      `${origin}/`,
      "paths in the document have the prefix",
    );
    for (const name of ["openapi.json", "openapi-3.2.json"]) {
      const { paths } = JSON.parse((await get(`${base}/${name}`)).text) as { paths: Record<string, object> };
      const shown = Object.keys(paths).filter((path) => !/_|notes|users/.test(path));
      assert.deepEqual(shown, [base || "/", `${base}/openapi.json`, `${base}/openapi-3.2.json`]);
    }
    const { link } = await get(base || "/");
    assert.equal(link, `<${base}/openapi.json>; rel="service-desc"`);
    for (const path of ["livez", "problems/validation-failed", "asyncapi.json", "_console/first-key"])
      assert.equal((await get(`${base}/${path}`)).status, 404, path);
    if (base !== "")
      for (const path of ["_sign-in", "docs"]) assert.equal((await get(`/${path}`)).status, 404, path);
    assert.ok((await signUp(started, base)).link.includes(`${base}/_sign-in#code=`));
  });

test("without docs, an application has no description, and then a collection can have the name", async (t) => {
  const collections = { ...usersConfig.collections, docs: { access: { read: "public" } } } as const;
  await assert.rejects(
    startWithUsers(t, { collections }),
    /docs: the page for trying requests would have the path \/api\/v1\/docs of the collection "docs"/,
  );
  const { origin } = await startWithUsers(t, { collections, docs: false });
  assert.deepEqual(await (await fetch(`${origin}/api/v1/docs`)).json(), []);
  assert.equal((await fetch(`${origin}/api/v1/openapi.json`)).status, 404);
});

const others = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
const reachable = others.find(({ internal, family }) => !internal && family === "IPv4")?.address;
const skip = reachable === undefined && "it needs a network interface";

test("an application that others can reach serves users only at loopback addresses and names", {
  skip,
}, async (t) => {
  const { port, logged } = await startWithUsers(t, {}, "0.0.0.0");
  assert.ok(logged.some((line) => line.includes("auth.users: others can reach 0.0.0.0. Without publicUrl,")));
  const list = `/api/v1/notes`;
  assert.equal((await fetch(`http://127.0.0.1:${port}${list}`)).status, 200);
  const headers = { host: "localhost" };
  const refused = await fetch(`http://${reachable}:${port}${list}`, { headers });
  assert.deepEqual([refused.status, ((await refused.json()) as { code: string }).code], [421, "MISDIRECTED"]);
  const given = await startWithUsers(
    t,
    {
      publicUrl: "https://shop.example",
      auth: {
        ...usersConfig.auth,
        users: { collection: "users", methods: ["providers"], providers: { google: { clientId: "a" } } },
      },
    },
    "0.0.0.0",
  ).catch((error: Error) => error.message);
  assert.match(String(given), /HOLDFAST_SECRET is missing/, "the service is for others");
});
