/** refine's data provider for REST services, as it comes from npm. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import dataProvider from "@refinedev/simple-rest";
import { kept, modes, ownTopic, type Topic, trickyTexts, useFixture } from "./fixture.ts";

type Provider = ReturnType<typeof dataProvider>;
type Filters = NonNullable<Parameters<Provider["getList"]>[0]["filters"]>;

const titles = (topics: readonly Topic[]) => topics.map(({ title }) => title.replace("Topic ", "")).join("");

const unknownId = "0197f0a0-0000-7000-8000-000000000000";

for (const mode of modes) {
  describe(`@refinedev/simple-rest, ${mode} collections`, () => {
    const fixture = useFixture(mode);
    const provider = () => dataProvider(fixture.url);

    describe("lists", () => {
      test("getList gives the first page of ten with the total", async () => {
        const answer = await provider().getList({ resource: "topics" });
        assert.deepEqual(answer, { data: fixture.topics.slice(0, 10), total: 12 });
      });

      test("getList gives a page, and an empty one behind the last", async () => {
        const page = async (currentPage: number) => {
          const pagination = { currentPage, pageSize: 5 };
          const { data, total } = await provider().getList<Topic>({ resource: "topics", pagination });
          return [titles(data), total];
        };
        assert.deepEqual(await page(1), ["abcde", 12]);
        assert.deepEqual(await page(3), ["kl", 12]);
        assert.deepEqual(await page(4), ["", 12]);
      });

      for (const paging of ["off", "client"] as const)
        test(`getList with pagination "${paging}" gives all`, async () => {
          const pagination = { mode: paging };
          const answer = await provider().getList({ resource: "topics", pagination });
          assert.deepEqual(answer, { data: fixture.topics, total: 12 });
        });

      for (const [field, order, expected] of [
        ["title", "desc", "lkjihgfedcba"],
        ["views", "asc", "abcdefghijkl"],
        ["author.name", "asc", "adgjbehkcfil"],
      ] as const)
        test(`getList sorts by ${field}, ${order}`, async () => {
          const sorters = [{ field, order }];
          const pagination = { mode: "off" } as const;
          const { data } = await provider().getList<Topic>({ resource: "topics", sorters, pagination });
          assert.equal(titles(data), expected);
        });

      test("getList sorts by several attributes", async () => {
        const { data } = await provider().getList<Topic>({
          resource: "topics",
          pagination: { pageSize: 12 },
          sorters: [
            { field: "published", order: "desc" },
            { field: "author.name", order: "asc" },
            { field: "views", order: "desc" },
          ],
        });
        assert.equal(titles(data), "gakeicjdhblf");
      });

      const filters: [Filters, string][] = [
        [[{ field: "title", operator: "eq", value: "Topic c" }], "c"],
        [[{ field: "title", operator: "eq", value: "Topic" }], ""],
        [[{ field: "title", operator: "ne", value: "Topic c" }], "abdefghijkl"],
        [[{ field: "title", operator: "contains", value: "TOPIC K" }], "k"],
        [[{ field: "title", operator: "contains", value: "%" }], ""],
        [[{ field: "views", operator: "gte", value: 90 }], "jkl"],
        [[{ field: "views", operator: "lte", value: 10 }], "ab"],
        [[{ field: "views", operator: "eq", value: 30 }], "d"],
        [[{ field: "published", operator: "eq", value: false }], "bdfhjl"],
        [[{ field: "author.name", operator: "eq", value: "Author 1" }], "behk"],
        [[{ field: "title", operator: "in", value: ["Topic a", "Topic l"] }], "al"],
        [
          [
            { field: "views", operator: "gte", value: 20 },
            { field: "views", operator: "lte", value: 60 },
            { field: "published", operator: "eq", value: true },
          ],
          "ceg",
        ],
        // Operators that the provider has no word for, written into the field.
        [[{ field: "views:gt", operator: "eq", value: 90 }], "kl"],
        [[{ field: "title:nin", operator: "eq", value: "Topic a,Topic b" }], "cdefghijkl"],
        [[{ field: "title:startsWith", operator: "eq", value: "topic a" }], "a"],
        [[{ field: "author.city:exists", operator: "eq", value: true }], ""],
      ];
      for (const [list, expected] of filters) {
        const said = list.map((filter) => `${"field" in filter ? filter.field : ""} ${filter.operator}`);
        test(`getList filters by ${said.join(" and ")}`, async () => {
          const pagination = { pageSize: 20 };
          const { data, total } = await provider().getList<Topic>({
            resource: "topics",
            filters: list,
            pagination,
          });
          assert.deepEqual([titles(data), total], [expected, expected.length]);
        });
      }

      test("getList tells the total of a filtered page", async () => {
        const answer = await provider().getList<Topic>({
          resource: "topics",
          filters: [{ field: "published", operator: "eq", value: true }],
          sorters: [{ field: "views", order: "desc" }],
          pagination: { currentPage: 2, pageSize: 4 },
        });
        assert.deepEqual([titles(answer.data), answer.total], ["ca", 6]);
      });

      if (mode === "declared")
        test("getList searches", async () => {
          const filters: Filters = [{ field: "q", operator: "eq", value: "topic" }];
          const { total } = await provider().getList({ resource: "topics", filters });
          assert.equal(total, 12);
        });

      test("getMany gives those with the ids", async () => {
        const wanted = fixture.topics.filter((_, n) => n % 5 === 0);
        const ids = [unknownId, ...wanted.map(({ id }) => id)];
        assert.deepEqual(await provider().getMany({ resource: "topics", ids }), { data: wanted });
      });

      test("getOne gives the resource", async () => {
        const [topic] = fixture.topics;
        const id = topic?.id ?? "";
        assert.deepEqual(await provider().getOne({ resource: "topics", id }), { data: topic });
      });

      test("getOne of nothing fails with status 404", async () => {
        await assert.rejects(provider().getOne({ resource: "topics", id: unknownId }), { statusCode: 404 });
      });

      test("custom reads with filters, sorters and a query of its own", async () => {
        const { data } = await provider().custom({
          url: `${fixture.url}/topics`,
          method: "get",
          filters: [{ field: "published", operator: "eq", value: true }],
          sorters: [{ field: "views", order: "desc" }],
          query: { limit: 2, fields: "title" },
        });
        const [i, k] = [fixture.topics[8], fixture.topics[10]];
        const cut = [k, i].map((topic) => ({ id: topic?.id, title: topic?.title }));
        assert.deepEqual(data, cut);
      });

      test("custom reads with nothing besides", async () => {
        const { data } = await provider().custom({ url: `${fixture.url}/topics`, method: "get" });
        assert.deepEqual(data, fixture.topics);
      });
    });

    describe("writes", () => {
      test("create gives the resource with its id", async () => {
        const { data } = await provider().create<Topic>({ resource: "topics", variables: { title: "New" } });
        assert.equal(data.title, "New");
        assert.deepEqual(await kept(fixture, data.id), data);
      });

      test("a filter finds what has just that text", async () => {
        for (const title of trickyTexts) {
          const topic = await ownTopic(fixture, { title, views: -1 });
          const filters: Filters = [{ field: "views", operator: "eq", value: -1 }];
          filters.push({ field: "title", operator: "eq", value: title });
          const { data } = await provider().getList({ resource: "topics", filters });
          assert.deepEqual(data, [topic]);
        }
      });

      test("update changes the given attributes", async () => {
        const topic = await ownTopic(fixture);
        const { id } = topic;
        const variables = { title: "Changed", author: { city: null } };
        const { data } = await provider().update({ resource: "topics", id, variables });
        assert.deepEqual(data, { ...topic, title: "Changed", author: { name: "Me" } });
        assert.deepEqual(await kept(fixture, id), data);
      });

      test("update by PUT replaces the resource", async () => {
        const { id } = await ownTopic(fixture);
        const variables = { id, title: "Replaced" };
        const { data } = await provider().update({
          resource: "topics",
          id,
          variables,
          meta: { method: "put" },
        });
        assert.deepEqual(data, variables);
        assert.deepEqual(await kept(fixture, id), variables);
      });

      test("deleteOne removes it", async () => {
        const { id } = await ownTopic(fixture);
        assert.deepEqual(await provider().deleteOne({ resource: "topics", id }), { data: "" });
        assert.equal(await kept(fixture, id), undefined);
      });

      test("deleteOne takes variables, which mean nothing", async () => {
        const { id } = await ownTopic(fixture);
        await provider().deleteOne({ resource: "topics", id, variables: { reason: "none" } });
        assert.equal(await kept(fixture, id), undefined);
      });

      test("custom writes", async () => {
        const url = `${fixture.url}/topics`;
        const { data } = await provider().custom<Topic>({ url, method: "post", payload: { title: "New" } });
        const own = `${url}/${data.id}`;
        await provider().custom({ url: own, method: "patch", payload: { views: 3 } });
        assert.deepEqual(await kept(fixture, data.id), { id: data.id, title: "New", views: 3 });
        await provider().custom({ url: own, method: "delete" });
        assert.equal(await kept(fixture, data.id), undefined);
      });

      test("what is refused says why", async () => {
        const create = provider().create({ resource: "topics", variables: [] });
        await assert.rejects(create, (error: { statusCode: number; message: string }) => {
          assert.equal(error.statusCode, 400);
          assert.match(error.message, /object/);
          return true;
        });
      });

      // refine makes the missing ones of the methods for one resource.
      test("there are no methods for several resources at once", () => {
        for (const method of ["createMany", "updateMany", "deleteMany"])
          assert.ok(!(method in provider()), method);
      });
    });
  });
}
