/** react-admin's data providers for REST services, as they come from npm, and what `holdfast-react-admin` adds. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { type DataProvider, fetchUtils, HttpError } from "ra-core";
import jsonServerProvider from "ra-data-json-server";
import simpleRestProvider from "ra-data-simple-rest";
import { holdfastDataProvider } from "../../react-admin/src/index.ts";
import { type ServiceOptions, startFor } from "../http/service.ts";
import { type Fixture, kept, modes, ownTopic, type Topic, trickyTexts, useFixture } from "./fixture.ts";

const providers = {
  "ra-data-simple-rest": simpleRestProvider,
  "ra-data-json-server": jsonServerProvider,
} as const;

const httpClient = fetchUtils.fetchJson;

type Make = (url: string) => DataProvider;

const pagination = { page: 1, perPage: 25 };
const sort = { field: "id", order: "ASC" } as const;

const titles = (topics: readonly Topic[]) => topics.map(({ title }) => title.replace("Topic ", "")).join("");

for (const mode of modes) {
  describe(`${mode} collections`, () => {
    // Tests that write have their own service, so that the other tests know the resources.
    const fixture = useFixture(mode);
    const changing = useFixture(mode);
    for (const [name, provider] of Object.entries(providers)) {
      const plain: Make = (url) => provider(url, httpClient);
      const completed: Make = (url) => holdfastDataProvider(provider(url, httpClient), { url, httpClient });
      describe(`${name}, as it comes`, () => {
        reads(plain, fixture);
        if (mode === "declared") searches(plain, fixture);
        writesPlain(plain, changing);
      });
      describe(`${name}, with holdfastDataProvider`, () => {
        reads(completed, fixture);
        readsMore(completed, fixture);
        writes(completed, changing);
        if (mode === "declared") refusals(completed, changing);
      });
    }
  });
}

describe("what the providers do by themselves", () => {
  const fixture = useFixture("open");

  test("ra-data-json-server lists everything where getMany asks for no ids", async () => {
    const provider = jsonServerProvider(fixture.url, httpClient);
    assert.equal((await provider.getMany("topics", { ids: [] })).data.length, 12);
  });

  test("ra-data-simple-rest sends nested filters in a way that is refused", async () => {
    const provider = simpleRestProvider(fixture.url, httpClient);
    const filter = { author: { name: "Author 1" } };
    const list = provider.getList("topics", { pagination, sort, filter });
    await assert.rejects(list, { status: 400, message: /"author.name"/ });
  });
});

for (const [name, provider] of Object.entries(providers)) {
  test(`${name} works with ids that are integers`, async (t) => {
    const service = await startFor(t, { collections: { numbers: { id: "integer" } } });
    const url = `${service.origin}/api/v1`;
    const numbers = holdfastDataProvider(provider(url, httpClient), { url, httpClient });
    const created = [];
    for (const n of [3, 2, 1]) created.push((await numbers.create("numbers", { data: { n } })).data);
    assert.deepEqual(created[0], { id: 1, n: 3 });
    assert.deepEqual((await numbers.getMany("numbers", { ids: [1, "3"] })).data, [created[0], created[2]]);
    assert.deepEqual(await numbers.getList("numbers", { pagination, sort, filter: { id: 2 } }), {
      data: [created[1]],
      total: 1,
    });
    const descending = { field: "id", order: "DESC" } as const;
    const { data } = await numbers.getList("numbers", { pagination, sort: descending, filter: {} });
    assert.deepEqual(data, created.toReversed());
    const update = { id: "2", data: { id: 2, n: 5 }, previousData: created[1] };
    assert.deepEqual((await numbers.update("numbers", update)).data, { id: 2, n: 5 });
    assert.deepEqual((await numbers.getOne("numbers", { id: 2 })).data, { id: 2, n: 5 });
    await numbers.updateMany("numbers", { ids: [1, 3], data: { n: 0 } });
    await numbers.deleteMany("numbers", { ids: [2, 3] });
    const rest = await numbers.getList("numbers", { pagination, sort, filter: {} });
    assert.deepEqual(rest, { data: [{ id: 1, n: 0 }], total: 1 });
  });
}

function reads(make: Make, fixture: Fixture): void {
  const list = (params: object) =>
    make(fixture.url).getList<Topic>("topics", { pagination, sort, filter: {}, ...params });

  test("getList gives all with their total", async () => {
    assert.deepEqual(await list({}), { data: fixture.topics, total: 12 });
  });

  test("getList gives a page, the last one, and an empty one behind it", async () => {
    const page = async (n: number) => {
      const { data, total } = await list({ pagination: { page: n, perPage: 5 } });
      return [titles(data), total];
    };
    assert.deepEqual(await page(1), ["abcde", 12]);
    assert.deepEqual(await page(3), ["kl", 12]);
    assert.deepEqual(await page(4), ["", 12]);
  });

  test("getList takes as many as react-admin's export asks for", async () => {
    const { data } = await list({ pagination: { page: 1, perPage: 1000 } });
    assert.equal(data.length, 12);
  });

  for (const [field, order, expected] of [
    ["title", "DESC", "lkjihgfedcba"],
    ["views", "ASC", "abcdefghijkl"],
    ["views", "DESC", "lkjihgfedcba"],
    ["published", "ASC", "bdfhjlacegik"],
    ["author.name", "ASC", "adgjbehkcfil"],
  ] as const) {
    test(`getList sorts by ${field}, ${order}`, async () => {
      const { data } = await list({ sort: { field, order } });
      assert.equal(titles(data), expected);
    });
  }

  for (const [filter, expected] of [
    [{ title: "Topic c" }, "c"],
    [{ title: ["Topic c", "Topic e"] }, "ce"],
    [{ views: 30 }, "d"],
    [{ published: true }, "acegik"],
    [{ published: false, views_gte: 70 }, "hjl"],
    [{ views_gt: 30, views_lte: 60 }, "efg"],
    [{ views_lt: 30, title_ne: "Topic a" }, "bc"],
    [{ title_like: "TOPIC K" }, "k"],
    [{ "author.name": "Author 1" }, "behk"],
    [{ title: "Topic" }, ""],
  ] as const) {
    test(`getList filters by ${JSON.stringify(filter)}`, async () => {
      const { data, total } = await list({ filter });
      assert.equal(titles(data), expected);
      assert.equal(total, expected.length);
    });
  }

  test("getList filters, sorts and pages together", async () => {
    const { data, total } = await list({
      filter: { published: true },
      sort: { field: "views", order: "DESC" },
      pagination: { page: 2, perPage: 4 },
    });
    assert.deepEqual([titles(data), total], ["ca", 6]);
  });

  test("getOne gives the resource", async () => {
    const [topic] = fixture.topics;
    assert.deepEqual(await make(fixture.url).getOne("topics", { id: topic?.id }), { data: topic });
  });

  test("getOne of nothing fails with status 404", async () => {
    await assert.rejects(
      make(fixture.url).getOne("topics", { id: "0197f0a0-0000-7000-8000-000000000000" }),
      (error) => error instanceof HttpError && error.status === 404 && error.message === "Not Found",
    );
  });

  test("getMany gives those with the ids", async () => {
    const wanted = fixture.topics.filter((_, n) => n % 4 === 0);
    const { data } = await make(fixture.url).getMany("topics", { ids: wanted.map(({ id }) => id) });
    assert.deepEqual(data, wanted);
  });

  test("getMany leaves out ids that are not there", async () => {
    const [topic] = fixture.topics;
    const ids = ["0197f0a0-0000-7000-8000-000000000000", topic?.id];
    assert.deepEqual(await make(fixture.url).getMany("topics", { ids }), { data: [topic] });
  });

  test("getManyReference gives those that refer to the id, by pages", async () => {
    const comments = (params: object) =>
      make(fixture.url).getManyReference("comments", {
        target: "topic_id",
        id: fixture.topics[0]?.id ?? "",
        pagination,
        sort,
        filter: {},
        ...params,
      });
    assert.deepEqual(await comments({}), { data: fixture.comments, total: 3 });
    const descending = { field: "text", order: "DESC" };
    assert.deepEqual(await comments({ sort: descending, pagination: { page: 2, perPage: 1 } }), {
      data: [fixture.comments[1]],
      total: 3,
    });
    assert.deepEqual(await comments({ filter: { text: "first" } }), {
      data: [fixture.comments[0]],
      total: 1,
    });
  });
}

/** What works without anything added, and why something is added. */
function writesPlain(make: Make, fixture: Fixture): void {
  test("create gives the resource with its id", async () => {
    const { data } = await make(fixture.url).create<Topic>("topics", { data: { title: "New" } });
    assert.equal(data.title, "New");
    assert.deepEqual(await kept(fixture, data.id), data);
  });

  test("a filter finds what has just that text", async () => {
    const topics = [];
    for (const title of trickyTexts) topics.push(await ownTopic(fixture, { title, views: -1 }));
    for (const topic of topics) {
      const filter = { title: topic.title, views: -1 };
      const { data } = await make(fixture.url).getList("topics", { pagination, sort, filter });
      assert.deepEqual(data, [topic]);
    }
    const ids = topics.map(({ id }) => id);
    await Promise.all(ids.map((id) => make(fixture.url).delete("topics", { id })));
  });

  test("update with the whole resource replaces it", async () => {
    const topic = await ownTopic(fixture);
    const data = { id: topic.id, title: "Changed" };
    const update = make(fixture.url).update("topics", { id: topic.id, data, previousData: topic });
    assert.deepEqual(await update, { data });
    assert.deepEqual(await kept(fixture, topic.id), data);
  });

  test("delete removes it", async () => {
    const { id } = await ownTopic(fixture);
    assert.deepEqual(await make(fixture.url).delete("topics", { id }), { data: undefined });
    assert.equal(await kept(fixture, id), undefined);
  });

  test("deleteMany fails at an answer without content", async () => {
    const { id } = await ownTopic(fixture);
    await assert.rejects(make(fixture.url).deleteMany("topics", { ids: [id] }), TypeError);
  });

  test("getMany fails with more ids than fit in one request", async () => {
    const ids = Array.from({ length: 300 }, () => "0197f0a0-0000-7000-8000-000000000000");
    await assert.rejects(make(fixture.url).getMany("topics", { ids }), { status: 414 });
  });

  test("updateMany is refused, since it replaces a resource by a part of one", async () => {
    const topic = await ownTopic(fixture);
    const change = make(fixture.url).updateMany("topics", { ids: [topic.id], data: { views: 1 } });
    await assert.rejects(change, { name: "HttpError", status: 400 });
    assert.deepEqual(await kept(fixture, topic.id), topic);
  });
}

