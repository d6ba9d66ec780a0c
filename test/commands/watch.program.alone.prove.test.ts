import assert from "node:assert/strict";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { describeDifferences } from "../../src/commands/serve/differences.ts";
import { makeFolder } from "../folder.ts";
import { follow } from "../http/follow.ts";
import { until } from "../until.ts";
import {
  configuration,
  halfSent,
  listening,
  type RunningService,
  run,
  serve,
  start,
  stop,
  untilDeaf,
} from "./cli.ts";

const json = { "content-type": "application/json" };

/** Serves on a free port, and restarts when the configuration changes. */
const watch = (t: TestContext, cwd: string, args: readonly string[] = []) =>
  serve(t, ["--watch", ...args], { cwd });

/** Saves a file as many editors do: replaces the file at once. */
async function replace(cwd: string, name: string, content: string): Promise<void> {
  await writeFile(join(cwd, "saved~"), content);
  await rename(join(cwd, "saved~"), join(cwd, name));
}

const save = async (cwd: string, collections: object, others?: object) => {
  for (const [name, content] of Object.entries(configuration(collections, others)))
    await replace(cwd, name, content);
};

const says = (service: Pick<RunningService, "output">, text: string | RegExp) =>
  until(`the service says ${text}`, () => {
    const { stderr } = service.output();
    return typeof text === "string" ? stderr.includes(text) : text.test(stderr);
  });

const status = async (url: string, init?: RequestInit) => (await fetch(url, init)).status;

/** Waits until a path is answered like this; while it restarts, the service takes no connections. */
const answers = (url: string, expected: number) =>
  until(`${url} is ${expected}`, () =>
    status(url).then(
      (actual) => actual === expected,
      () => false,
    ),
  );

/** How often the service has said that it listens, and where. */
const addresses = ({ output }: Pick<RunningService, "output">) =>
  [...output().stdout.matchAll(/listens on +(\S+)/g)].map(([, address]) => address);

const title = { title: { type: "string" } };

test("a changed configuration restarts the service on the same port, and the difference is printed", async (t) => {
  const schema = { type: "object", properties: title };
  const cwd = makeFolder(configuration({ articles: { schema } }));
  const service = await watch(t, cwd);
  assert.equal(await status(`${service.base}/users`), 404);
  const closed = { type: "object", properties: { ...title, year: { type: "integer" } }, required: ["title"] };
  await save(cwd, { articles: { schema: closed, indexes: ["year"] }, users: {} });
  await answers(`${service.base}/users`, 200);
  await until("the service says where it listens", () => addresses(service).length === 2);
  assert.deepEqual(addresses(service), [service.base, service.base]);
  assert.match(
    (await stop(service)).stderr,
    /(?<=^holdfast: )The configuration has changed, and the service restarts:\n {2}collections\.articles: attribute year added; now requires title; index on year added\n {2}collections\.users: added\n/m,
  );
});

test("a changed rule ends the streams, and applies to the next connection with the same position", async (t) => {
  const rules = (read: object | string) => ({ topics: { access: { read, write: "public" } } });
  const auth = { auth: { keys: true } };
  const cwd = makeFolder(configuration(rules("public"), auth));
  const service = await watch(t, cwd);
  const create = (content: object) =>
    status(`${service.base}/topics`, { method: "POST", headers: json, body: JSON.stringify(content) });
  const path = "/api/v1/topics/_events";
  const stream = await follow({ port: Number(new URL(service.origin).port) }, path);
  t.after(() => stream.close());
  assert.equal(await create({ n: 1, state: "draft" }), 201);
  await stream.take(1);
  await save(cwd, rules({ where: { state: "open" } }), auth);
  await stream.untilEnded();
  assert.match(stream.text(), /retry: \d+\n\n$/, "it says when to come back");
  await until("the service has restarted", () => addresses(service).length === 2);
  const again = await follow({ port: Number(new URL(service.origin).port) }, path, {
    "last-event-id": stream.lastId() ?? "",
  });
  t.after(() => again.close());
  assert.equal(await create({ n: 2, state: "draft" }), 201);
  assert.equal(await create({ n: 3, state: "open" }), 201);
  await again.take(1);
  assert.deepEqual(
    [...stream.events(), ...again.events()].map(({ data }) => data.n),
    [1, 3],
  );
  await save(cwd, rules("authenticated"), auth);
  await again.untilEnded();
  await answers(`${service.origin}${path}`, 401);
  await stop(service);
});

