/** `holdfast import --to`: into a service that runs. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { makeCertificate } from "../http/certificates.ts";
import { until } from "../until.ts";
import { configuration, run, type ServiceHere, serveHere, start } from "./cli.ts";

const topics = {
  schema: {
    type: "object",
    required: ["title"],
    properties: { title: { type: "string", minLength: 1 }, year: { type: "integer" } },
  },
};

async function started(
  t: TestContext,
  files: Record<string, string>,
  options: object = {},
): Promise<{ cwd: string; service: ServiceHere; exported: () => Promise<unknown[]> }> {
  const cwd = makeFolder({ ...files, ...configuration({ topics }, options) });
  const service = await serveHere(t, {}, { cwd });
  const exported = async () =>
    (await run(t, ["export", "topics"], { cwd })).stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown);
  return { cwd, service, exported };
}

const jsonLines = (...resources: object[]) => resources.map((each) => `${JSON.stringify(each)}\n`).join("");

const a = { id: "a", title: "A", year: 1 };
const b = { id: "b", title: "B" };

for (const [file, text] of [
  ["topics.ndjson", jsonLines(a, b)],
  ["topics.json", ` ${JSON.stringify([a, b])}`],
  ["topics.csv", "id,title,year\na,A,1\nb,B,\n"],
  ["topics.tsv", "id\ttitle\tyear\na\tA\t1\nb\tB\t\n"],
] as const)
  test(`${file} is imported, also from standard input`, async (t) => {
    const { cwd, service, exported } = await started(t, { [file]: text });
    const args = ["import", "topics", file, "--to", service.base];
    const imported = await run(t, args, { cwd });
    assert.equal(imported.exitCode, 0, imported.stderr);
    assert.match(imported.stdout, /^2 resources imported into topics in \d+\.\d s\n$/);
    assert.deepEqual(await exported(), [a, b]);
    const format = file.endsWith("sv")
      ? ["--format", "csv", "--delimiter", file.endsWith(".tsv") ? "tab" : ","]
      : [];
    const again = await run(t, ["import", "topics", "-", "--to", service.origin, ...format], {
      cwd,
      input: text,
    });
    assert.equal(again.exitCode, 1);
    assert.match(again.stderr, /^ {2}(?:line|element).*: The id "a" already exists\.\n/);
    assert.match(
      again.stderr,
      /holdfast: nothing was imported: 2 of 2 resources are invalid\. Correct the input, or import the rest with --skip-invalid\.\n$/,
    );
    assert.equal(again.stdout, "");
  });

test("the report is that of an import without --to", async (t) => {
  const input =
    '{"title":"1"}\n{"id":5,"title":"2"}\n{"id":"x y","title":"3"}\n{"title":"","year":"x"}\nnull\n';
  const { cwd, service } = await started(t, {});
  const others = makeFolder(configuration({ topics }));
  for (const flags of [[], ["--skip-invalid"]]) {
    const args = ["import", "topics", "-", ...flags];
    const [local, remote] = [
      await run(t, args, { cwd: others, input }),
      await run(t, [...args, "--to", service.base], { cwd, input }),
    ];
    const ending = / in \d+\.\d s(?:; the store takes .* on disk)?\n/;
    assert.equal(remote.stdout.replace(ending, "\n"), local.stdout.replace(ending, "\n"));
    assert.equal(remote.stderr, local.stderr);
    assert.equal(remote.exitCode, local.exitCode);
  }
});

test("a dry run imports nothing", async (t) => {
  const { cwd, service, exported } = await started(t, {
    "good.ndjson": jsonLines(a, b),
    "bad.ndjson": "{}\n",
  });
  const good = await run(t, ["import", "topics", "good.ndjson", "--to", service.base, "--dry-run"], { cwd });
  assert.match(good.stdout, /^2 resources would be imported into topics in /);
  const bad = await run(t, ["import", "topics", "bad.ndjson", "--to", service.base, "--dry-run"], { cwd });
  assert.equal(bad.exitCode, 1);
  assert.match(bad.stderr, /^ {2}line 1: "title" is required/);
  assert.deepEqual(await exported(), []);
});

test("the credential comes from --token or HOLDFAST_TOKEN", async (t) => {
  const { cwd, service, exported } = await started(
    t,
    { "topics.ndjson": jsonLines(a) },
    { auth: { keys: true, administrators: { role: "ops" } } },
  );
  const keyWith = async (role: string) =>
    (await run(t, ["keys", "create", "--name", role, "--role", role], { cwd })).stdout.match(/hf_\w+/)?.[0] ??
    "";
  const [ops, other] = [await keyWith("ops"), await keyWith("editor")];
  const args = ["import", "topics", "topics.ndjson", "--to", service.base];
  for (const [flags, env, says] of [
    [[], {}, /administrator with --token or HOLDFAST_TOKEN/],
    [["--token", other], { HOLDFAST_TOKEN: ops }, /topics\/_import does not exist/],
    [["--token", "hf_wrong"], {}, /refused the credential/],
  ] as const) {
    const refused = await run(t, [...args, ...flags], { cwd, env });
    assert.equal(refused.exitCode, 1);
    assert.match(refused.stderr, says);
    assert.ok(!refused.stderr.includes(other));
  }
  const imported = await run(t, args, { cwd, env: { HOLDFAST_TOKEN: ops } });
  assert.equal(imported.exitCode, 0, imported.stderr);
  assert.deepEqual(await exported(), [a]);
});

test("a file over the limit is refused before it is sent", async (t) => {
  const { cwd, service } = await started(
    t,
    { "topics.ndjson": jsonLines({ id: "a", title: randomBytes(4_000_000).toString("hex") }) },
    { limits: { import: "1mb" } },
  );
  const args = ["import", "topics", "topics.ndjson", "--to", service.base];
  const { stderr, exitCode } = await run(t, args, { cwd });
  assert.equal(exitCode, 1);
  assert.match(stderr, /The body is larger than the limit of 1048576 bytes/);
});

test("another server, and one that is not there, are named in one line", async (t) => {
  const cwd = makeFolder({ "topics.ndjson": jsonLines(a) });
  const other = createServer((_request, response) => response.writeHead(500).end("oops"));
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const args = ["import", "topics", "topics.ndjson", "--to", origin];
  const strange = await run(t, args, { cwd });
  assert.match(
    strange.stderr,
    /^holdfast: http:\/\/127\.0\.0\.1:\d+ responded with status 500\. Nothing was imported\.\n$/,
  );
  other.close();
  const gone = await run(t, args, { cwd });
  assert.match(
    gone.stderr,
    /^holdfast: http:\/\/127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED.*\. Nothing was imported\.\n$/,
  );
});

test("a service with encryption is imported into if its certificate is trusted", async (t) => {
  const certificate = await makeCertificate();
  const { cwd, service, exported } = await started(
    t,
    { "topics.ndjson": jsonLines(a) },
    { tls: certificate.files },
  );
  const args = ["import", "topics", "topics.ndjson", "--to", service.base];
  const refused = await run(t, args, { cwd });
  assert.match(refused.stderr, /cannot be reached: self-signed certificate.* Nothing was imported\.\n$/);
  const env = { NODE_EXTRA_CA_CERTS: certificate.files.cert };
  const imported = await start(t, args, { cwd, env }).ended;
  assert.equal(imported.exitCode, 0, imported.stderr);
  assert.deepEqual(await exported(), [a]);
});

test("a collection can be named then, and a blank file has no resources", async (t) => {
  const cwd = makeFolder({ "blank.ndjson": " \n\n", "one.ndjson": jsonLines(a) });
  const service = await serveHere(t, {}, { cwd });
  for (const [file, says] of [
    ["one.ndjson", /^1 resource imported into then in /],
    ["blank.ndjson", /^0 resources imported into then in /],
  ] as const) {
    const imported = await run(t, ["import", "then", file, "--to", service.base], { cwd });
    assert.match(imported.stdout, says, imported.stderr);
  }
});

test("the import waits for its response longer than fetch would", async (t) => {
  const cwd = makeFolder({ "topics.ndjson": jsonLines(a) });
  const held: ServerResponse[] = [];
  const slow = createServer((request, response) => request.on("end", () => held.push(response)).resume());
  await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    slow.closeAllConnections();
    slow.close();
  });
  const origin = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  impatientFetch(t);
  const importing = run(t, ["import", "topics", "topics.ndjson", "--to", origin], { cwd });
  await until("the file has arrived", () => held.length === 1);
  await assert.rejects(fetch(origin), /fetch failed/); // it began later than the import
  const none = { count: 0, first: [] };
  const tallies = { generatedIds: none, replacedIds: none, stringIds: none };
  const report = { resources: 1, imported: 1, invalid: 0, complete: true, errors: [], ...tallies };
  held[0]?.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(report));
  const { stdout, stderr } = await importing;
  assert.match(stdout, /^1 resource imported into topics in /, stderr);
});

/** Makes \`fetch\` wait for the headers of a response as briefly as it can, until the test ends. Its usual wait is five minutes. */
function impatientFetch(t: TestContext): void {
  const all = globalThis as unknown as Record<symbol, { constructor: new (options: object) => never }>;
  const name = Symbol.for("undici.globalDispatcher.2");
  const usual = all[name];
  assert.ok(usual !== undefined);
  all[name] = new usual.constructor({ headersTimeout: 1 });
  t.after(() => {
    all[name] = usual;
  });
}

