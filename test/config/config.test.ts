import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { requireKnownVariables } from "../../src/config/option-values.ts";
import { type OptionName, options } from "../../src/config/options.ts";
import { type Config, loadConfig } from "../../src/config.ts";
import { StartError } from "../../src/errors.ts";
import type { HoldfastConfig } from "../../src/index.ts";
import { withOptions } from "../../tools/build/types.ts";
import { makeFolder } from "../folder.ts";
import { pathsBelow } from "../project.ts";

const root = makeFolder();

interface Given {
  /** Files by name; an object is written as JSON. */
  files?: Record<string, unknown>;
  flags?: Record<string, unknown>;
  env?: Record<string, string>;
}

/** Loads the configuration in a separate folder, because modules are cached by path. */
async function load({
  files = {},
  flags = {},
  env = {},
}: Given = {}): Promise<{ config: Config; cwd: string }> {
  const cwd = makeFolder();
  for (const [name, content] of Object.entries(files))
    await writeFile(join(cwd, name), typeof content === "string" ? content : JSON.stringify(content));
  return { config: await loadConfig({ flags, env, cwd }), cwd };
}

/** The warnings of the process while this runs. */
async function warningsOf(run: () => Promise<void>): Promise<string[]> {
  const warnings: string[] = [];
  const listen = ({ message }: Error) => warnings.push(message);
  process.on("warning", listen);
  await run();
  await new Promise(setImmediate); // warnings come with the next turn
  process.off("warning", listen);
  return warnings;
}

const fromFile = (content: unknown) => load({ files: { "holdfast.config.json": content } });

/** Names of the groups, and of the options in them, as they stand in the table. */
type Keys<Group extends "auth" | "code" | "cors" | "info" | "limits" | "webhooks"> =
  `${Group}.${string & keyof NonNullable<HoldfastConfig[Group]>}`;
type TypedOption =
  | Exclude<keyof HoldfastConfig, "auth" | "code" | "collections" | "cors" | "info" | "limits" | "webhooks">
  | Keys<"auth">
  | Keys<"code">
  | Keys<"cors">
  | Keys<"info">
  | Keys<"limits">
  | Keys<"webhooks">;

// Checked by `npm run types`: the table and the type of the file have the same options.
({}) satisfies Record<Exclude<OptionName, TypedOption>, never>;
({}) satisfies Record<Exclude<TypedOption, OptionName>, never>;

function pathOf({ store }: Config): string {
  return store.kind === "sqlite" ? store.path : assert.fail("the store is no file");
}

describe("without a file", () => {
  test("the mode is open and every option has its default", async () => {
    const { config, cwd } = await load();
    assert.equal(config.file, undefined);
    assert.deepEqual(config.store, { kind: "sqlite", path: join(cwd, "holdfast.db") });
    assert.equal(config.collections.size, 0);
    assert.equal(config.openCollections, true);
    assert.deepEqual([config.host, config.port, config.http.prefix], ["127.0.0.1", 3000, "/api/v1"]);
    assert.deepEqual([config.http.hosts, config.http.corsOrigins], [[], ["loopback"]]);
    assert.equal(config.http.limits.bodyBytes, 1_048_576);
    assert.deepEqual([config.logRequests, config.insecure, config.accept], [false, false, false]);
  });
});

test("console is true or false, from the file, the environment or a flag", async () => {
  const consoleWith = async (given: Given) => (await load(given)).config.http.console;
  const off = json({ console: false });
  const env = { HOLDFAST_CONSOLE: "false" };
  assert.equal(await consoleWith({}), true);
  assert.equal(await consoleWith(off), false);
  assert.equal(await consoleWith({ ...off, env: { HOLDFAST_CONSOLE: "true" } }), true);
  assert.equal(await consoleWith({ env }), false);
  assert.equal(await consoleWith({ env, flags: { console: "true" } }), true);
});

test("threads is a number or auto, from the file, the environment or a flag", async () => {
  const threadsWith = async (given: Given) => (await load(given)).config.threads;
  const two = json({ threads: 2 });
  assert.equal(await threadsWith({}), "auto");
  assert.equal(await threadsWith(two), 2);
  assert.equal(await threadsWith({ ...two, env: { HOLDFAST_THREADS: "3" } }), 3);
  assert.equal(await threadsWith({ env: { HOLDFAST_THREADS: "3" }, flags: { threads: "16" } }), 16);
  assert.equal(await threadsWith({ ...two, env: { HOLDFAST_THREADS: "auto" } }), "auto");
  for (const wrong of [0, 17, 1.5, "many", true])
    await assert.rejects(
      load(json({ threads: wrong })),
      /threads must be "auto" or a whole number from 1 to 16, not/,
    );
});