test("the end of a watched service is that of any service", async (t) => {
  const service = await watch(t, makeFolder());
  assert.deepEqual(await stop(service).then(({ exitCode, signal }) => ({ exitCode, signal })), {
    exitCode: 0,
    signal: null,
  });
  await untilDeaf(service);
});

test("a file that the configuration imports is watched too, a helper of the helper and one without effect", async (t) => {
  const cwd = makeFolder({
    "holdfast.config.ts":
      'import { collections } from "./collections.ts"; console.error("it is read"); export default { collections };',
    "collections.ts":
      'import data from "./names.json" with { type: "json" }; export const collections = Object.fromEntries(data.map((name: string) => [name, {}]));',
    "names.json": '["first"]',
  });
  const service = await watch(t, cwd);
  assert.equal(await status(`${service.base}/second`), 404);
  await replace(cwd, "names.json", '["first", "second"]');
  await answers(`${service.base}/second`, 200);
  await replace(
    cwd,
    "collections.ts",
    "export const collections = { third: {} }; // names.json is of no use now",
  );
  await answers(`${service.base}/third`, 200);
  await replace(cwd, "collections.ts", "export const collections = { third: {} }; // the same");
  const reads = () => service.output().stderr.split("it is read\n").length - 1;
  await until("the comment is read", () => reads() >= 4);
  await replace(cwd, "holdfast.config.ts", "export default { collections: { fourth: {} } };");
  await answers(`${service.base}/fourth`, 200);
  await until("the service says where it listens", () => addresses(service).length >= 4);
  await stop(service);
  assert.equal(addresses(service).length, 4, "a comment restarts nothing");
});

test("all faults of a changed configuration are printed, and the service goes on until they are gone", async (t) => {
  const cwd = makeFolder(configuration({ articles: {} }));
  const service = await watch(t, cwd);
  await save(cwd, { articles: { id: "uuid4" } }, { prot: 1 });
  await says(service, "holdfast: The service keeps the previous configuration");
  assert.match(
    service.output().stderr,
    /^holdfast: the configuration has 2 errors:\n {2}\S+: collections\.articles\.id must be [^\n]+\n {2}\S+: .*prot.*\n/m,
  );
  assert.equal(await status(`${service.base}/articles`), 200);
  await replace(cwd, "holdfast.config.json", '{"collections":');
  await says(service, /holdfast\.config\.json is not /);
  assert.equal(addresses(service).length, 1);
  await save(cwd, { users: {} });
  await answers(`${service.base}/users`, 200);
});

test("a service that cannot start waits for a configuration with which it can", async (t) => {
  const cwd = makeFolder({ "holdfast.config.mjs": 'import "./missing.mjs"; export default {' });
  const running = start(t, ["serve", "--watch", "--port", "0"], { cwd });
  await says(
    running,
    "holdfast: The service does not run. It starts when a file of the configuration changes.",
  );
  await replace(
    cwd,
    "holdfast.config.mjs",
    'import collections from "./missing.mjs"; export default { collections };',
  );
  await says(running, /Cannot find module/);
  await replace(cwd, "missing.mjs", "export default { found: {} };");
  assert.equal(await status(`${await listening(running)}/api/v1/found`), 200);
});

test("Ctrl-C ends a service that waits for a sound configuration, with the exit code of its failure", async (t) => {
  const cwd = makeFolder({ "holdfast.config.json": "{" });
  const running = start(t, ["serve", "--watch"], { cwd });
  await says(running, "The service does not run.");
  running.process.kill("SIGINT");
  const { exitCode, signal } = await running.ended;
  assert.deepEqual({ exitCode, signal }, { exitCode: 1, signal: null });
});

