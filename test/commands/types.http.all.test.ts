/** `holdfast types`, and the compilation of its result. Takes about fifteen seconds. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { makeFolder } from "../folder.ts";
import { auth } from "../http/access/callers.ts";
import { type ServiceOptions, startFor } from "../http/service.ts";
import { run } from "./cli.ts";

const configuration = {
  collections: {
    topics: {
      id: "integer",
      schema: {
        type: "object",
        required: ["title", "status"],
        properties: {
          title: { type: "string", description: "What it is\nabout: */ `" },
          status: { enum: ["open", "done"] },
          views: { type: ["integer", "null"], minimum: -1 },
          secret: { type: "string", writeOnly: true },
        },
      },
      defaults: { status: "open" },
      timestamps: true,
    },
    notes: {},
    choices: {
      schema: {
        type: "object",
        not: { required: ["never"] },
        required: ["a"],
        properties: { a: { type: "string" }, b: { $ref: "#/properties/a" } },
      },
      defaults: { a: "x" },
    },
    votes: {
      schema: { type: "object", properties: { topicId: { type: "integer" }, kind: { type: "string" } } },
      references: { topicId: "topics" },
    },
  },
} as const;

const usage = `
import { createClient } from "holdfast-client";
import type { Service } from "./service.d.ts";

