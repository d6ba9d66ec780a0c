/** Runs the examples of the reference as printed: loads configurations, sends requests, and compares the responses with the page. */
import assert from "node:assert/strict";
import { mkdir, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { loadConfig } from "../../src/config.ts";
import { folder, run } from "../commands/cli.ts";
import {
  type Answer,
  type Request,
  type Service,
  type ServiceOptions,
  startService,
} from "../http/service.ts";
import { lineOf, nodesOf, pageFiles, readPage } from "./markdown.ts";

/** A block of code. */
interface Block {
  place: string;
  language: string;
  text: string;
}

function blocksOf(file: string): Block[] {
  return nodesOf(readPage(file), "code").map((node) => ({
    place: `${file}:${lineOf(node)}`,
    language: node.lang ?? "",
    text: node.value,
  }));
}

/** The text of the only block of a page that looks like this. */
function blockLike(file: string, pattern: RegExp): string {
  const found = blocksOf(file).filter(({ text }) => pattern.test(text));
  assert.equal(found.length, 1, `${file} has ${found.length} blocks like ${pattern}`);
  return found[0]?.text ?? "";
}

async function serviceOf(t: TestContext, options: ServiceOptions = {}): Promise<Service> {
  const service = await startService(options);
  t.after(() => service.stop());
  return service;
}

/** The request of a block: a line with method and path, header fields, an empty line and the body. */
function requestOf(text: string): Request {
  const [head = "", body] = text.split("\n\n");
  const [line = "", ...fields] = head.split("\n");
  const [method = "", path = ""] = line.split(" ");
  const headers = Object.fromEntries(fields.map((field) => field.split(": ") as [string, string]));
  return { method, path, headers, ...(body === undefined ? {} : { body }) };
}

/** JSON text with every time, group and identifier replaced, since no page can know them. */
const general = (text: string): unknown =>
  JSON.parse(
    text
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>")
      .replaceAll(/("group": ?)"[^"]*"/g, '$1"<group>"')
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uuid>"),
  );

test("every configuration of the pages is accepted", async (t) => {
  const found = pageFiles
    .flatMap(blocksOf)
    .filter(({ text }) => text.includes("export default defineConfig("));
  assert.ok(found.length >= 15, `${found.length} configurations`);
  for (const { place, language, text } of found) {
    const import_ = text.includes('from "holdfast"') ? "" : 'import { defineConfig } from "holdfast";\n';
    const cwd = await folder(t, { [`holdfast.config.${language}`]: import_ + text });
    await mkdir(join(cwd, "node_modules"));
    await symlink(resolve("."), join(cwd, "node_modules", "holdfast"), "junction");
    const { collections } = await loadConfig({ cwd, env: {}, flags: {} });
    assert.equal(collections.size > 0, text.includes("collections: {"), place);
  }
});

test("the faults of the configuration reference are those that the command prints", async (t) => {
  const [command = "", ...lines] = blockLike(
    "docs/reference/configuration.md",
    /^\$ npx holdfast serve/,
  ).split("\n");
  const properties = { placedAt: { type: "string", format: "datetime" } };
  const collections = { articles: { id: "uuid4" }, orders: { schema: { type: "object", properties } } };
  const cwd = await folder(t, { "holdfast.config.ts": `export default ${JSON.stringify({ collections })};` });
  const { stderr } = await run(t, command.replace("$ npx holdfast ", "").split(" "), { cwd });
  assert.deepEqual(stderr.trimEnd().split("\n"), lines);
});

test("the changes of the history reference are those that the service gives", async (t) => {
  const service = await serviceOf(t);
  const { id, path } = await service.create("topics", { title: "One" });
  const page = "docs/reference/history.md";
  await service.send({ method: "PUT", path, content: { id, title: "Two" } });
  const operations = [
    { method: "PATCH", path: `/topics/${id}`, body: { title: "Three" } },
    { method: "POST", path: "/topics", body: {} }, // changes that are made together have a group
  ];
  const patched = await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
  assert.equal(patched.status, 200, patched.text);
  await service.send({ method: "DELETE", path });
  const withId = (text: string) => text.replace(/topics\/[0-9a-f-]{36}/, `topics/${id}`);
  const changes = await service.send(requestOf(withId(blockLike(page, /^GET .*_changes/))));
  assert.deepEqual(general(changes.text), general(blockLike(page, /^\[\n {2}\{ "version"/)));
  const restored = await service.send(
    requestOf(withId(blockLike(page, /^POST \S+topics\/[0-9a-f-]{36}\/_restore/))),
  );
  assert.equal(restored.status, 201, restored.text);
  assert.deepEqual(restored.json, { id, title: "Three" });
});

test("a request of the reference of retries with a key takes effect once", async (t) => {
  const service = await serviceOf(t);
  const request = {
    ...requestOf(blockLike("docs/reference/retries.md", /^POST [^\n]+\nIdempotency-Key/)),
    content: { title: "Hello" },
  };
  const first = await service.send(request);
  assert.equal(first.status, 201, first.text);
  const again = await service.send(request);
  assert.deepEqual(
    [again.status, again.text, again.headers["idempotent-replayed"]],
    [201, first.text, "true"],
  );
});

test("the links of the reference of lists are those of a list", async (t) => {
  const service = await serviceOf(t);
  for (const title of ["A", "B", "C"]) await service.create("topics", { title });
  const link = blockLike("docs/reference/lists.md", /^Link: /).replaceAll(/\n\s+/g, " ");
  const [, path = ""] = /<([^>]+)>; rel="first"/.exec(link) ?? [];
  const { headers } = await service.send({ path });
  assert.equal(
    `Link: ${headers.link?.replace(/cursor=[^&>]+/, "cursor=AbC").replace(/since=[^&>]+/, "since=PqR")}`,
    link,
  );
});

test("the list of collections of the reference is that of a service", async (t) => {
  const service = await serviceOf(t, { collections: { articles: {}, authors: {} } });
  const { json } = await service.send({ path: "/api/v1" });
  assert.deepEqual(json, JSON.parse(blockLike("docs/reference/resources.md", /^\{\s*"collections"/)));
});

test("a resource with timestamps is like the one of the reference", async (t) => {
  const service = await serviceOf(t, { collections: { topics: { timestamps: true } } });
  const { path } = await service.create("topics", { title: "Winter" });
  const { text }: Answer = await service.send({ path });
  const shown = blockLike("docs/reference/collections.md", /^\{[^[]*"createdAt"/);
  assert.deepEqual(general(text), general(shown));
  assert.deepEqual(Object.keys(JSON.parse(text)), Object.keys(JSON.parse(shown)));
});

test("the problem of the reference of errors is the one that a service gives", async (t) => {
  const schema = { type: "object", properties: { title: { type: "string", minLength: 1 } } };
  const service = await serviceOf(t, { collections: { topics: { schema } } });
  const { status, text } = await service.send({
    method: "POST",
    path: "/api/v1/topics",
    content: { title: "" },
  });
  assert.equal(status, 400);
  assert.deepEqual(
    general(text),
    general(blockLike("docs/reference/errors.md", /^\{\s*"type": "\/problems\//)),
  );
});

test("a response has the rate limit headers that the reference of limits shows", async (t) => {
  const service = await serviceOf(t, { rate: { requests: 600, perSeconds: 60 } });
  const { headers } = await service.send({ path: "/api/v1/topics" });
  const told = [`RateLimit-Policy: ${headers["ratelimit-policy"]}`, `RateLimit: ${headers.ratelimit}`];
  const seconds = (text: string) => text.replace(/;t=\d+$/, ";t=<seconds>");
  assert.deepEqual(
    told.map(seconds),
    blockLike("docs/reference/limits.md", /^RateLimit/)
      .split("\n")
      .map(seconds),
  );
});
