/**
 * The calls that front ends of json-server usually make, to a service with the configuration that `holdfast init` writes. The calls are
 * those of the guide, and json-server 0.17 itself says what the answers were.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { cp, mkdir, symlink } from "node:fs/promises";
import type { Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { run, serveHere } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { codesIn, readPage, tableOf } from "../pages/markdown.ts";
import { database } from "./database.ts";

const guide = readPage("docs/how-to/come-from-json-server.md");

/** A call of the guide, and whether the guide says that it works as before. */
interface Call {
  text: string;
  isSame: boolean;
}

const callsOf = (version: string): Call[] =>
  tableOf(guide, `json-server ${version}`, "here").map(([call = "", here = ""]) => ({
    text: codesIn(call).join(" "),
    isSame: /^the same\b/.test(here),
  }));

/** The status of each call that the guide describes as different. */
const different: Readonly<Record<string, number>> = {
  "GET /posts/999": 404,
  "GET /posts?unknown=1": 200,
  "GET /posts?_page=2": 200,
  "GET /posts?title_like=^title": 200,
  "GET /comments?q=thing": 200,
  "GET /posts/1?_embed=likes": 400,
  "GET /posts/1/likes": 404,
  'POST /posts/1/comments {"text":"new"}': 201,
  'PUT /posts/3 {"title":"put"}': 400,
  'PATCH /posts/4 {"author":{"age":1}}': 200,
  "DELETE /comments/3": 205,
  "DELETE /posts/1": 409,
  'POST /posts {"id":99,"title":"own"}': 201,
  "GET /profile": 200,
  'PATCH /profile {"name":"x"}': 405,
  "GET /db": 404,
  "GET /posts?_page=2&_per_page=5": 200,
  'GET /posts?_where={"views":{"gte":20}}': 400,
  "DELETE /posts/2?_dependent=comments": 400,
};

/** How version 0.17 is asked for the same. */
const inOlder: Readonly<Record<string, string>> = {
  "GET /posts?_sort=-views": "GET /posts?_sort=views&_order=desc",
  "GET /posts?views:gte=20": "GET /posts?views_gte=20",
  "GET /posts?title:contains=5": "GET /posts?title_like=5",
  "GET /posts?id:in=1,2": "GET /posts?id=1&id=2",
  "GET /posts?_embed=comments": "GET /posts?_embed=comments",
  "GET /comments?_embed=post": "GET /comments?_expand=post",
};

interface Answer {
  status: number;
  body: unknown;
}

async function ask(origin: string, call: string): Promise<Answer & { headers: Headers }> {
  const [, method, path, body] = /^(\S+) (\S+) ?(.*)$/.exec(call) as unknown as string[];
  const content = body === "" ? {} : { body: String(body), headers: { "content-type": "application/json" } };
  const response = await fetch(origin + path, { method: String(method), ...content });
  const text = await response.text();
  return { status: response.status, body: text === "" ? "" : JSON.parse(text), headers: response.headers };
}

/** A folder with the configuration that the command writes, and with the data. */
async function prepareDatabase(t: TestContext): Promise<string> {
  const cwd = makeFolder({ "db.json": JSON.stringify(database) });
  await mkdir(join(cwd, "node_modules"));
  await symlink(resolve("."), join(cwd, "node_modules", "holdfast"), "junction");
  for (const args of [
    ["init", "db.json"],
    ["import", "db.json"],
  ]) {
    const { exitCode, stderr } = await run(t, args, { cwd });
    assert.equal(exitCode, 0, stderr);
  }
  return cwd;
}

let prepared: Promise<string> | undefined;

/** A service with the configuration and the data, in a folder of its own. */
async function serveDatabase(t: TestContext): Promise<string> {
  prepared ??= prepareDatabase(t);
  const cwd = makeFolder({});
  await cp(await prepared, cwd, { recursive: true });
  return (await serveHere(t, {}, { cwd, env: { HOLDFAST_PREFIX: "/" } })).origin;
}

