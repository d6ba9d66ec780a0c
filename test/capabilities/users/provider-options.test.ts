/** The option `auth.users.providers`, and the secrets of providers. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { readFilesOf } from "../../../src/config/derived-settings.ts";
import { type Config, compileConfig, loadConfig, originOf, remakeConfig } from "../../../src/config.ts";
import { StartError } from "../../../src/errors.ts";
import { makeFolder } from "../../folder.ts";

const root = makeFolder();

const collections = { users: { access: { read: "authenticated" } } };
const env = { HOLDFAST_PROVIDER_GOOGLE_SECRET: "s1", HOLDFAST_PROVIDER_MY_WORK_SECRET: "s2" };
const all = {
  google: { clientId: "g" },
  "my-work": { clientId: "w", issuer: "https://login.acme.example", name: "Work" },
};

async function load(
  providers: object,
  more: object = {},
  given: Record<string, string> = env,
): Promise<Config> {
  const cwd = makeFolder();
  const users = { collection: "users", providers, ...more };
  await writeFile(join(cwd, "holdfast.config.json"), JSON.stringify({ collections, auth: { users } }));
  return loadConfig({ flags: {}, env: given, cwd, reportsFiles: true });
}

async function faultsOf(...of: Parameters<typeof load>): Promise<string> {
  const error = await load(...of).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof StartError, `${error}`);
  return error.faults.map(({ text }) => text.replace("holdfast.config.json: ", "")).join("\n");
}

test("known providers need a client id, and others an issuer and a name too", async () => {
  const config = await load(all);
  assert.deepEqual(config.users?.methods, ["password", "email", "providers"]);
  assert.deepEqual(config.users?.providers, [
    {
      name: "google",
      label: "Google",
      issuer: "https://accounts.google.com",
      clientId: "g",
      trustEmail: true,
    },
    {
      name: "my-work",
      label: "Work",
      issuer: "https://login.acme.example",
      clientId: "w",
      trustEmail: false,
    },
  ]);
  assert.deepEqual(config.users?.providerSecrets, { google: "s1", "my-work": "s2" });
  assert.doesNotMatch(JSON.stringify(config.options), /s1|s2/);
  assert.deepEqual(
    (await remakeConfig(originOf(config))).users?.providerSecrets,
    config.users?.providerSecrets,
  );
  const trust = await load(
    { google: { clientId: "g", trustEmail: false } },
    {},
    { HOLDFAST_PROVIDER_GOOGLE_SECRET: "s" },
  );
  assert.equal(trust.users?.providers[0]?.trustEmail, false);
});

test("a service in another application takes the secrets from the environment, and nothing else", async () => {
  const config = await compileConfig({}, root, { ...env, HOLDFAST_PORT: "1" });
  assert.deepEqual(config.outside.env, env);
});

test("Microsoft needs the id of one directory", async () => {
  const tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47";
  const secret = { HOLDFAST_PROVIDER_MICROSOFT_SECRET: "s" };
  const { users } = await load({ microsoft: { clientId: "m", tenant } }, {}, secret);
  assert.equal(users?.providers[0]?.issuer, `https://login.microsoftonline.com/${tenant}/v2.0`);
  for (const wrong of [undefined, "common", "acme.example"])
    assert.match(
      await faultsOf({ microsoft: { clientId: "m", tenant: wrong } }, {}, secret),
      /tenant must be the id/,
    );
});

test("what is wrong about a provider stops the start", async () => {
  const wrong: [providers: object, more: object, fault: RegExp][] = [
    [{ google: {} }, {}, /google\.clientId is missing/],
    [{ google: { clientId: "g", issuer: "https://x.example" } }, {}, /google\.issuer is not an option/],
    [
      { google: { clientId: "g", clientSecret: "x" } },
      {},
      /no secrets.*HOLDFAST_PROVIDER_GOOGLE_SECRET instead/,
    ],
    [{ acme: { clientId: "g", name: "Acme" } }, {}, /acme\.issuer must be the address/],
    [{ acme: { clientId: "g", issuer: "https://acme.example" } }, {}, /acme\.name is missing/],
    [
      { acme: { clientId: "g", name: "A", issuer: "http://acme.example" } },
      {},
      /acme\.issuer must be the address/,
    ],
    [{ "Not good": { clientId: "g" } }, {}, /small letters/],
    [Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`p${n}`, {}])), {}, /at most 20 providers/],
    [all, { methods: ["email"] }, /providers has no effect/],
    [{}, { methods: ["providers"] }, /has "providers", but there are none/],
    [
      { gitlab: { clientId: "g" } },
      { methods: ["providers"], signUp: "open" },
      /no new user could get an account/,
    ],
  ];
  for (const [providers, more, fault] of wrong) assert.match(await faultsOf(providers, more), fault);
});

test("a secret that is missing or belongs to no provider stops the start", async () => {
  const config = await load(all, {}, { HOLDFAST_PROVIDER_GOOGLE_SECRET: "s" });
  await assert.rejects(
    readFilesOf(config, 0),
    (error) =>
      error instanceof StartError && /^HOLDFAST_PROVIDER_MY_WORK_SECRET is missing/.test(error.message),
  );
  await readFilesOf(await load(all), 0);
  const misspelled = { ...env, HOLDFAST_PROVIDER_GOGLE_SECRET: "s" };
  assert.match(await faultsOf(all, {}, misspelled), /GOGLE_SECRET is set.*Did you mean "google"\?/);
});

test("a service for others needs https, and no mail server if providers are the only method", async () => {
  const secret = { HOLDFAST_SECRET: Buffer.alloc(32).toString("base64"), HOLDFAST_PROVIDER_ACME_SECRET: "s" };
  const users = (issuer: string) => ({
    collection: "users",
    methods: ["providers"],
    providers: { acme: { clientId: "a", name: "Acme", issuer } },
  });
  const content = (issuer: string) => ({
    collections,
    publicUrl: "https://shop.example",
    auth: { users: users(issuer) },
  });
  await compileConfig(content("https://acme.example"), root, secret);
  await assert.rejects(compileConfig(content("http://localhost:1"), root, secret), /so it must be https/);
});

test("a secret of a provider needs users", async () => {
  const cwd = makeFolder();
  await writeFile(join(cwd, "holdfast.config.json"), JSON.stringify({ collections: { users: {} } }));
  const given = { flags: {}, env: { HOLDFAST_PROVIDER_GOOGLE_SECRET: "s1" }, cwd, reportsFiles: true };
  await assert.rejects(
    loadConfig(given),
    (error) =>
      error instanceof StartError &&
      /HOLDFAST_PROVIDER_GOOGLE_SECRET is set, but the service has no auth\.users/.test(error.message),
  );
  await loadConfig({ ...given, env: {} });
});