function readsMore(make: Make, fixture: Fixture): void {
  test("a filter as a form gives it reaches nested attributes", async () => {
    const filter = { author: { name: "Author 1" }, published: true };
    const { data } = await make(fixture.url).getList<Topic>("topics", { pagination, sort, filter });
    assert.equal(titles(data), "ek");
  });

  test("getMany takes more ids than fit in one request", async () => {
    const others = Array.from(
      { length: 290 },
      (_, n) => `0197f0a0-0000-7000-8000-${String(n).padStart(12, "0")}`,
    );
    const ids = [...others, ...fixture.topics.map(({ id }) => id)];
    assert.deepEqual(await make(fixture.url).getMany("topics", { ids }), { data: fixture.topics });
  });

  test("getMany of no ids gives none", async () => {
    assert.deepEqual(await make(fixture.url).getMany("topics", { ids: [] }), { data: [] });
  });
}

function writes(make: Make, fixture: Fixture): void {
  test("create gives the resource with its id", async () => {
    const { data } = await make(fixture.url).create<Topic>("topics", { data: { title: "New" } });
    assert.equal(data.title, "New");
    assert.deepEqual(await kept(fixture, data.id), data);
  });

  test("update changes what differs from before, and leaves what another client changed", async () => {
    const previousData = await ownTopic(fixture);
    const { id } = previousData;
    await make(fixture.url).update("topics", { id, data: { views: 5 }, previousData });
    const data = { ...previousData, title: "Changed" };
    const { data: updated } = await make(fixture.url).update("topics", { id, data, previousData });
    assert.deepEqual(updated, { ...previousData, title: "Changed", views: 5 });
    assert.deepEqual(await kept(fixture, id), updated);
  });

  test("update removes what the form has cleared, at the top and further in", async () => {
    const previousData = await ownTopic(fixture);
    const { id, title } = previousData;
    const data = { ...previousData, views: null, published: undefined, author: { name: "Us" } };
    await make(fixture.url).update("topics", { id, data, previousData });
    assert.deepEqual(await kept(fixture, id), { id, title, author: { name: "Us" } });
  });

  test("update without what was before changes the given attributes", async () => {
    const topic = await ownTopic(fixture);
    const params = { id: topic.id, data: { views: 6 }, previousData: undefined };
    assert.deepEqual(await make(fixture.url).update("topics", params), { data: { ...topic, views: 6 } });
  });

  test("updateMany changes the given attributes of each", async () => {
    const topics = [await ownTopic(fixture), await ownTopic(fixture, { title: "Own too" })];
    const ids = topics.map(({ id }) => id);
    const changed = await make(fixture.url).updateMany("topics", { ids, data: { published: true } });
    assert.deepEqual(changed, { data: ids });
    for (const topic of topics)
      assert.deepEqual(await kept(fixture, topic.id), { ...topic, published: true });
  });

  test("delete gives what was deleted, or its id", async () => {
    const previousData = await ownTopic(fixture);
    const { id } = previousData;
    assert.deepEqual(await make(fixture.url).delete("topics", { id, previousData }), { data: previousData });
    assert.equal(await kept(fixture, id), undefined);
    const { id: other } = await ownTopic(fixture);
    assert.deepEqual(await make(fixture.url).delete("topics", { id: other }), { data: { id: other } });
  });

  test("deleteMany gives the ids", async () => {
    const ids = [(await ownTopic(fixture)).id, (await ownTopic(fixture)).id];
    assert.deepEqual(await make(fixture.url).deleteMany("topics", { ids }), { data: ids });
    for (const id of ids) assert.equal(await kept(fixture, id), undefined);
  });

  test("deleteMany of something that is gone fails with status 404", async () => {
    const { id } = await ownTopic(fixture);
    const ids = ["0197f0a0-0000-7000-8000-000000000000", id];
    await assert.rejects(make(fixture.url).deleteMany("topics", { ids }), { name: "HttpError", status: 404 });
  });
}