test("open mode ends when a file appears, and comes back when it is removed", async (t) => {
  const cwd = makeFolder();
  const service = await watch(t, cwd);
  assert.equal(await status(`${service.base}/things`), 200);
  await save(cwd, { topics: {} });
  await answers(`${service.base}/things`, 404);
  await says(service, "  collections.topics: added\n");
  await rm(join(cwd, "holdfast.config.json"));
  await answers(`${service.base}/things`, 200);
  await says(service, "  collections.topics: removed\n");
});

test("a second configuration file is an error while both exist", async (t) => {
  const cwd = makeFolder(configuration({ topics: {} }));
  const service = await watch(t, cwd);
  await replace(cwd, "holdfast.config.ts", "export default { collections: { users: {} } };");
  await says(
    service,
    "holdfast: There are several configuration files: holdfast.config.ts and holdfast.config.json. Remove all but one",
  );
  assert.equal(await status(`${service.base}/topics`), 200);
  await rm(join(cwd, "holdfast.config.json"));
  await answers(`${service.base}/users`, 200);
});

test("what the store holds is compared with a changed schema before the service is stopped", async (t) => {
  const cwd = makeFolder(configuration({ articles: {} }));
  const service = await watch(t, cwd);
  const created = await status(`${service.base}/articles`, {
    method: "POST",
    headers: json,
    body: '{"year":1949}',
  });
  assert.equal(created, 201);
  const articles = { schema: { type: "object", required: ["title"] } };
  await save(cwd, { articles });
  await says(service, "and 1 of its 1 resources does not fit it");
  assert.equal(await status(`${service.base}/articles`), 200);
  assert.equal(addresses(service).length, 1);
});

test("a request that is under way when the service restarts is answered", async (t) => {
  const cwd = makeFolder(configuration({ things: {} }));
  const service = await watch(t, cwd);
  const request = await halfSent(service);
  await save(cwd, { things: {}, users: {} });
  await untilDeaf(service);
  request.finish();
  assert.match(await request.answer, /^HTTP\/1\.1 201 /);
  await answers(`${service.base}/users`, 200);
});

test("of many saves in a row the last one is served", async (t) => {
  const cwd = makeFolder(configuration({ things: {} }));
  const service = await watch(t, cwd);
  const path = join(cwd, "holdfast.config.json");
  for (let n = 1; n <= 200; n++) {
    await writeFile(path, "");
    await writeFile(path, JSON.stringify({ collections: { [`c${n}`]: {} } }));
  }
  await answers(`${service.base}/c200`, 200);
});

test("a second signal does not wait for a request that is under way", async (t) => {
  const service = await watch(t, makeFolder());
  const { socket } = await halfSent(service);
  service.process.kill("SIGTERM");
  await untilDeaf(service);
  service.process.kill("SIGTERM");
  const { exitCode, signal } = await service.ended;
  assert.deepEqual({ exitCode, signal }, { exitCode: 1, signal: null });
  socket.destroy();
});

test("no service is left when the watcher is killed", async (t) => {
  const service = await watch(t, makeFolder());
  service.process.kill("SIGKILL");
  await untilDeaf(service);
});

test("a service that cannot have its store says so, and starts when the configuration changes", async (t) => {
  const cwd = makeFolder(configuration({ things: {} }));
  const holder = await serve(t, [], { cwd });
  const running = start(t, ["serve", "--watch", "--port", "0"], { cwd });
  await says(running, "The service does not run.");
  await stop(holder);
  await save(cwd, { users: {} });
  assert.equal(await status(`${await listening(running)}/api/v1/users`), 200);
});

test("a service that is killed is missed, and another one starts when the configuration changes", async (t) => {
  const cwd = makeFolder(configuration({ things: {} }));
  const service = await watch(t, cwd);
  const { pid } = service.process;
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  process.kill(Number(children), "SIGKILL");
  await says(service, "It starts when a file of the configuration changes.");
  await save(cwd, { users: {} });
  await answers(`${service.base}/users`, 200);
});

