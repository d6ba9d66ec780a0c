/** Batches beside other writes to the same resources. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { check } from "./check.ts";
import { startServiceForFile } from "./service.ts";

const rounds = 12;
const tagsEach = 12;
const text = { type: "string", maxLength: 128 } as const;
const properties = { tagIds: { type: "array", items: text }, n: { type: "integer" } } as const;
const collections = {
  tags: {},
  logs: {},
  posts: {
    schema: { type: "object", properties },
    references: { tagIds: { collection: "tags", onDelete: "clear" } },
  },
} as const;

const service = await startServiceForFile({ collections });

test("a batch that was overtaken is decided anew, on what is there then, and its creates happen once", async () => {
  for (let round = 0; round < rounds; round++) {
    const tags = await Promise.all(Array.from({ length: tagsEach }, () => service.create("tags")));
    const post = await service.create("posts", { tagIds: tags.map(({ id }) => id), n: 0 });
    const operations = [
      { method: "PATCH", path: `/posts/${post.id}`, body: { n: 1 } },
      ...Array.from({ length: 30 }, () => ({ method: "POST", path: "/logs", body: { of: post.id } })),
    ];
    const batch = () => service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
    const removals = tags.map(({ path }) => service.send({ method: "DELETE", path }));
    const answers = [await batch(), await batch()];
    for (const answer of await Promise.all(removals)) check(answer, { status: 205 });
    for (const answer of answers) {
      check(answer, { status: 200 });
      const { results } = answer.json as { results: { body: { id: string } }[] };
      const made = results.slice(1).map(({ body }) => body.id);
      assert.equal(new Set(made).size, 30);
      check(await service.send({ path: `/api/v1/logs/${made[29]}` }), { status: 200 });
    }
    const left = (await service.send({ path: post.path })).json as { tagIds: string[]; n: number };
    assert.deepEqual([left.tagIds, left.n], [[], 1]);
    const logs = await service.send({ path: `/api/v1/logs?of=${post.id}&limit=1000` });
    assert.equal((logs.json as unknown[]).length, 60);
  }
});

test("batches that change the same resources in opposite orders do not wait for each other", async () => {
  const two = await Promise.all([service.create("logs"), service.create("logs")]);
  const ids = two.map(({ id }) => id);
  let n = 0;
  const patch = (path: string) => service.send({ method: "PATCH", path, content: { n: n++ } });
  const batch = (ordered: readonly string[]) => {
    const operations = ordered.map((id) => ({ method: "PATCH", path: `/logs/${id}`, body: { n: n++ } }));
    return service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } });
  };
  for (let round = 0; round < 4; round++) {
    // Batches that wait for single writes get their resources one by one.
    const answers = Array.from({ length: 5 }, () => [
      ...two.map(({ path }) => patch(path)),
      batch(ids),
      batch(ids.toReversed()),
    ]);
    for (const answer of await Promise.all(answers.flat())) check(answer, { status: 200 });
  }
});
