/** A configuration with several faults: all of them are reported at once. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { type RunOptions, run } from "./cli.ts";

/** What `check` and `serve` write to stderr, which must be the same. */
async function faultsOf(
  t: TestContext,
  content: object,
  { args = [], env = {} }: { args?: string[]; env?: NonNullable<RunOptions["env"]> } = {},
): Promise<string[]> {
  const cwd = makeFolder({ "holdfast.config.json": JSON.stringify(content) });
  const [checked, served] = await Promise.all([
    run(t, ["check", ...args], { cwd, env }),
    run(t, ["serve", ...args], { cwd, env }),
  ]);
  for (const { exitCode, stdout } of [checked, served]) assert.deepEqual([exitCode, stdout], [1, ""]);
  assert.equal(served.stderr, checked.stderr);
  return checked.stderr.trimEnd().replaceAll(cwd, "<cwd>").split("\n");
}

const file = "holdfast.config.json";

test("ten faults in ten places are ten lines, in the order of the file", async (t) => {
  const content = {
    stopTimeoutMs: -1,
    collections: {
      topics: {
        access: {
          read: [{ role: "" }, { where: { titel: "a" } }],
          update: "pubic",
        },
        schema: { type: "object", properties: { title: { type: "string" } } },
        indexes: ["titl"],
        id: "uuid4",
      },
      users: {
        schema: { properties: { age: { type: "int" }, name: { minLenght: 1 } } },
        timestamps: "yes",
      },
    },
    prot: 3000,
    auth: { keys: true },
  };
  assert.deepEqual(await faultsOf(t, content), [
    "holdfast: the configuration has 10 errors:",
    `  ${file}: stopTimeoutMs must be a whole number from 1 to 3600000, not -1.`,
    `  ${file}: collections.topics.access.read[0].role must be the name of a role, not "".`,
    `  ${file}: collections.topics.access.read[1]: "where", at "/titel", is not an attribute of "topics". Did you mean "title"?`,
    `  ${file}: collections.topics.access.update: "pubic" is not a rule. Did you mean "public"? To name a role, write { role: "pubic" }.`,
    `  ${file}: collections.topics.indexes[0]: "titl" is not an attribute of the schema. Did you mean "title"?`,
    `  ${file}: collections.topics.id must be "uuid" or "integer", not "uuid4".`,
    `  ${file}: collections.users.schema at properties/age/type: the value must be one of "array", "boolean", "integer", "null", "number", "object", "string".`,
    `  ${file}: collections.users.schema at properties/name: "minLenght" is not a supported keyword. Did you mean "minLength"?`,
    `  ${file}: collections.users.timestamps must be true or false, not "yes".`,
    `  ${file}: prot is not an option. Did you mean "port"?`,
  ]);
});

test("faults of flags, of the environment, of the file and of the files that it names are reported together", async (t) => {
  const content = {
    tls: { cert: "server.pem", key: "server.key" },
    limits: { body: "1xb", pages: 5 },
    auth: { jwt: { issuer: "", jwks: "jwks.json", algorithms: ["HS256"], subjectCliam: "oid" } },
    requireTls: "yes",
  };
  const lines = await faultsOf(t, content, {
    args: ["--store", "mysql://db"],
    env: { HOLDFAST_PROT: "4000", HOLDFAST_LGO: "requests" },
  });
  assert.deepEqual(lines, [
    "holdfast: the configuration has 12 errors:",
    '  HOLDFAST_PROT is not an environment variable of Holdfast. Did you mean "HOLDFAST_PORT"?',
    '  HOLDFAST_LGO is not an environment variable of Holdfast. Did you mean "HOLDFAST_LOG"?',
    "  store: this is not a store address. Write sqlite:<file>, such as sqlite:holdfast.db, or postgres://user@host/database.",
    "  tls.cert: <cwd>/server.pem cannot be read: no such file or directory.",
    "  tls.key: <cwd>/server.key cannot be read: no such file or directory.",
    `  ${file}: limits.body must be a size up to 256mb, such as 65536 or "1mb", not "1xb".`,
    `  ${file}: limits.pages is not an option. Did you mean "limits.page"?`,
    `  ${file}: auth.jwt.audience is missing. Without it, the service would accept tokens meant for other services.`,
    `  ${file}: auth.jwt.issuer must be a non-empty string, not "".`,
    `  ${file}: auth.jwt.algorithms must be a list of some of ES256, ES384, ES512, EdDSA, RS256, RS384, RS512, PS256, PS384, PS512 (HMAC is not supported, because its secret could create tokens too), not ["HS256"].`,
    `  ${file}: auth.jwt.subjectCliam is not an option. Did you mean "subjectClaim"?`,
    `  ${file}: requireTls must be true or false, not "yes".`,
  ]);
});

test("all faulty files of a configuration without faults are reported", async (t) => {
  const content = {
    auth: { jwt: { issuer: "https://id.example.org", audience: "a", jwks: "jwks.json" } },
    tls: { cert: "server.pem", key: "server.key" },
  };
  assert.deepEqual(await faultsOf(t, content), [
    "holdfast: the configuration has 3 errors:",
    "  auth.jwt.jwks: <cwd>/jwks.json cannot be read: no such file or directory.",
    "  tls.cert: <cwd>/server.pem cannot be read: no such file or directory.",
    "  tls.key: <cwd>/server.key cannot be read: no such file or directory.",
  ]);
});