/** json-server 0.17 with the same data. */
async function serveOriginal(t: TestContext): Promise<string> {
  const original = createRequire(import.meta.url)("json-server");
  const application = original.create();
  application.use(original.bodyParser);
  application.use(original.router(structuredClone(database)));
  const server: Server = application.listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("the calls of the guide work as before where it says so, and nowhere else", async (t) => {
  const [here, original] = [await serveDatabase(t), await serveOriginal(t)];
  const calls = callsOf("0.17");
  assert.ok(calls.length >= 27 && calls.filter(({ isSame }) => isSame).length >= 20);
  for (const { text, isSame } of calls) {
    const [{ status, body }, before] = [await ask(here, text), await ask(original, text)];
    const isEqual = { status, body };
    if (isSame) assert.deepEqual(isEqual, { status: before.status, body: before.body }, text);
    else {
      assert.notDeepEqual(isEqual, { status: before.status, body: before.body }, text);
      assert.equal(status, different[text], `${text}: ${JSON.stringify(body)}`);
    }
  }
});

test("the calls of version 1 do what those of the version before did, where the guide says so", async (t) => {
  const [here, original] = [await serveDatabase(t), await serveOriginal(t)];
  for (const { text, isSame } of callsOf("1.0")) {
    const { status, body } = await ask(here, text);
    if (!isSame) assert.equal(status, different[text], `${text}: ${JSON.stringify(body)}`);
    else {
      const before = await ask(original, String(inOlder[text]));
      assert.deepEqual({ status, body }, { status: before.status, body: before.body }, text);
    }
  }
});

test("every call that is different is in the guide", () => {
  const texts = [...callsOf("0.17"), ...callsOf("1.0")]
    .filter(({ isSame }) => !isSame)
    .map(({ text }) => text);
  assert.deepEqual(texts.toSorted(), Object.keys(different).toSorted());
});

test("what the guide says of the different calls is so", async (t) => {
  const origin = await serveDatabase(t);
  const read = async (call: string) => (await ask(origin, call)).body;
  const page = await ask(origin, "GET /posts?_page=2&_limit=5");
  assert.equal(page.headers.get("x-total-count"), "12");
  assert.match(String(page.headers.get("link")), /<\/posts\?limit=5&offset=10>; rel="next"/);
  assert.equal(((await read("GET /posts?title:startsWith=title")) as unknown[]).length, 12);
  assert.deepEqual(await read("GET /profile/1"), { id: 1, name: "typicode" });
  assert.deepEqual(await read('PATCH /profile/1 {"name":"x"}'), { id: 1, name: "x" });
  assert.match(JSON.stringify(await read("GET /posts/1?_embed=likes")), /give \\"likes\\" the option/);
  const { headers } = await ask(origin, "GET /posts/1/likes");
  assert.match(String(headers.get("holdfast-hint")), /give "likes" the option "references"/);
  assert.match(
    JSON.stringify(await read("DELETE /posts/2?_dependent=comments")),
    /set \\"onDelete\\" of their reference to \\"cascade\\"/,
  );
  const envelope = (await read("GET /posts?_page=2&_per_page=5&envelope=true")) as object;
  assert.ok(!Array.isArray(envelope));
  const filtered = (await read('GET /posts?filter={"views":{"gte":20}}')) as unknown[];
  assert.deepEqual(filtered, await read("GET /posts?views_gte=20"));
  // New ids count on, and come last: 1, 2, … 9, 10, 11, 12, 13.
  assert.deepEqual(await read('POST /posts {"title":"new"}'), { id: 13, title: "new" });
  const ids = ((await read("GET /posts")) as { id: number }[]).map(({ id }) => id);
  assert.deepEqual(
    ids,
    Array.from({ length: 13 }, (_, n) => n + 1),
  );
});
