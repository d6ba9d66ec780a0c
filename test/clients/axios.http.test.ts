/** axios, as it comes from npm, with its own way to write lists of values in a query. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import axios, { type AxiosError, type AxiosResponse } from "axios";
import { kept, modes, ownTopic, type Topic, useFixture } from "./fixture.ts";

const titles = (topics: readonly Topic[]) => topics.map(({ title }) => title.replace("Topic ", "")).join("");

for (const mode of modes) {
  describe(`axios, ${mode} collections`, () => {
    const fixture = useFixture(mode);
    const client = () => axios.create({ baseURL: fixture.url });
    const list = async (params: object, paramsSerializer = {}) =>
      client().get<Topic[]>("/topics", { params, paramsSerializer });

    for (const [params, expected] of [
      [{}, "abcdefghijkl"],
      [{ limit: 3 }, "abc"],
      [{ limit: 3, offset: 2 }, "cde"],
      [{ sort: "-views", limit: 3 }, "lkj"],
      [{ sort: "author.name,-views", limit: 5 }, "jgdak"],
      [{ title: "Topic c" }, "c"],
      [{ "views:gte": 90, published: true }, "k"],
      [{ "title:contains": "C K" }, "k"],
      [{ filter: JSON.stringify({ views: { lt: 30 } }) }, "abc"],
      [{ published: undefined, views: 20 }, "c"],
    ] as const)
      test(`a list with the parameters ${JSON.stringify(params)}`, async () => {
        const { status, data } = await list(params);
        assert.equal(status, 200);
        assert.equal(titles(data), expected);
      });

    test("a list of values, once axios repeats the name for each", async () => {
      const { data } = await list({ title: ["Topic b", "Topic d"] }, { indexes: null });
      assert.equal(titles(data), "bd");
    });

    test("a list of values in brackets is refused with what to write, and never ignored", async () => {
      const isHelped = ({ status, response }: AxiosError<{ detail: string }>) =>
        status === 400 && /Write "title=Topic\+b&title=Topic\+d"/.test(response?.data.detail ?? "");
      await assert.rejects(list({ title: ["Topic b", "Topic d"] }), isHelped);
    });

    test("a walk by the links sees every resource", async () => {
      const seen: Topic[] = [];
      let next: string | undefined = "/api/v1/topics?limit=5";
      while (next !== undefined) {
        const page: AxiosResponse<Topic[]> = await axios.get(next, { baseURL: fixture.service.origin });
        seen.push(...page.data);
        next = /<([^>]+)>; rel="next"/.exec(String(page.headers.link))?.[1];
      }
      assert.deepEqual(seen, fixture.topics);
    });

    test("a resource is created, read, replaced, patched and deleted", async () => {
      const { status, data: topic, headers } = await client().post<Topic>("/topics", { title: "New" });
      assert.equal(status, 201);
      const path = new URL(String(headers.location), fixture.url).href;
      assert.deepEqual((await client().get(path)).data, topic);
      const replaced = { id: topic.id, title: "Replaced", views: 1 };
      assert.deepEqual((await client().put(path, replaced)).data, replaced);
      assert.deepEqual((await client().patch(path, { views: 2 })).data, { ...replaced, views: 2 });
      const merge = { headers: { "Content-Type": "application/merge-patch+json" } };
      assert.deepEqual((await client().patch(path, { views: null }, merge)).data, {
        id: topic.id,
        title: "Replaced",
      });
      const deleted = await client().delete(path);
      assert.deepEqual([deleted.status, deleted.data], [205, ""]);
      await assert.rejects(client().delete(path), { status: 404 });
    });

    test("a change of something that changed meanwhile is refused", async () => {
      const { id } = await ownTopic(fixture);
      const { headers } = await client().get(`/topics/${id}`);
      const condition = { headers: { "If-Match": String(headers.etag) } };
      await client().patch(`/topics/${id}`, { views: 1 }, condition);
      await assert.rejects(client().patch(`/topics/${id}`, { views: 2 }, condition), { status: 412 });
      assert.equal(((await kept(fixture, id)) as Topic).views, 1);
    });

    test("a refusal says why", async () => {
      await assert.rejects(client().post("/topics", []), (error) => {
        assert.ok(axios.isAxiosError(error));
        assert.equal(error.response?.status, 400);
        assert.equal(error.response.data.code, "BODY_NOT_OBJECT");
        return true;
      });
    });
  });
}