test("a fault that is only the consequence of another is not reported", async (t) => {
  const property = { type: "string", maxLength: 9 };
  for (const [content, line] of [
    // The rules could not be kept without auth, and the host would be open to all.
    [
      { atuh: { keys: true }, host: "0.0.0.0", collections: { a: { access: { read: "public" } } } },
      'atuh is not an option. Did you mean "auth"?',
    ],
    [{ auth: { kyes: true } }, 'auth.kyes is not an option. Did you mean "auth.keys"?'],
    [{ auth: [], host: "0.0.0.0" }, "auth must be an object."],
    [
      { requireTls: true, trustProxi: ["10.0.0.1"] },
      'trustProxi is not an option. Did you mean "trustProxy"?',
    ],
    // Without a schema no attribute could be unique, searched, or in a filter.
    [
      {
        auth: { keys: true },
        collections: {
          a: {
            schem: { properties: { name: property } },
            unique: ["name"],
            access: { read: { where: { name: "$subject" } } },
          },
        },
      },
      'collections.a.schem is not an option. Did you mean "schema"?',
    ],
    [
      {
        auth: { keys: true },
        collections: {
          a: {
            schema: { properties: { nmae: property, other: { typ: "string" } } },
            indexes: ["name"],
            search: ["name"],
            unique: ["name"],
            references: { name: "a" },
            defaults: { name: "$now" },
            attributes: { name: { roles: ["hr"] } },
            access: { read: { where: { name: "a" } } },
          },
        },
      },
      'collections.a.schema at properties/other: "typ" is not a supported keyword. Did you mean "type"?',
    ],
    [
      { collections: { a: { timestamp: true, indexes: ["createdAt"], schema: { properties: { b: {} } } } } },
      'collections.a.timestamp is not an option. Did you mean "timestamps"?',
    ],
    // The collection that is referred to is declared, although wrongly.
    [
      { collections: { a: { references: { b: "b" } }, b: { id: "uid" } } },
      'collections.b.id must be "uuid" or "integer", not "uid".',
    ],
    [
      { auth: { keys: true }, collections: { a: { access: { list: "public", reed: "public" } } } },
      'collections.a.access.reed is not an action. Did you mean "read"?',
    ],
    // One fault of the whole file, whatever has rules.
    [
      { collections: { a: { access: { read: "public" } }, b: { access: { read: "public" } } } },
      'collections.a.access: this needs "auth". Without it, the service does not identify callers, and anyone can do everything.',
    ],
  ] as const)
    assert.deepEqual(await faultsOf(t, content), [`holdfast: ${file}: ${line}`], JSON.stringify(content));
});

test("a message lists twenty faults, and counts the others", async (t) => {
  const names = Array.from({ length: 33 }, (_, n) => `c${n}`);
  const content = { collections: Object.fromEntries(names.map((name) => [name, { id: "uid" }])) };
  const [first, ...lines] = await faultsOf(t, content);
  assert.equal(first, "holdfast: the configuration has 33 errors:");
  assert.equal(lines.length, 21);
  assert.match(String(lines[19]), /^ {2}holdfast\.config\.json: collections\.c19\.id must be/);
  assert.equal(lines[20], "  and 13 more");
});

test("a file that cannot be read is reported with the faults of flags and environment", async (t) => {
  const cwd = makeFolder({ "holdfast.config.json": "{" });
  const options = { cwd, env: { HOLDFAST_PROT: "1" } };
  const { exitCode, stderr } = await run(t, ["serve", "--port", "x"], options);
  assert.equal(exitCode, 1);
  assert.match(
    stderr,
    /^holdfast: the configuration has 3 errors:\n {2}HOLDFAST_PROT is not .*\n {2}--port must be .*\n {2}holdfast\.config\.json is not valid JSON.*\n$/,
  );
});

test("values that JSON does not have are reported with the other faults of a module", async (t) => {
  const text = `export default {
    collections: {
      a: { schema: { properties: { n: { const: NaN } } }, indexes: ["b"], unique: new Set(["n"]), id: "uid" },
      b: new Map(),
    },
    port: 70000,
  };`;
  const cwd = makeFolder({ "holdfast.config.mjs": text });
  const { stderr } = await run(t, ["check"], { cwd });
  assert.deepEqual(stderr.trimEnd().split("\n"), [
    "holdfast: the configuration has 5 errors:",
    "  holdfast.config.mjs: collections.a.schema at properties/n/const: the value is NaN, which is not a JSON value.",
    "  holdfast.config.mjs: collections.a.unique must be a plain object or list, not a Set.",
    '  holdfast.config.mjs: collections.a.id must be "uuid" or "integer", not "uid".',
    "  holdfast.config.mjs: collections.b must be a plain object or list, not a Map.",
    "  holdfast.config.mjs: port must be a whole number from 0 to 65535, not 70000.",
  ]);
});
