/** The examples of the guides for clients, as they stand there; only the address of the service is another. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { DataProvider } from "ra-core";
import { makeFolder } from "../folder.ts";
import { blocksOf, readPage } from "../pages/markdown.ts";
import { type Fixture, ownTopic, type Topic, useFixture } from "./fixture.ts";

interface Loaded {
  dataProvider: DataProvider;
  holdfast: Refine;
  withErrors: Refine;
  withToken: (url: string) => Promise<{ json: unknown }>;
  filters: Parameters<Refine["getList"]>[0]["filters"];
  pagination: Parameters<Refine["getList"]>[0]["pagination"];
}

type Refine = ReturnType<typeof import("@refinedev/simple-rest").default>;

const packages = ["ra-data-simple-rest", "ra-data-json-server", "@refinedev/simple-rest", "axios"];

/** Writes the code blocks of a guide as one module into the folder with the packages, and loads it. */
async function load(text: string, { url }: Fixture): Promise<Loaded> {
  const folder = makeFolder();
  const link = async (name: string, target: string) => {
    const path = join(folder, "node_modules", name);
    await mkdir(dirname(path), { recursive: true });
    await symlink(resolve(target), path, "junction");
  };
  for (const name of packages)
    await link(
      name,
      ["test/node_modules", "node_modules"].map((each) => join(each, name)).find(existsSync) ?? name,
    );
  await link("holdfast-react-admin", "react-admin");
  // ra-core is the part of react-admin that shows nothing; react-admin exports all of it.
  await link("react-admin", "node_modules/ra-core");
  const file = join(folder, "dataProvider.mjs");
  await writeFile(file, text.replaceAll("http://localhost:3000/api/v1", url));
  return (await import(pathToFileURL(file).href)) as Loaded;
}

/** The JavaScript of a guide. It also exports its declarations. */
function codeOf(guide: string): string {
  const blocks = blocksOf(readPage(`docs/how-to/${guide}.md`)).filter(({ language }) => language === "js");
  assert.ok(blocks.length > 0);
  const code = blocks.map(({ text }) => `${text}\n`).join("");
  return code.replaceAll(/^const (filters|pagination) /gm, "export const $1 ");
}

/** A server that responds to each request with an array of the request's credential. Returns its address. */
async function startEcho(t: TestContext): Promise<string> {
  const server = createServer(({ headers }, response) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify([headers.authorization]));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The storage of a browser, with a token. */
function storeToken(t: TestContext): void {
  const storage = { getItem: (name: string) => (name === "token" ? "hf_one" : null) };
  const before = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
  Object.defineProperty(globalThis, "localStorage", { value: storage, configurable: true });
  t.after(() => before && Object.defineProperty(globalThis, "localStorage", before));
}

const fixture = useFixture("declared");

describe("the guide for react-admin", () => {
  const list = { pagination: { page: 1, perPage: 5 }, sort: { field: "views", order: "DESC" as const } };

  const guide = codeOf("react-admin");

  for (const name of ["ra-data-simple-rest", "ra-data-json-server"])
    test(`works with ${name}`, async () => {
      const { dataProvider } = await load(guide.replaceAll("ra-data-simple-rest", name), fixture);
      const { id } = await ownTopic(fixture, { views: 2000 });
      const filter = { views_gte: 100, title_like: "o" };
      const { data, total } = await dataProvider.getList<Topic>("topics", { ...list, filter });
      assert.deepEqual([data.map(({ views }) => views), total], [[2000, 110, 100], 3]);
      assert.deepEqual(await dataProvider.deleteMany("topics", { ids: [id] }), { data: [id] });
    });

  test("sends a token", async (t) => {
    storeToken(t);
    const { withToken } = await load(guide, fixture);
    assert.deepEqual((await withToken(await startEcho(t))).json, ["Bearer hf_one"]);
  });
});

describe("the guide for refine", () => {
  const resource = "topics";

  test("works, with the filters and the page that it shows", async () => {
    const { holdfast, filters, pagination } = await load(codeOf("refine"), fixture);
    assert.equal((await holdfast.getList({ resource, pagination: pagination ?? {} })).data.length, 12);
    const topic = await ownTopic(fixture, { title: "Topic with a city" });
    assert.deepEqual(await holdfast.getList({ resource, filters: filters ?? [] }), {
      data: [topic],
      total: 1,
    });
  });

  test("sends a token", async (t) => {
    storeToken(t);
    const { withErrors } = await load(codeOf("refine"), { ...fixture, url: await startEcho(t) });
    assert.deepEqual((await withErrors.getList({ resource })).data, ["Bearer hf_one"]);
  });

  test("tells what is wrong with each field", async (t) => {
    storeToken(t);
    const { withErrors } = await load(codeOf("refine"), fixture);
    const create = withErrors.create({ resource, variables: { views: "many" } });
    await assert.rejects(create, ({ statusCode, message, errors }) => {
      assert.equal(statusCode, 400);
      assert.ok(message);
      assert.ok("views" in errors);
      return true;
    });
  });

  test("has the total of a list without a page size only without filters", async () => {
    const { holdfast } = await load(codeOf("refine"), fixture);
    for (let n = 0; n < 101; n++) await fixture.service.create("topics", { title: "Many", views: 5 });
    const pagination = { mode: "off" } as const;
    const filters = [{ field: "views", operator: "eq", value: 5 } as const];
    const all = await holdfast.getList({ resource, pagination });
    assert.equal(all.data.length, 100);
    assert.ok(all.total > 101, String(all.total));
    const filtered = await holdfast.getList({ resource, pagination, filters });
    assert.deepEqual([filtered.data.length, filtered.total], [100, 100]);
    const paged = await holdfast.getList({
      resource,
      filters,
      pagination: { currentPage: 1, pageSize: 1000 },
    });
    assert.deepEqual([paged.data.length, paged.total], [101, 101]);
  });
});