describe("where a value comes from", () => {
  const file = { port: 1001, host: "::1", prefix: "/file", store: "file.db" };
  const env = {
    HOLDFAST_PORT: "1002",
    HOLDFAST_HOST: "localhost",
    HOLDFAST_PREFIX: "/env",
    HOLDFAST_STORE: "env.db",
  };
  const flags = { port: "1003", host: "127.0.0.2", prefix: "/flag", store: "sqlite:flag.db" };
  const shown = ({ config, cwd }: { config: Config; cwd: string }) => [
    config.port,
    config.host,
    config.http.prefix,
    pathOf(config).slice(cwd.length + 1),
  ];

  test("the file wins over the defaults", async () => {
    assert.deepEqual(shown(await fromFile(file)), [1001, "::1", "/file", "file.db"]);
  });

  test("the environment wins over the file", async () => {
    const both = { files: { "holdfast.config.json": file }, env };
    assert.deepEqual(shown(await load(both)), [1002, "localhost", "/env", "env.db"]);
  });

  test("flags win over everything", async () => {
    const all = { files: { "holdfast.config.json": file }, env, flags };
    assert.deepEqual(shown(await load(all)), [1003, "127.0.0.2", "/flag", "flag.db"]);
  });

  for (const name of ["ts", "js", "mjs"].map((extension) => `holdfast.config.${extension}`)) {
    test(`${name} is found`, async () => {
      const { config } = await load({ files: { [name]: "export default { port: 1234 };" } });
      assert.deepEqual([config.port, config.file], [1234, name]);
    });
  }

  for (const around of [{ type: "commonjs" }, { type: "module" }, {}]) {
    const files = { "package.json": around };

    for (const [name, content] of Object.entries({
      "holdfast.config.ts": "const port: number = 1234;\nexport default { port };",
      "holdfast.config.js": "export default { port: 1234 };",
      "holdfast.config.mjs": "export default { port: 1234 };",
    })) {
      test(`${name} is a module beside a package.json of ${JSON.stringify(around)}`, async () => {
        const warnings = await warningsOf(async () => {
          assert.equal((await load({ files: { ...files, [name]: content } })).config.port, 1234);
        });
        assert.deepEqual(warnings, []);
      });

      test(`${name} of broken syntax beside ${JSON.stringify(around)} is told with its line`, async () => {
        const broken = { ...files, [name]: "export default {\n  a: ;\n};" };
        await assert.rejects(load({ files: broken }), /holdfast\.config\.\w+ cannot be read: .*\(line 2/);
      });
    }

    for (const content of ["module.exports = { port: 1 };", 'require("node:fs");', "exports.port = 1;"]) {
      test(`\`${content}\` beside ${JSON.stringify(around)} is told to be an ES module`, async () => {
        const commonJs = { ...files, "holdfast.config.js": content };
        await assert.rejects(
          load({ files: commonJs }),
          /^StartError: holdfast\.config\.js must be an ES module.*"export default \{ … \}"/,
        );
      });
    }
  }

  test("a link to a file elsewhere is read as the module it is", async () => {
    const elsewhere = makeFolder();
    await writeFile(join(elsewhere, "package.json"), '{"type":"commonjs"}');
    await writeFile(join(elsewhere, "shop.ts"), "export default { port: 1234 as number };");
    const cwd = makeFolder();
    await symlink(join(elsewhere, "shop.ts"), join(cwd, "holdfast.config.ts"));
    assert.equal((await loadConfig({ flags: {}, env: {}, cwd })).port, 1234);
  });

  test("--config and HOLDFAST_CONFIG name another file", async () => {
    const files = { "a.json": { port: 1 }, "b.json": { port: 2 }, "holdfast.config.json": { port: 3 } };
    const env = { HOLDFAST_CONFIG: "a.json" };
    assert.equal((await load({ files, env })).config.port, 1);
    assert.equal((await load({ files, env, flags: { config: "b.json" } })).config.port, 2);
  });
});

describe("a declared collection", () => {
  test("is there with its schema and kind of id, and no other springs into being", async () => {
    const schema = { type: "object", properties: { name: { type: "string" } } };
    const { config } = await fromFile({ collections: { notes: {}, users: { id: "integer", schema } } });
    assert.deepEqual([...config.collections.keys()], ["notes", "users"]);
    assert.equal(config.openCollections, false);
    const users = config.collections.get("users");
    assert.equal(users?.idKind, "integer");
    assert.deepEqual(
      users?.validate({ nam: 1 }).map(({ pointer }) => pointer),
      ["#/nam"],
    );
  });

  test("leaves room for others where that is said", async () => {
    assert.equal(
      (await fromFile({ collections: { a: {} }, openCollections: true })).config.openCollections,
      true,
    );
  });
});

describe("a value is read", () => {
  const sizes: [written: unknown, bytes: number][] = [
    [65_536, 65_536],
    ["65536", 65_536],
    ["512kb", 524_288],
    ["1mb", 1_048_576],
    ["1.5 MB", 1_572_864],
    ["100b", 100],
  ];
  for (const [written, bytes] of sizes) {
    test(`limits.body ${JSON.stringify(written)} as ${bytes} bytes`, async () => {
      assert.equal((await fromFile({ limits: { body: written } })).config.http.limits.bodyBytes, bytes);
    });
  }

  const prefixes: [written: string, prefix: string][] = [
    ["/", ""],
    ["/api", "/api"],
    ["/api/", "/api"],
    ["/a/b.c/v1", "/a/b.c/v1"],
  ];
  for (const [written, prefix] of prefixes) {
    test(`prefix ${written} as ${JSON.stringify(prefix)}`, async () => {
      assert.equal((await fromFile({ prefix: written })).config.http.prefix, prefix);
    });
  }

  test("store as an absolute path, relative path or address", async () => {
    const path = join(root, "x.db");
    assert.equal(pathOf((await load({ flags: { store: path } })).config), path);
    assert.equal(pathOf((await load({ flags: { store: `sqlite:${path}` } })).config), path);
    const { config, cwd } = await load({ flags: { store: "data/x.db" } });
    assert.equal(pathOf(config), join(cwd, "data/x.db"));
  });
});

/** Each file or flag, and the expected line. */
const errors: [what: string, given: Given, line: RegExp][] = [
  ["a misspelled option", json({ prot: 3000 }), /prot is not an option\. Did you mean "port"\?/],
  [
    "a misspelled limit",
    json({ limits: { bdy: 1 } }),
    /limits\.bdy is not an option\. Did you mean "limits\.body"\?/,
  ],
  [
    "an option of a collection at the top",
    json({ schema: {} }),
    /schema is not an option\. "schema" belongs to a collection/,
  ],
  [
    "rules for callers whom nobody asks who they are",
    json({ collections: { a: { access: { read: "public" } } } }),
    /: collections\.a\.access: this needs "auth"\. Without it, the service does not identify callers/,
  ],
  [
    "an option of the top in a collection",
    json({ collections: { a: { port: 1 } } }),
    /collections\.a\.port is not .* belongs at the top level of the file/,
  ],
  [
    "a default that names the caller, whom nobody asks who they are",
    json({ collections: { a: { defaults: { by: "$subject" } } } }),
    /: collections\.a\.defaults\.by: this needs "auth"/,
  ],
  [
    "an attribute for a role that nobody is asked for",
    json({ collections: { a: { attributes: { salary: { roles: ["hr"] } } } } }),
    /: collections\.a\.attributes\.salary\.roles: this needs "auth"/,
  ],
  ["a list of kinds of id", json({ collections: { a: { id: ["uuid"] } } }), /, not \["uuid"\]\.$/],
  [
    "a package that is not there",
    { files: { "holdfast.config.mjs": 'import "nowhere"; export default {};' } },
    /^holdfast\.config\.mjs cannot be read: Cannot find package 'nowhere' imported from \S+$/,
  ],
  [
    "our package where it is not installed",
    { files: { "holdfast.config.mjs": 'import { defineConfig } from "holdfast"; export default {};' } },
    /Cannot find package 'holdfast' .*\. Install holdfast in the same project .* export default \{ … \} is enough\.$/,
  ],
  [
    "a file of another kind",
    { files: { "holdfast.yaml": "port: 1" }, flags: { config: "holdfast.yaml" } },
    /^holdfast\.yaml cannot be read: its name must end in \.ts, \.js, \.mjs or \.json\.$/,
  ],
  [
    "a number that JSON has not",
    { files: { "holdfast.config.mjs": "export default { port: 3000n };" } },
    /holdfast\.config\.mjs: port must be a whole number .*, not 3000n\.$/,
  ],
  [
    "a misspelled variable",
    { env: { HOLDFAST_PROT: "4000" } },
    /^HOLDFAST_PROT is not an environment variable of Holdfast\. Did you mean "HOLDFAST_PORT"\?$/,
  ],
  [
    "a variable that is nothing like a known one",
    { env: { HOLDFAST_AUTHENTICATION: "on" } },
    /^HOLDFAST_AUTHENTICATION is not .* Known names: HOLDFAST_STORE, .*, HOLDFAST_CONFIG, HOLDFAST_TOKEN\.$/,
  ],
  ["a limit at the top", json({ body: "1mb" }), /body is not an option\. Did you mean "limits\.body"\?/],
  [
    "a misspelled option of a collection",
    json({ collections: { a: { schem: {} } } }),
    /collections\.a\.schem is not an option\. Did you mean "schema"\?/,
  ],
  [
    "a port that is no port",
    json({ port: 70_000 }),
    /port must be a whole number from 0 to 65535, not 70000/,
  ],
  ["a port of letters", { flags: { port: "abc" } }, /--port must be a whole number/],
  [
    "a port of letters in the environment",
    { env: { HOLDFAST_PORT: "abc" } },
    /HOLDFAST_PORT must be a whole number/,
  ],
  ["a console that is neither", { flags: { console: "off" } }, /--console must be true or false/],
  ["a prefix without a slash", json({ prefix: "api" }), /prefix must be "\/" or a path/],
  ["a prefix with an empty segment", json({ prefix: "/a//b" }), /prefix must be "\/" or a path/],
  ["a prefix with a dot segment", json({ prefix: "/a/../b" }), /prefix must be "\/" or a path/],
  ["a prefix that must be encoded", json({ prefix: "/é" }), /prefix must be "\/" or a path/],
  ["a size of nothing", json({ limits: { body: 0 } }), /limits\.body must be a size/],
  ["a size in unknown units", json({ limits: { body: "1xb" } }), /limits\.body must be a size/],
  ["limits that are no object", json({ limits: 5 }), /limits must be an object/],
  [
    "an origin with a path",
    json({ cors: { origins: ["https://a.example/b"] } }),
    /cors\.origins must be a list of origins/,
  ],
  ["a host name with a scheme", json({ hosts: ["https://a.example"] }), /hosts must be a list of host names/],
  ["openCollections as a text", json({ openCollections: "yes" }), /openCollections must be true or false/],
  ["another log", { flags: { log: "all" } }, /--log must be "requests"/],
  ["a collection that is no object", json({ collections: { a: true } }), /collections\.a must be an object/],
  [
    "a bad name of a collection",
    json({ collections: { "1a": {} } }),
    /"1a" cannot be the name of a collection/,
  ],
  [
    "an unknown kind of id",
    json({ collections: { a: { id: "uuid4" } } }),
    /^holdfast\.config\.json: collections\.a\.id must be "uuid" or "integer", not "uuid4"\.$/,
  ],
  [
    "a schema that does not compile",
    json({ collections: { a: { schema: { typ: 1 } } } }),
    /^holdfast\.config\.json: collections\.a\.schema: "typ" is not/,
  ],
  ["a host beyond this machine", json({ host: "0.0.0.0" }), /--insecure/],
  ["all addresses of IPv6", { flags: { host: "::" } }, /--insecure/],
  [
    "a database without a name",
    json({ store: "postgres://u:secret@h/" }),
    /^[^s]*store: this is not a database address[^:]*postgres:\/\/user@host\/database\.$/,
  ],
  ["a store elsewhere", json({ store: "mysql://u:secret@h/d" }), /store: this is not a store address/],
  [
    "a file that is not there",
    { flags: { config: "none.ts" } },
    /The configuration file .*none\.ts does not exist/,
  ],
  [
    "a file that is no JSON",
    { files: { "holdfast.config.json": "{" } },
    /holdfast\.config\.json is not valid JSON: expected /,
  ],
  [
    "a file of several lines that is no JSON",
    { files: { "holdfast.config.json": '{"a":\n x\n\n}' } },
    /holdfast\.config\.json is not valid JSON: expected /,
  ],
  ["a file that is a list", json([]), /the configuration must be an object/],
  [
    "a module without a default export",
    { files: { "holdfast.config.ts": "export const a = 1;" } },
    /has no default export/,
  ],
  [
    "a module that throws",
    { files: { "holdfast.config.ts": '\nthrow new Error("no luck");' } },
    /holdfast\.config\.ts cannot be read: no luck \(line 2/,
  ],
  [
    "a module with a broken syntax",
    { files: { "holdfast.config.mjs": "export default {\n  a: ;\n};" } },
    /holdfast\.config\.mjs cannot be read: .*\(line 2/,
  ],
  [
    "a broken TypeScript file",
    { files: { "holdfast.config.ts": "export default {\n  a: ;\n};" } },
    /holdfast\.config\.ts cannot be read: /,
  ],
  [
    "a getter that throws",
    js('export default {\n get port() { throw new Error("no luck"); } };'),
    /^holdfast\.config\.mjs cannot be read: no luck \(line 2/,
  ],
  [
    "a promise",
    js("export default Promise.resolve({});"),
    /mjs: the configuration must be a plain object or list, not a Promise\.$/,
  ],
  [
    "collections in a Map",
    js("export default { collections: new Map([['a', {}]]) };"),
    /mjs: collections must be a plain object or list, not a Map\.$/,
  ],
  [
    "a class",
    js("export default new (class Options { port = 1; })();"),
    /the configuration must be a plain object or list, not an Options\.$/,
  ],
  [
    "a circle",
    js("const limits = {}; limits.body = limits; export default { limits };"),
    /limits\.body refers to itself/,
  ],
  [
    "two members of one name",
    { files: { "holdfast.config.json": '{"port":1,\n"port":2}' } },
    /^holdfast\.config\.json: "port" appears twice .*line 2/,
  ],
  [
    "two collections of one name",
    { files: { "holdfast.config.json": '{"collections":{"a":{"id":"integer"},"a":{}}}' } },
    /^holdfast\.config\.json: "collections\.a" appears twice/,
  ],
  [
    "a file that begins with a mark",
    { files: { "holdfast.config.json": "\ufeff{}" } },
    /json starts with a byte/,
  ],
  [
    "two files",
    { files: { "holdfast.config.ts": "", "holdfast.config.json": {} } },
    /There are several configuration files: holdfast\.config\.ts and holdfast\.config\.json\./,
  ],
];

/** Values that a schema can contain in JavaScript but not in JSON, and their messages. */
const notJson: [written: string, said: string][] = [
  ["NaN", "is NaN, which is not a JSON value"],
  ["-Infinity", "is -Infinity, which is not a JSON value"],
  ["undefined", "is undefined, which is not a JSON value: leave it out"],
  ["() => 1", "is a function, which is not a JSON value"],
  ["Symbol.iterator", "is a symbol, which is not a JSON value"],
  ["10n", "is 10n, which is not a JSON value"],
  ["new Date(0)", "must be a plain object or list, not a Date"],
  ["new Map()", "must be a plain object or list, not a Map"],
  ["[,1]", "is undefined, which is not a JSON value: leave it out"],
];

/** The service's own paths. */
const ownPaths = ["livez", "readyz", "healthz", "problems", "metrics", "openapi.json", ".well-known"];

function js(content: string): Given {
  return { files: { "holdfast.config.mjs": content } };
}

function json(content: unknown): Given {
  return { files: { "holdfast.config.json": content } };
}

test("a module may leave options undefined, share objects and hold symbols that are no members", async () => {
  const schema = "{ type: 'object', properties: { a: text, b: text }, [Symbol('kind')]: 'Object' }";
  const { config } = await load(
    js(`const text = { type: "string" };
      export default { port: undefined, collections: { notes: { schema: ${schema} } } };`),
  );
  assert.equal(config.port, 3000);
  const text = { type: "string" };
  const { schema: kept = "" } = config.collections.get("notes") ?? {};
  assert.deepEqual(JSON.parse(kept), { type: "object", properties: { a: text, b: text } });
});

test("other programs' variables, and those of our tests, are none of its business", async () => {
  const { config } = await load({
    env: { HOLDFAST_TEST_SUITES: "x", HOLDFAST_TEST_KILLS: "9", PORT: "1", holdfast: "" },
  });
  assert.equal(config.port, 3000);
});

describe("the program does not start with", () => {
  for (const [what, given, line] of errors) {
    test(`${what}, and says so in one line`, async () => {
      await assert.rejects(load(given), (error) => {
        assert.ok(error instanceof StartError, String((error as Error).stack));
        assert.match(error.message, line);
        assert.ok(!error.message.includes("\n"), error.message);
        assert.ok(!error.message.includes("secret"), "a password is not shown");
        return true;
      });
    });
  }

  for (const [written, said] of notJson) {
    test(`${written} in a schema, and says where`, async () => {
      const schema = `{ type: "object", properties: { n: { const: ${written} } } }`;
      await assert.rejects(
        load(js(`export default { collections: { a: { schema: ${schema} } } };`)),
        (error) => {
          const at = `properties/n/const${written === "[,1]" ? "/0" : ""}`;
          const line = `holdfast.config.mjs: collections.a.schema at ${at}: the value ${said}.`;
          assert.equal((error as Error).message, line);
          return error instanceof StartError;
        },
      );
    });
  }

  for (const name of ownPaths) {
    test(`a prefix below /${name}`, async () => {
      for (const prefix of [`/${name}`, `/${name}/v1`])
        await assert.rejects(
          fromFile({ prefix }),
          /prefix must not begin with \/.*, which the service uses itself/,
        );
    });
  }

  test("a collection whose path is the service's own", async () => {
    const collections = { livez: {} };
    await assert.rejects(
      fromFile({ prefix: "/", collections }),
      /collections\.livez: the service uses \/livez itself\./,
    );
    assert.ok((await fromFile({ prefix: "/api", collections })).config.collections.has("livez"));
  });

  for (const [what, around] of [
    ["nothing", ""],
    ["a timer", "const timer = setInterval(() => {}, 1_000); setTimeout(() => clearInterval(timer), 2_000);"],
  ]) {
    test(`a module that waits for ever, with ${what} to keep it`, async () => {
      const cwd = makeFolder();
      await writeFile(join(cwd, "holdfast.config.ts"), `${around}\nawait new Promise(() => {});`);
      await assert.rejects(
        loadConfig({ flags: {}, env: {}, cwd, fileDeadlineMs: 200 }),
        /^StartError: holdfast\.config\.ts did not load within 0\.2 s/,
      );
    });
  }

  for (const rate of [
    ...[60, "60/min", true, [], {}, { requests: 60 }, { perSeconds: 1 }],
    ...[
      { requests: 0, perSeconds: 60 },
      { requests: 1.5, perSeconds: 60 },
      { requests: 1, perSeconds: 86_401 },
    ],
    ...[
      { requests: "1", perSeconds: "60" },
      { requests: 1, perSeconds: 60, burst: 2 },
    ],
  ]) {
    test(`the rate limit ${JSON.stringify(rate)}`, async () => {
      await assert.rejects(fromFile({ limits: { rate } }), /limits\.rate must be an object such as/);
    });
  }

  for (const origin of [
    ...[
      "null",
      "",
      "a.example",
      "//a.example",
      "ftp://a.example",
      "https://A.example",
      "https://a.example:443",
    ],
    ...[
      "http://a.example:80",
      "https://u@a.example",
      "https://*.a.example",
      "https://a.example?",
      "https://a.example:x",
    ],
  ]) {
    test(`the origin ${JSON.stringify(origin)}, which no browser sends`, async () => {
      await assert.rejects(
        fromFile({ cors: { origins: ["loopback", origin] } }),
        /cors\.origins must be a list of/,
      );
    });
  }

  for (const trustProxy of [
    ...[true, 1, "10.0.0.1", "loopback", {}],
    ...[["loopback"], [1], [""], ["proxy.example.org"], ["10.0.0.1:80"], ["10.0.0"], ["10.0.0.1/33"]],
    ...[["0.0.0.0/0"], ["::/0"], ["10.0.0.0/08"], ["10.0.0.0/8/8"], ["fd00::/129"], ["10.0.0.0/255.0.0.0"]],
  ]) {
    test(`trustProxy ${JSON.stringify(trustProxy)}`, async () => {
      await assert.rejects(
        fromFile({ trustProxy }),
        /trustProxy must be a list of IP addresses or networks such as/,
      );
    });
  }

  for (const tls of [
    true,
    "server.pem",
    {},
    { cert: "a" },
    { cert: "", key: "b" },
    { cert: "a", key: "b", ca: "c" },
  ]) {
    test(`tls ${JSON.stringify(tls)}`, async () => {
      await assert.rejects(fromFile({ tls }), /tls must be an object with two file paths: \{ cert:/);
    });
  }

  test("requireTls where nothing could come encrypted", async () => {
    await assert.rejects(
      fromFile({ requireTls: true }),
      /requireTls: the service would refuse every request/,
    );
    const { config } = await fromFile({ requireTls: true, trustProxy: ["10.0.0.0/8", "::1"] });
    assert.deepEqual(config.http.trustProxy, ["10.0.0.0/8", "::1"]);
    assert.equal(config.http.requireTls, true);
  });

  test("hsts for the subdomains", async () => {
    const hstsOf = async (hsts: unknown) => (await fromFile({ hsts })).config.http.hstsIncludesSubDomains;
    assert.equal(await hstsOf(undefined), false);
    assert.equal(await hstsOf({ includeSubDomains: false }), false);
    assert.equal(await hstsOf({ includeSubDomains: true }), true);
  });

  test("metrics at no place, at two places, or where no caller could read them", async () => {
    const placeOf = async (metrics: unknown) => (await fromFile({ metrics })).config.metrics;
    assert.equal((await load()).config.metrics, undefined);
    assert.equal(await placeOf("administrators"), "administrators");
    assert.deepEqual(await placeOf(9464), { host: "127.0.0.1", port: 9464 });
    assert.deepEqual(await placeOf("0.0.0.0:0"), { host: "0.0.0.0", port: 0 });
    assert.deepEqual(await placeOf("[::1]:9464"), { host: "::1", port: 9464 });
    const { config } = await load({ env: { HOLDFAST_METRICS: "localhost:1" }, flags: { metrics: "2" } });
    assert.deepEqual(config.metrics, { host: "127.0.0.1", port: 2 });
    for (const metrics of [true, "admins", "", 65_536, -1, 1.5, "::1:9464", "[x]:1", "a:b", "http://h:1", {}])
      await assert.rejects(fromFile({ metrics }), /metrics must be "administrators", a port such as 9464/);
    await assert.rejects(
      fromFile({ metrics: 3000 }),
      /metrics: the service itself listens on 127\.0\.0\.1:3000\. Choose another port/,
    );
    await assert.rejects(
      fromFile({ metrics: "administrators", auth: { keys: true } }),
      /metrics: no caller could read them, because the service has no administrators\. Add auth\.administrators/,
    );
    const auth = { keys: true, administrators: { role: "ops" } };
    const guarded = (await fromFile({ metrics: "administrators", auth })).config;
    assert.equal(guarded.http.metrics, true);
  });

  test("a host beyond this machine, unless that is asked for", async () => {
    const { config } = await load({ flags: { host: "0.0.0.0", insecure: true } });
    assert.deepEqual([config.host, config.insecure], ["0.0.0.0", true]);
  });
});

test("what the tests read from the environment is not taken for a misspelled option", () => {
  const files = pathsBelow("test").filter((file) => file.endsWith(".ts"));
  const text = files.map((file) => readFileSync(file, "utf8")).join("\n");
  const read = [...text.matchAll(/process\.env\.(HOLDFAST_\w+)/g)].map(([, name]) => [name, "1"]);
  assert.ok(read.length > 5);
  requireKnownVariables(Object.fromEntries(read));
  assert.throws(() => requireKnownVariables({ HOLDFAST_PROT: "1" }), /HOLDFAST_PORT/);
});

test("editors show the text and the type of each option", () => {
  const types = withOptions("export interface HoldfastConfig extends GivenOptions {\n}");
  for (const [name, { about }] of Object.entries(options)) {
    const text = about.slice(1); // the first letter is a capital one
    const member = `${name.replace(/.*\./, "")}?: import("./config/options.ts").Given<"${name}">;`;
    assert.ok(types.includes(`${text}. @default `), name);
    assert.ok(types.includes(member), name);
  }
  assert.match(types, /^limits\?: \{\n\/\*\* Size of a request body: /m);
});

/** A value of another type and an unknown option do not compile. */
export const refused: readonly HoldfastConfig[] = [
  { port: 3000, limits: { body: "1mb", rate: { requests: 1, perSeconds: 1 } }, history: "none" },
  // @ts-expect-error
  { port: "3000" },
  // @ts-expect-error
  { limits: { bodies: 1 } },
  // @ts-expect-error
  { history: { keep: "none" } },
];