const client = createClient<Service>({ baseUrl: "" });
export async function use(): Promise<number | null | undefined> {
  const topic = await client.topics.create({ title: "One", secret: "x" });
  const status: "open" | "done" = topic.status;
  const time: string | undefined = topic.updatedAt;
  const { a }: { a: string } = await client.choices.create({});
  await client.notes.create({ anything: [status, time, a] });
  const [vote] = await client.votes.list({ embed: { topic: true } }).all();
  const title: string | undefined = vote?.topic?.title;
  const kinds: (string | undefined)[] = (await client.topics.get(1, { embed: { votes: true } })).votes.map(
    (each) => each.kind,
  );
  await client.notes.create({ anything: [title, kinds] });
  // @ts-expect-error: no such relation
  await client.votes.list({ embed: { topik: true } }).all();
  // @ts-expect-error: nobody can read it
  topic.secret;
  // @ts-expect-error: no such collection
  client.topic;
  // @ts-expect-error: no such operator
  client.topics.list({ filter: { views: { startsWith: "1" } } });
  return (await client.topics.get(1)).views;
}
`;

test("types are written that the client understands", async (t) => {
  const cwd = makeFolder({
    "holdfast.config.json": JSON.stringify(configuration),
    "package.json": '{"type":"module"}',
    "use.ts": usage,
  });
  const options = {
    paths: { "holdfast-client": [resolve("client/src/index.ts")] },
    typeRoots: [],
    types: [],
  };
  const tsconfig = {
    extends: resolve("client/tsconfig.json"),
    compilerOptions: { ...options, rootDir: "/" },
    include: ["."],
  };
  await writeFile(join(cwd, "tsconfig.json"), JSON.stringify(tsconfig));
  const written = await run(t, ["types", "-o", "service.d.ts"], { cwd });
  assert.deepEqual([written.exitCode, written.stdout, written.stderr], [0, "", ""]);
  const shown = await run(t, ["types"], { cwd });
  assert.equal(shown.stdout, await readFile(join(cwd, "service.d.ts"), "utf8"));
  const tsc = resolve("node_modules/.bin/tsc");
  await promisify(execFile)(tsc, ["--noEmit", "-p", cwd]).catch((error: { stdout: string }) =>
    assert.fail(error.stdout),
  );
});

test("without declared collections any name has any attributes, and what cannot be written is one line", async (t) => {
  const cwd = makeFolder({});
  const { stdout } = await run(t, ["types"], { cwd });
  assert.match(stdout, /readonly collections: Record<string, object>;/);
  const failed = await run(t, ["types", "-o", "missing/service.d.ts"], { cwd });
  assert.equal(failed.exitCode, 1);
  assert.equal(
    failed.stderr,
    "holdfast: missing/service.d.ts cannot be written: its folder does not exist.\n",
  );
});

/** A service, and its address. */
async function serve(t: TestContext, options: ServiceOptions): Promise<string> {
  const service = await startFor(t, options);
  return service.origin;
}

/** A server with one response for every request with a credential, and its address. */
async function serveText(t: TestContext, text: string, token?: string): Promise<string> {
  const server = createServer(({ headers }, response) => {
    const isKnown = token === undefined || headers.authorization === `Bearer ${token}`;
    response.writeHead(isKnown ? 200 : 401).end(isKnown ? text : "");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("a running service has the types of its configuration", async (t) => {
  const { collections } = configuration;
  const cwd = makeFolder({ "holdfast.config.json": JSON.stringify(configuration) });
  const { stdout: expected } = await run(t, ["types"], { cwd });
  const origin = await serve(t, { collections, auth, prefix: "/shop/v2" });
  const elsewhere = makeFolder({});
  const written = await run(t, ["types", origin, "-o", "service.d.ts"], { cwd: elsewhere });
  assert.deepEqual([written.exitCode, written.stdout, written.stderr], [0, "", ""]);
  assert.equal(await readFile(join(elsewhere, "service.d.ts"), "utf8"), expected);
  const byBaseUrl = await run(t, ["types", `${origin}/shop/v2`], { cwd: elsewhere });
  assert.equal(byBaseUrl.stdout, expected);
});

test("attributes that are for some are in the types of the configuration, and not in those of the service", async (t) => {
  const properties = { name: { type: "string" }, salary: { type: "number" } } as const;
  const collections = {
    people: { schema: { type: "object", properties }, attributes: { salary: { roles: ["hr"] } } },
  } as const;
  const cwd = makeFolder({
    "holdfast.config.json": JSON.stringify({ collections, auth: { keys: true } }),
  });
  assert.match((await run(t, ["types"], { cwd })).stdout, /salary/);
  const { stdout } = await run(t, ["types", await serve(t, { collections, auth })], { cwd });
  assert.match(stdout, /"name"/);
  assert.doesNotMatch(stdout, /salary/);
});

test("a service that wants a credential gets the one of --token", async (t) => {
  const cwd = makeFolder({});
  const description = await fetch(`${await serve(t, {})}/openapi.json`);
  const origin = await serveText(t, await description.text(), "hf_right");
  const { stdout } = await run(t, ["types", origin, "--token", "hf_right"], { cwd });
  assert.match(stdout, /readonly collections: Record<string, object>;/);
  const failures = {
    "requires a credential. Give one with --token or HOLDFAST_TOKEN.": [origin],
    "refused the credential.": [origin, "--token", "hf_wrong"],
  };
  for (const [expected, args] of Object.entries(failures)) {
    const { exitCode, stdout, stderr } = await run(t, ["types", ...args], { cwd });
    assert.deepEqual([exitCode, stdout], [1, ""]);
    assert.equal(stderr, `holdfast: ${origin}/openapi.json ${expected}\n`);
  }
});

test("what has no types to give is one line", async (t) => {
  const cwd = makeFolder({});
  const empty = await serveText(t, "");
  const gone = createServer().listen(0, "127.0.0.1");
  await once(gone, "listening");
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  const undescribed = await serve(t, { docs: false });
  const foreign = await serveText(t, "<p>Hello");
  const failures: [args: string[], expected: RegExp][] = [
    [["localhost:3000"], /"localhost:3000" is not the URL of a service\. Give one such as http:/],
    [[`http://127.0.0.1:${port}`], /openapi\.json cannot be read: connect ECONNREFUSED/],
    [
      [undescribed],
      /openapi\.json does not exist\. Either no Holdfast service runs at that address, or it has "docs": false/,
    ],
    [[foreign], /is not an OpenAPI document\. Check that a Holdfast service runs there\./],
    [[empty], /is not an OpenAPI document/],
    [[foreign, "--config", "x.json"], /Give either the URL of a service, or --config and --store\./],
    [["--token", "x"], /--token is for a running service: give its URL too\./],
  ];
  for (const [args, expected] of failures) {
    const { exitCode, stdout, stderr } = await run(t, ["types", ...args], { cwd });
    assert.deepEqual([exitCode, stdout], [1, ""], args.join(" "));
    assert.match(stderr, expected);
    assert.match(stderr, /^holdfast: .*\n$/);
  }
});