/** What needs `search` in the configuration. */
function searches(make: Make, fixture: Fixture): void {
  test("a search input finds the words, with filters beside it", async () => {
    const search = (filter: object) =>
      make(fixture.url).getList<Topic>("topics", { pagination, sort, filter });
    assert.equal(titles((await search({ q: "TOPIC k" })).data), "k");
    assert.deepEqual(await search({ q: "nothing" }), { data: [], total: 0 });
    const { data, total } = await search({ q: "topic", published: true, views_gte: 40 });
    assert.deepEqual([titles(data), total], ["egik", 4]);
  });

  test("a search where nothing can be searched is refused", async () => {
    const search = make(fixture.url).getList("comments", { pagination, sort, filter: { q: "first" } });
    await assert.rejects(search, { status: 400, message: /declares no attributes for full-text search/ });
  });
}

function refusals(make: Make, fixture: Fixture): void {
  test("what the schema refuses is told beside the fields of a form", async () => {
    const previousData = await ownTopic(fixture);
    const { id } = previousData;
    for (const attempt of [
      () => make(fixture.url).create("topics", { data: { title: "x", views: "many" } }),
      () => make(fixture.url).update("topics", { id, data: { views: "many" }, previousData }),
    ])
      await assert.rejects(attempt, (error) => {
        assert.ok(error instanceof HttpError);
        assert.equal(error.status, 400);
        assert.deepEqual(Object.keys(error.body.errors), ["views"]);
        return true;
      });
  });
}