test("a connection that breaks after the file is sent leaves open what happened", async (t) => {
  const cwd = makeFolder({ "topics.ndjson": jsonLines(a, b) });
  const broken = createServer((request, { socket }) => {
    request.on("end", () => socket?.destroy()).resume();
  });
  await new Promise<void>((resolve) => broken.listen(0, "127.0.0.1", resolve));
  t.after(() => broken.close());
  const origin = `http://127.0.0.1:${(broken.address() as AddressInfo).port}`;
  const { exitCode, stderr } = await run(t, ["import", "topics", "topics.ndjson", "--to", origin], { cwd });
  assert.equal(exitCode, 1);
  assert.match(
    stderr,
    /^holdfast: The connection to http:\/\/127\.0\.0\.1:\d+ broke before the response arrived\. Check whether /,
  );
});

test("a signal ends the import while it is sent", async (t) => {
  const cwd = makeFolder();
  const server = createServer((request) => request.resume());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const importing = start(t, ["import", "topics", "-", "--to", origin], { cwd });
  importing.process.stdin?.write(jsonLines(a));
  await once(server, "request");
  importing.process.kill("SIGINT");
  const { exitCode, stderr } = await importing.ended;
  assert.equal(
    stderr,
    "holdfast: interrupted; nothing was imported, unless the service had read everything\n",
  );
  assert.equal(exitCode, 130);
});

test("options that contradict each other are refused", async (t) => {
  const cwd = makeFolder({ "topics.ndjson": "", "db.json": "{}" });
  for (const [args, says] of [
    [["topics", "topics.ndjson", "--token", "x"], /--token is for a running service: give its URL with --to/],
    [["db.json", "--to", "http://localhost:1"], /With --to, name a collection/],
    [["topics", "topics.ndjson", "--to", "localhost:3000"], /is not the URL of a service/],
    [["topics", "topics.ndjson", "--to", "http://u:p@localhost"], /cannot contain a credential/],
    [
      ["topics", "topics.ndjson", "--to", "http://localhost", "--store", "sqlite:x.db"],
      /Give either the URL/,
    ],
    [["topics", "topics.ndjson", "--to", "http://localhost", "--delimiter", ";"], /--delimiter is for CSV/],
  ] as const) {
    const { exitCode, stderr } = await run(t, ["import", ...args], { cwd });
    assert.equal(exitCode, 1);
    assert.match(stderr, says);
  }
});
