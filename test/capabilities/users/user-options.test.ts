/** The option `auth.users`, the address of the service, and its secrets, as the configuration says them. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { PeopleSettings } from "../../../src/capabilities/users/user-settings.ts";
import {
  type Config,
  compileConfig,
  loadConfig,
  originOf,
  remakeConfig,
  withPort,
} from "../../../src/config.ts";
import { StartError } from "../../../src/errors.ts";
import { defineConfig } from "../../../src/index.ts";
import { newSecret } from "../../../src/secrets.ts";
import { makeFolder } from "../../folder.ts";

const root = makeFolder();

const [hour, day] = [3_600_000, 86_400_000];

const collections = { users: { access: { read: "authenticated" } } };
const withUsers = (users: object = {}, more: object = {}) => ({
  collections,
  auth: { users: { collection: "users", ...users } },
  ...more,
});

interface Outside {
  flags?: Record<string, unknown>;
  env?: Record<string, string>;
}

async function load(content: unknown, { flags = {}, env = {} }: Outside = {}): Promise<Config> {
  const cwd = makeFolder();
  await writeFile(join(cwd, "holdfast.config.json"), JSON.stringify(content));
  return loadConfig({ flags, env, cwd, reportsFiles: true });
}

async function faultsOf(content: unknown, outside?: Outside): Promise<string[]> {
  const error = await load(content, outside).then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(error instanceof StartError, `${error}`);
  return error.faults.map(
    ({ path, text }) => `${path.join(".")} | ${text.replace("holdfast.config.json: ", "")}`,
  );
}

async function refuses(content: unknown, ...texts: readonly (RegExp | string)[]): Promise<void> {
  const faults = await faultsOf(content);
  assert.equal(faults.length, texts.length, faults.join("\n"));
  for (const [n, text] of texts.entries()) assert.match(faults[n] ?? "", new RegExp(text));
}

test("the types of the file take what the reader takes", () => {
  defineConfig({
    publicUrl: "https://shop.example",
    auth: {
      users: {
        collection: "users",
        signUp: { domains: ["acme.example"], roles: ["member"] },
        methods: ["password"],
        sessions: { idle: "7d", administrators: { absolute: "8h" } },
        password: { words: ["acme"], breached: true },
        roles: ["member"],
        origins: ["https://app.shop.example"],
      },
    },
  });
});

test("of the people who sign in everything has its default but the collection", async () => {
  const { auth, users } = await load(withUsers());
  assert.deepEqual(auth, { keys: false });
  assert.deepEqual(users, {
    collection: "users",
    mirror: {},
    signUp: "closed",
    methods: ["password", "email"],
    secondFactor: "optional",
    sessions: { idle: 14 * day, absolute: 90 * day, administrators: { idle: hour, absolute: day } },
    password: { words: [], breached: false },
    roles: undefined,
    origins: [],
    providers: [],
    audit: { keepDays: 365, keepBytes: 1e9 },
    mail: undefined,
    keepsMails: true,
    logsMails: false,
    providerSecrets: {},
  });
});

test("a domain for sign-ups can have other letters, and is compared as in addresses", async () => {
  const { users } = await load(withUsers({ signUp: { domains: ["Acme.example", "Bücher.example"] } }));
  assert.deepEqual(users?.signUp, { domains: ["acme.example", "xn--bcher-kva.example"], roles: [] });
});

test("what is said is taken", async () => {
  const said = {
    mirror: {},
    signUp: { domains: ["acme.example", "xn--bcher-kva.example"], roles: ["member"] },
    methods: ["email", "passkey"],
    secondFactor: { roles: ["editor"] },
    password: { words: ["acme"], breached: true },
    roles: ["member", "editor"],
    origins: ["https://app.shop.example", "http://localhost:5173", "http://[::1]:8080"],
    audit: { keepDays: 30, keepBytes: 5_000_000 },
  };
  const { users } = await load(withUsers({ ...said, sessions: { idle: "30m", absolute: "12h" } }));
  const { sessions, mail, keepsMails, logsMails, providerSecrets, ...others } = users as PeopleSettings;
  assert.deepEqual([mail, keepsMails, logsMails, providerSecrets], [undefined, true, false, {}]);
  assert.deepEqual(others, { collection: "users", ...said, providers: [] });
  const shorter = { idle: hour / 2, absolute: 12 * hour };
  assert.deepEqual(sessions, { ...shorter, administrators: shorter });
  const short = await load(
    withUsers({ sessions: { absolute: "2d", administrators: { idle: "2d", absolute: "3d" } } }),
  );
  assert.deepEqual(short.users?.sessions, {
    idle: 2 * day,
    absolute: 2 * day,
    administrators: { idle: 2 * day, absolute: 3 * day },
  });
});

test("mirrored attributes take every value of an account, and no client sets them", async () => {
  const attributes = (email: object, more: object = {}) => ({
    collections: {
      users: {
        access: { read: "authenticated" },
        timestamps: true,
        schema: { type: "object", properties: { email, mail: {} }, additionalProperties: false, ...more },
      },
    },
  });
  const good = { type: "string", readOnly: true, title: "Address" };
  const mirror = { email: "email" };
  const loaded = await load(withUsers({ mirror }, attributes(good)));
  assert.deepEqual(loaded.users?.mirror, mirror);
  for (const [more, named, text] of [
    [attributes({ ...good, readOnly: false }), mirror, /mirror\.email: clients could set "email" of "users"/],
    [attributes({ ...good, maxLength: 50 }), mirror, /Declare it as \{"type":"string"\}/],
    [attributes(good, { required: ["email"] }), mirror, /the schema requires "email"/],
    [attributes(good), { email: "emial" }, /"emial" of "users" is not an attribute of the schema.*"email"/],
    [attributes(good), { roles: "email" }, /mirror\.roles: the schema must allow every value/],
    [attributes(good), { roles: "updatedAt" }, /the service sets "updatedAt" of "users" itself/],
    [attributes(good), { email: "email", roles: "email" }, /mirror: "email" cannot show both/],
    [attributes(good), { mail: "email" }, /mirror\.mail is not an option/],
  ] as const)
    await refuses(withUsers({ mirror: named }, more), text);
});

test("people can be invited who are strangers, so every collection needs rules", async () => {
  const invited = { signUp: "invited" };
  assert.equal((await load(withUsers(invited))).users?.signUp, "invited");
});

test("roles of a domain are optional, and a collection may keep its usual kind of id", async () => {
  const { users } = await load(withUsers({ signUp: { domains: ["acme.example"] } }));
  assert.deepEqual(users?.signUp, { domains: ["acme.example"], roles: [] });
});

for (const [what, users, text] of [
  ["no collection", { collection: undefined }, "collection is missing. It names the declared collection"],
  ["a collection that is no text", { collection: 5 }, "collection must be a non-empty string, not 5"],
  ["a misspelled member", { signup: "open" }, 'auth.users.signup is not an option. Did you mean "signUp"\\?'],
  ["a sign-up of another kind", { signUp: true }, 'signUp must be "closed", "invited", "open" or an object'],
  ["domains that are missing", { signUp: {} }, "signUp.domains is missing. For every address"],
  ["no domain", { signUp: { domains: [] } }, "signUp.domains must be a list of domains"],
  ["a domain that is an address", { signUp: { domains: ["a@acme.example"] } }, "signUp.domains must be"],
  ["a domain that is a network address", { signUp: { domains: ["192.0.2.7"] } }, "signUp.domains must be"],
  ["a method that does not exist", { methods: ["password", "fax"] }, "methods must be a list"],
  ["passkeys alone", { methods: ["passkey"] }, "methods must be a list"],
  ["a second factor of another kind", { secondFactor: true }, 'secondFactor must be "off", "optional"'],
  ["a second factor of no role", { secondFactor: {} }, "secondFactor.roles is missing"],
  ["a second factor of a wrong role", { secondFactor: { roles: ["a b"] } }, "roles must be a list of roles"],
  ["a method twice", { methods: ["password", "password"] }, "methods must be a list"],
  ["no method", { methods: [] }, "methods must be a list"],
  ["a session without a unit", { sessions: { idle: "14" } }, "sessions.idle must be a time"],
  ["a session that is a number", { sessions: { idle: 900_000 } }, "sessions.idle must be a time"],
  ["a session that is too short", { sessions: { absolute: "9m" } }, "sessions.absolute must be a time"],
  ["a session that is too long", { sessions: { absolute: "367d" } }, "sessions.absolute must be a time"],
  ["a session that never idles", { sessions: { idle: "2d", absolute: "1d" } }, "sessions.idle has no effect"],
  ["sessions of others", { sessions: { ops: {} } }, "sessions.ops is not an option"],
  ["sessions of administrators", { sessions: { administrators: "1h" } }, "administrators must be an object"],
  ["an audit that keeps nothing", { audit: { keepDays: 0 } }, "audit.keepDays must be a whole number from 1"],
  [
    "an audit that is too small",
    { audit: { keepBytes: 1 } },
    "audit.keepBytes must be a whole number from 1",
  ],
  ["a word that is too short", { password: { words: ["ab"] } }, "words must be a list of at most 1000 texts"],
  ["too many words", { password: { words: Array(1_001).fill("acme") } }, "at most 1000 texts"],
  ["breached as text", { password: { breached: "yes" } }, "breached must be true or false"],
  ["a role with a space", { roles: ["a b"] }, "roles must be a list of roles"],
  ["an origin with a path", { origins: ["https://app.example/x"] }, "origins must be a list"],
  ["an origin without https", { origins: ["http://app.example"] }, "origins must be a list"],
  ["every origin", { origins: ["*"] }, "origins must be a list"],
  ["a secret", { secret: "abcdef" }, "secret: .* HOLDFAST_SECRET"],
] as const)
  test(`refused: ${what}`, () => refuses(withUsers(users), text));

test("a secret is never repeated in a message", async () => {
  for (const content of [withUsers({ secret: "c2VjcmV0" }), withUsers({}, { secret: "c2VjcmV0" })]) {
    const faults = await faultsOf(content);
    assert.match(faults.join(), /HOLDFAST_SECRET/);
    assert.doesNotMatch(faults.join(), /c2VjcmV0/);
  }
});

test("all faults are reported together, each at its place", () =>
  refuses(
    withUsers({ signUp: "all", sessions: { idle: "x", administrators: { idle: "y" } }, methods: 1 }),
    /^auth\.users\.signUp \|/,
    /^auth\.users\.sessions\.idle \|/,
    /^auth\.users\.sessions\.administrators\.idle \|/,
    /^auth\.users\.methods \|/,
  ));

test("the collection must be declared, with ids that can be subjects", async () => {
  await refuses(withUsers({ collection: "user" }), /^auth\.users\.collection \| .*Did you mean "users"\?/);
  const numbered = { collections: { users: { id: "integer", ...collections.users } } };
  await refuses(withUsers({}, numbered), /^auth\.users\.collection \| .* must be of the kind "uuid"/);
});

test("strangers who sign up are not colleagues: a collection without rules stops the start", async () => {
  const declared = { ...collections, notes: {}, topics: {} };
  for (const signUp of ["open", { domains: ["acme.example"] }]) {
    await refuses(
      withUsers({ signUp }, { collections: declared }),
      /^collections\.notes \| .*anyone who signs up could do everything here\. Add "access"/,
      /^collections\.topics \|/,
    );
    const inOpenMode = withUsers({ signUp }, { openCollections: true });
    await refuses(inOpenMode, /^openCollections \| .* collections that are not declared/);
  }
  await load(withUsers({}, { collections: declared, openCollections: true }));
});

test("nobody who signs up becomes an administrator by that", async () => {
  const signUp = { domains: ["acme.example"], roles: ["member", "ops"] };
  const content = (administrators: object) => ({
    collections,
    auth: { users: { collection: "users", signUp }, administrators },
  });
  await refuses(content({ role: "ops" }), /^auth\.users\.signUp\.roles \| .* would administer the service/);
  await load(content([{ role: "chief" }, { subject: "ops" }]));
});

test("a token acts as a user only where there are users", async () => {
  const jwt = {
    issuer: "https://id.example/",
    audience: "a",
    jwks: "https://id.example/jwks",
    actAsUsers: true,
  };
  await refuses({ auth: { jwt } }, /^auth\.jwt\.actAsUsers \| .*there are no users to act as/);
  const both = await load({ collections, auth: { jwt, users: { collection: "users" } } });
  assert.equal(both.tokens?.actAsUsers, true);
});

test("only a local service with users and without a mail server keeps its mails", async () => {
  const mail = { from: "shop@example.org", smtp: "smtp://127.0.0.1:1025" };
  const keeps = async (content: object) => (await load(content)).users?.keepsMails === true;
  assert.equal(await keeps(withUsers()), true);
  assert.equal(await keeps({}), false);
  assert.equal(await keeps(withUsers({}, { mail })), false);
});

test("a loopback host alone makes a service local, if nothing says that others reach it", async () => {
  const local = await load({});
  assert.deepEqual([local.isLocal, local.publicUrl], [true, "http://localhost:3000"]);
  assert.equal((await load({}, { flags: { host: "::1", port: "4000" } })).publicUrl, "http://localhost:4000");
  const others: object[] = [
    { publicUrl: "https://shop.example" },
    { hosts: ["shop.example"] },
    { trustProxy: ["10.0.0.1"] },
    { host: "0.0.0.0", auth: { keys: true } },
  ];
  for (const content of others) assert.equal((await load(content)).isLocal, false, JSON.stringify(content));
  assert.equal((await load({ hosts: ["shop.example"] })).publicUrl, undefined);
  assert.equal((await load({ hosts: [], trustProxy: [] })).isLocal, true);
});

test("a local service that looks for a free port has its address once it knows the port", async () => {
  const config = await load({ port: 0 });
  assert.equal(config.publicUrl, undefined);
  assert.equal(withPort(config, 4711).publicUrl, "http://localhost:4711");
  const given = await load({ publicUrl: "https://shop.example" });
  assert.equal(withPort(given, 4711).publicUrl, "https://shop.example");
});

test("the address is an origin with https, or of this machine", async () => {
  for (const publicUrl of ["https://shop.example", "https://shop.example:8443", "http://localhost:8080"])
    assert.equal((await load({ publicUrl })).publicUrl, publicUrl);
  const wrong = [
    "http://shop.example",
    "https://shop.example/",
    "https://shop.example/x",
    "shop.example",
    "",
    5,
  ];
  for (const publicUrl of [...wrong, "https://Shop.example", "https://u:pw@shop.example"])
    await refuses(
      { publicUrl },
      /^publicUrl \| publicUrl must be an origin such as https:\/\/shop.example \(.*\)\.$/,
    );
  const fromEnvironment = await load({}, { env: { HOLDFAST_PUBLIC_URL: "https://shop.example" } });
  assert.equal(fromEnvironment.publicUrl, "https://shop.example");
});

test("a service for others needs an address, a mail server and a secret before people can sign in", async () => {
  const env = { HOLDFAST_SECRET: newSecret() };
  const behindProxy = withUsers({}, { trustProxy: ["127.0.0.1"] });
  const mail = { from: "shop@shop.example", smtp: "smtp://localhost:1025" };
  const all = (await faultsOf(behindProxy)).join("\n");
  for (const fault of [/Set publicUrl/, /Set mail/, /HOLDFAST_SECRET is missing/]) assert.match(all, fault);
  const noUrl = await faultsOf({ ...behindProxy, mail }, { env });
  assert.match(noUrl.join(), /^auth\.users \| .*Set publicUrl/);
  const withUrl = { ...behindProxy, publicUrl: "https://shop.example" };
  assert.match((await faultsOf(withUrl, { env })).join(), /^auth\.users \| .*Set mail/);
  const complete = await load({ ...withUrl, mail }, { env });
  assert.equal(complete.secrets.length, 1);
  const inApplication = await compileConfig(withUsers(), root);
  assert.equal(inApplication.isLocal, true, "the plugin looks at the address of each request");
  const others = [
    compileConfig(withUsers({}, { hosts: ["shop.example"] }), root),
    compileConfig(withUsers(), root, {}, { encrypts: true }),
  ];
  for (const refused of others)
    await assert.rejects(
      refused,
      /auth\.users: others can reach this service.*remove hosts, and serve the application without https/,
    );
});

test("the threads get the same secrets", async () => {
  const config = await load({}, { env: { HOLDFAST_SECRET: [newSecret(), newSecret()].join() } });
  const { secrets } = await remakeConfig(originOf(config));
  assert.deepEqual(
    secrets.map((secret) => secret.export()),
    config.secrets.map((secret) => secret.export()),
  );
  assert.equal(secrets.length, 2);
});

test("a wrong secret stops the start, and is not shown", async () => {
  const faults = await faultsOf({}, { env: { HOLDFAST_SECRET: "correct-horse" } });
  assert.match(faults.join(), /^ \| HOLDFAST_SECRET must be one to 3 secrets/);
  assert.doesNotMatch(faults.join(), /correct/);
});