for (const [name, provider] of Object.entries(providers)) {
  describe(`${name}, with holdfastDataProvider and references`, () => {
    const text = { type: "string" };
    const collections = {
      authors: { schema: { type: "object", properties: { name: text } } },
      tags: { id: "integer", schema: { type: "object", properties: { name: text } } },
      posts: {
        schema: {
          type: "object",
          properties: {
            title: text,
            authorId: text,
            authorIds: { type: "array", items: text },
            tagIds: { type: "array", items: { type: "integer" } },
          },
        },
        references: {
          authorId: { collection: "authors", as: "author", inverse: "posts" },
          authorIds: { collection: "authors", as: "authors", inverse: "written" },
          tagIds: { collection: "tags", as: "tags", inverse: "tagged" },
        },
      },
    } as const;

    async function start(t: TestContext, options: ServiceOptions = { collections }) {
      const service = await startFor(t, options);
      const url = `${service.origin}/api/v1`;
      const sent: string[] = [];
      const counting: typeof httpClient = (address, options) => {
        sent.push(`${options?.method ?? "GET"} ${String(address).slice(url.length)}`);
        return httpClient(address, options);
      };
      const admin = holdfastDataProvider(provider(url, counting), { url, httpClient: counting });
      const create = async (collection: string, attributes: object) =>
        (await admin.create(collection, { data: attributes })).data;
      return { service, admin, sent, create };
    }

    test("getManyReference finds a reference in a list", async (t) => {
      const { admin, sent, create } = await start(t);
      const [ann, ben] = [await create("authors", { name: "Ann" }), await create("authors", { name: "Ben" })];
      const [red, blue] = [await create("tags", { name: "Red" }), await create("tags", { name: "Blue" })];
      const one = await create("posts", { title: "One", authorIds: [ann.id, ben.id], tagIds: [red.id] });
      const two = await create("posts", { title: "Two", authorIds: [ben.id], tagIds: [red.id, blue.id] });
      const referring = (target: string, id: string, filter = {}) =>
        admin.getManyReference("posts", { target, id, pagination, sort, filter });
      assert.deepEqual(await referring("authorIds", ann.id), { data: [one], total: 1 });
      assert.deepEqual(await referring("tagIds", red.id), { data: [one, two], total: 2 });
      const before = sent.length;
      assert.deepEqual(await referring("authorIds", ben.id, { title: "Two" }), { data: [two], total: 1 });
      assert.equal(sent.length - before, 1, "the second request knows that it is a list");
      await assert.rejects(referring("authorIds", ben.id, { nothing: 1 }), {
        status: 400,
        message: /nothing/,
      });
      await assert.rejects(referring("wrong", ben.id), {
        status: 400,
        message: /is not an attribute of "posts"/,
      });
    });

    test("getManyReference finds a reference in a list in open mode with _like", async (t) => {
      const { admin, create } = await start(t, {});
      const post = await create("posts", { authorIds: ["a", "b"] });
      const params = { target: "authorIds_like", id: "b", pagination, sort, filter: {} };
      assert.deepEqual(await admin.getManyReference("posts", params), { data: [post], total: 1 });
    });

    test("meta.embed adds related resources", async (t) => {
      const { admin, create } = await start(t);
      const ann = await create("authors", { name: "Ann" });
      const red = await create("tags", { name: "Red" });
      const attributes = { authorId: ann.id, tagIds: [red.id] };
      const one = { ...(await create("posts", { title: "One", ...attributes })), author: ann, tags: [red] };
      const two = { ...(await create("posts", { title: "Two", ...attributes })), author: ann, tags: [red] };
      const meta = { embed: ["author", "tags"] };
      const all = { pagination, sort, filter: {}, meta };
      assert.deepEqual(await admin.getOne("posts", { id: one.id, meta }), { data: one });
      assert.deepEqual(await admin.getMany("posts", { ids: [one.id, two.id], meta }), { data: [one, two] });
      assert.deepEqual(await admin.getList("posts", all), { data: [one, two], total: 2 });
      const second = {
        ...all,
        pagination: { page: 2, perPage: 1 },
        sort: { field: "title", order: "DESC" },
      } as const;
      assert.deepEqual(await admin.getList("posts", second), { data: [one], total: 2 });
      const filter = { author: { name: "Ann" }, title_like: "tw" };
      assert.deepEqual(await admin.getList("posts", { ...all, filter }), { data: [two], total: 1 });
      for (const [target, { id }] of [
        ["authorId", ann],
        ["tagIds", red],
      ] as const)
        assert.deepEqual(await admin.getManyReference("posts", { ...all, target, id }), {
          data: [one, two],
          total: 2,
        });
      const { data } = await admin.getOne("authors", { id: ann.id, meta: { embed: "posts(limit:1)" } });
      assert.deepEqual(data.posts.length, 1);
      await assert.rejects(admin.getList("posts", { ...all, meta: { embed: ["nothing"] } }), { status: 400 });
    });

    test("updateMany and deleteMany are one request, and change all resources or none", async (t) => {
      const { service, admin, sent, create } = await start(t);
      const made = [];
      for (const n of [1, 2, 3]) made.push(await create("posts", { title: String(n) }));
      const ids = made.map(({ id }) => id);
      sent.length = 0;
      await admin.updateMany("posts", { ids, data: { title: "Same" } });
      assert.deepEqual(sent, ["POST /posts/_bulk"]);
      const ann = await create("authors", { name: "Ann" });
      const ben = await create("authors", { name: "Ben" });
      await create("posts", { authorId: ben.id });
      await assert.rejects(admin.updateMany("posts", { ids, data: { title: 5 } }), { status: 400 });
      await assert.rejects(admin.deleteMany("authors", { ids: [ann.id, ben.id] }), { status: 409 });
      assert.equal((await service.send({ path: `/api/v1/authors/${ann.id}` })).status, 200);
      sent.length = 0;
      assert.deepEqual(await admin.deleteMany("posts", { ids }), { data: ids });
      assert.deepEqual(sent, ["POST /posts/_bulk"]);
      assert.deepEqual(await admin.deleteMany("posts", { ids: [] }), { data: [] });
      assert.equal(sent.length, 1);
      await assert.rejects(admin.updateMany("posts", { ids, data: { title: "Gone" } }), { status: 404 });
    });

    test("updateMany sends resources that are too large together one by one", async (t) => {
      const { admin, sent, create } = await start(t, {});
      const ids = [];
      for (let n = 0; n < 2; n++) ids.push((await create("posts", { n })).id);
      sent.length = 0;
      const data = { text: "x".repeat(70_000) };
      await admin.updateMany("posts", { ids, data });
      assert.deepEqual(sent, ["POST /posts/_bulk", ...ids.map((id) => `PATCH /posts/${id}`)]);
    });

    test("deleteMany of more than a thousand takes a request for each thousand", async (t) => {
      const { service, admin, sent } = await start(t, {});
      const ids: string[] = [];
      while (ids.length < 1_001) {
        const count = Math.min(100, 1_001 - ids.length);
        const operations = Array.from({ length: count }, () => ({
          method: "POST",
          path: "/posts",
          body: {},
        }));
        const { json } = await service.send({
          method: "POST",
          path: "/api/v1/_batch",
          content: { operations },
        });
        for (const { body } of (json as { results: { body: { id: string } }[] }).results) ids.push(body.id);
      }
      await admin.deleteMany("posts", { ids });
      assert.deepEqual(sent, ["POST /posts/_bulk", `DELETE /posts/${ids.at(-1)}`]);
      const rest = await admin.getList("posts", { pagination, sort, filter: {} });
      assert.equal(rest.total, 0);
    });
  });
}