test("a configuration that ends the program does not end the watched service", async (t) => {
  const cwd = makeFolder({ "holdfast.config.mjs": "export default { collections: { things: {} } };" });
  const service = await watch(t, cwd);
  await replace(cwd, "holdfast.config.mjs", "process.exit(0);");
  await says(service, "holdfast.config.mjs ended the program");
  await says(service, "The service keeps the previous configuration");
  assert.equal(await status(`${service.base}/things`), 200);
});

test("without --watch a changed configuration changes nothing", async (t) => {
  const { exitCode, stderr } = await run(t, ["serve", "--wach"], { cwd: makeFolder() });
  assert.equal(exitCode, 1);
  assert.match(stderr, /--watch/);
});

const differences: readonly { what: string; before: object; after: object; lines: string[] }[] = [
  { what: "nothing", before: { port: 1 }, after: { port: 1 }, lines: [] },
  { what: "a value", before: { port: 1 }, after: { port: 2 }, lines: ["port: 1 → 2"] },
  {
    what: "a new value",
    before: {},
    after: { limits: { body: "2mb" } },
    lines: ['limits.body: added "2mb"'],
  },
  { what: "a removed value", before: { docs: false }, after: {}, lines: ["docs: removed"] },
  {
    what: "a long value",
    before: { hosts: "a".repeat(50) },
    after: { hosts: "b" },
    lines: ["hosts: changed"],
  },
  {
    what: "a list",
    before: { cors: { origins: ["https://a.example", "https://b.example"] } },
    after: { cors: { origins: ["https://b.example", "https://c.example"] } },
    lines: ['cors.origins: added "https://c.example"; removed "https://a.example"'],
  },
  {
    what: "the order of a list",
    before: { hosts: ["a", "b"] },
    after: { hosts: ["b", "a"] },
    lines: ["hosts: order changed"],
  },
  {
    what: "the store",
    before: { store: "postgres://u:first@h/d" },
    after: { store: "postgres://u:second@h/d" },
    lines: ["store: changed"],
  },
  {
    what: "auth",
    before: { auth: { jwt: { issuer: "a" } } },
    after: { auth: { keys: true, jwt: { issuer: "b", secret: "s" } } },
    lines: ["auth.jwt.issuer: changed", "auth.jwt.secret: added", "auth.keys: added"],
  },
  {
    what: "collections",
    before: { collections: { a: {}, b: { id: "integer" } } },
    after: { collections: { b: { id: "uuid", search: ["title"] }, c: { schema: {} } } },
    lines: [
      "collections.a: removed",
      'collections.b: id "integer" → "uuid"; search added ["title"]',
      "collections.c: added",
    ],
  },
  {
    what: "a schema and indexes",
    before: {
      collections: {
        a: { schema: { required: ["b"], properties: { b: {}, d: { maxLength: 5 } } }, indexes: ["b"] },
      },
    },
    after: {
      collections: {
        a: {
          schema: { required: ["c"], properties: { c: {}, d: { maxLength: 9 } } },
          indexes: [["b", "-c"]],
        },
      },
    },
    lines: [
      "collections.a: now requires c; no longer requires b; attribute b removed; schema.properties.d.maxLength 5 → 9; attribute c added; index on b, -c added; index on b removed",
    ],
  },
];

for (const { what, before, after, lines } of differences)
  test(`the difference in ${what} is described`, () => {
    assert.deepEqual(describeDifferences(before as never, after as never), lines);
  });

test("the difference that the command line reference shows is one that is printed", async () => {
  const page = await readFile("docs/reference/command-line.md", "utf8");
  const [, shown = ""] = /and the service restarts:\n((?: {2}.+\n)+)/.exec(page) ?? [];
  const before = { collections: { articles: { schema: {} } }, port: 3000 };
  const after = {
    collections: { articles: { schema: { required: ["title"] }, indexes: ["year"] } },
    port: 4000,
  };
  assert.deepEqual(
    describeDifferences(before, after).map((line) => `  ${line}\n`),
    shown.match(/.+\n/g),
  );
});
