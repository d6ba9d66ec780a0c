/** Batches beside writes that do not wait in turn with them: deletes that change what refers to the deleted resource. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { check } from "./check.ts";
import { type Service, startService } from "./service.ts";

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

let service: Service;
before(async () => {
  service = await startService({ collections });
});
after(() => service.stop());

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
