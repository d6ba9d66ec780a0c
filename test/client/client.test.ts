/** The typed client against a service. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import {
  type Client,
  createClient,
  etagOf,
  NotFoundError,
  ProblemError,
  problemCodes,
} from "../../client/src/index.ts";
import { problems } from "../../src/errors.ts";
import { type Service, startService } from "../http/service.ts";
import { until } from "../until.ts";
import { config, probe } from "./config.ts";

test("the client knows every code of the service, and no other", () => {
  assert.deepEqual(problemCodes, Object.keys(problems));
});

test("the client imports nothing but itself", () => {
  for (const file of readdirSync("client/src"))
    for (const [, from] of readFileSync(`client/src/${file}`, "utf8").matchAll(
      /(?:from|import\()\s*"([^"]+)"/g,
    ))
      assert.match(from ?? "", /^\.\/[a-z-]+\.ts$/, file);
});

describe("the client", () => {
  let service: Service;
  let client: Client<typeof config>;
  before(async () => {
    service = await startService({ collections: config.collections, probe });
    client = createClient<typeof config>({ baseUrl: `${service.origin}/api/v1/` });
  });
  after(() => service.stop());

  test("creates, reads, replaces, patches and deletes", async () => {
    const { articles } = client;
    const created = await articles.create({ title: "One", views: 1 });
    assert.deepEqual({ ...created }.status, "draft");
    const read = await articles.get(created.id);
    assert.deepEqual(read, created);
    const replaced = await articles.replace({ ...read, title: "Two" });
    assert.deepEqual([replaced.title, etagOf(replaced)], ["Two", '"2"']);
    const patched = await articles.patch(replaced, { views: null });
    assert.deepEqual(Object.keys(patched).sort(), ["id", "status", "title"]);
    const pointed = await articles.patch(patched, [{ op: "add", path: "/tags", value: ["a"] }]);
    assert.deepEqual(pointed.tags, ["a"]);
    assert.equal(await articles.delete(pointed), undefined);
    await assert.rejects(articles.get(created.id), NotFoundError);
    await assert.rejects(articles.delete(created.id), NotFoundError);
  });

  test("reads integer ids and service-made timestamps, and chosen attributes", async () => {
    const { books } = client;
    const { id, createdAt } = await books.create({ title: "Emma", year: 1815 });
    assert.equal(typeof id, "number");
    assert.match(createdAt ?? "", /^\d{4}-/);
    const cut = await books.get(id, { fields: ["title"] });
    assert.deepEqual(JSON.parse(JSON.stringify(cut)), { id, title: "Emma" });
  });

  test("finds the name of a collection that looks like something else", async () => {
    assert.equal(await Promise.resolve(client), client);
    assert.equal(client.notes, client.notes);
    const open = createClient({ baseUrl: `${service.origin}/api/v1` }) as unknown as {
      toString: Client<typeof config>["notes"];
    };
    await assert.rejects(async () => open.toString.list().page(), NotFoundError);
  });

  test("reads the list of collections", async () => {
    const names = Object.keys(config.collections).sort();
    const expected = names.map((name) => ({ name, href: `/api/v1/${name}` }));
    assert.deepEqual(await client.$collections(), expected);
    await assert.rejects(client.$collections({ signal: AbortSignal.abort(new Error("enough")) }), /enough/);
  });

  test("tells a problem by its code, and what is wrong with each attribute", async () => {
    const wrong = client.articles.create({ title: "" });
    await assert.rejects(wrong, (error) => {
      assert.ok(error instanceof ProblemError);
      assert.deepEqual([error.status, error.code], [400, "VALIDATION_FAILED"]);
      assert.deepEqual(error.errors, { title: "must have at least 1 character" });
      assert.equal(error.problem.violations?.[0]?.pointer, "#/title");
      assert.match(error.message, /title/);
      return true;
    });
  });

  test("carries out a batch whole, with references and what it gives", async () => {
    const { articles, $batch } = client;
    const old = await articles.create({ title: "Old" });
    const [made, changed, gone] = await $batch(({ articles }) => {
      const made = articles.create({ title: "New" });
      return [made, articles.patch(made, { views: 5 }), articles.delete(old)];
    });
    assert.deepEqual([made.title, changed.views, gone], ["New", 5, undefined]);
    assert.equal((await articles.replace({ ...changed, views: 6 })).views, 6, "the ETag came with it");
    const refused = $batch(({ articles }) => [articles.create({ title: "Not there" }), articles.delete(old)]);
    await assert.rejects(refused, (error) => error instanceof ProblemError && error.problem.operation === 1);
    assert.deepEqual(await articles.list({ filter: { title: "Not there" } }).all(), []);
  });

  test("makes no text of an id that is not known yet", async () => {
    const plan = client.$batch(({ articles }) => [
      articles.create({ title: `after ${articles.create({ title: "a" }).id}` }),
    ]);
    await assert.rejects(async () => plan, TypeError);
  });

  describe("lists", () => {
    before(async () => {
      for (let views = 0; views < 7; views++)
        await client.notes.create({ title: `note ${views}`, views, odd: views % 2 === 1 });
    });
    const viewsOf = (items: readonly Record<string, unknown>[]) => items.map(({ views }) => views);

    test("every resource, page after page", async () => {
      const seen: unknown[] = [];
      for await (const { views } of client.notes.list({ sort: "-views", limit: 2 })) seen.push(views);
      assert.deepEqual(seen, [6, 5, 4, 3, 2, 1, 0]);
    });

    test("pages, with the number of resources", async () => {
      const pages = [];
      for await (const page of client.notes.list({ limit: 3, offset: 1 }).pages()) pages.push(page);
      assert.deepEqual(
        pages.map(({ items }) => viewsOf(items)),
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
      );
      assert.deepEqual([pages[0]?.total, pages[0]?.limit], [7, 3]);
      assert.equal((await client.notes.list({ limit: 100_000 }).page()).limit, 1_000);
      const { items, total } = await client.notes
        .list({ limit: 1, filter: { odd: true }, count: "exact" })
        .page();
      assert.deepEqual([viewsOf(items), total], [[1], 3]);
    });

    test("by filter, sort and chosen attributes", async () => {
      const filter = { views: { gte: 2 }, or: [{ odd: true }, { views: 6 }] };
      const list = client.notes.list({ filter, sort: ["odd", "-views"], fields: ["views"] });
      const found = await list.all();
      assert.deepEqual(viewsOf(found), [6, 5, 3]);
      assert.deepEqual(Object.keys(found[0] ?? {}), ["id", "views"]);
      assert.deepEqual(viewsOf(await list.all()), [6, 5, 3], "a list can be walked again");
    });

    test("as of a time, page after page", async () => {
      const made = await client.books.create({ title: "One", kind: "poems", year: 1 });
      await client.books.create({ title: "Two", kind: "poems", year: 2 });
      const at = new Date();
      await until("the clock goes on", () => Date.now() > at.getTime() + 1);
      await client.books.patch(made, { year: 3 });
      await client.books.create({ title: "Four", kind: "poems", year: 4 });
      const years = async (time: Date | number | string, more: readonly number[] = []) => {
        const year = more.length === 0 ? { gt: 0 } : { in: more };
        const list = client.books.list({ at: time, limit: 1, filter: { kind: "poems", year } });
        return (await list.all()).map((book) => book.year);
      };
      assert.deepEqual(await years(at), [1, 2]);
      assert.deepEqual(await years(at.getTime()), [1, 2]);
      assert.deepEqual(await years("2999-01-01"), [3, 2, 4]);
      const long = Array.from({ length: 800 }, (_, n) => n + 100_000);
      assert.deepEqual(await years(at, [1, 3, ...long]), [1], "in the body of a QUERY");
    });

    test("by words, beyond the first page", async () => {
      for (const n of [1, 2, 3]) await client.articles.create({ title: `searched ${n}` });
      const found = await client.articles.list({ q: "searched", limit: 2 }).all();
      assert.equal(found.length, 3);
    });

    test("by a filter that is too long for a URL, page after page", async () => {
      const views = [...Array(7).keys(), ...Array.from({ length: 800 }, (_, n) => n + 100_000)];
      const list = client.notes.list({ filter: { views: { in: views } }, sort: ["-views"], limit: 3 });
      assert.deepEqual(viewsOf(await list.all()), [6, 5, 4, 3, 2, 1, 0]);
    });
  });
});
