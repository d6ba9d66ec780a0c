/** The history of a resource, by the typed client. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConflictError, createClient, etagOf, NotFoundError } from "../../client/src/index.ts";
import { startServiceForFile } from "../http/service.ts";
import { machineTime } from "../until.ts";
import { config } from "./config.ts";

const service = await startServiceForFile({ collections: config.collections });
const { articles } = createClient<typeof config>({ baseUrl: `${service.origin}/api/v1` });

test("the changes of a resource are listed, newest first, whatever the size of a page", async () => {
  const { id } = await articles.create({ title: "One" });
  for (const views of [1, 2, 3]) await articles.patch(id, { views });
  await articles.delete(id);
  const changes = await articles.history(id, { limit: 2 }).all();
  assert.deepEqual(
    changes.map(({ version, kind }) => [version, kind]),
    [
      [5, "deleted"],
      [4, "updated"],
      [3, "updated"],
      [2, "updated"],
      [1, "created"],
    ],
  );
  assert.ok(changes.every(({ at }) => !Number.isNaN(Date.parse(at))));
});

test("an earlier version is read with its ETag, which overwrites no later version", async () => {
  const first = await articles.create({ title: "One" });
  await articles.patch(first.id, { title: "Two" });
  const old = await articles.get(first.id, { version: 1 });
  assert.equal(old.title, "One");
  assert.equal(etagOf(old), etagOf(first));
  await assert.rejects(articles.replace({ ...old, views: 1 }), ConflictError);
  assert.equal((await articles.get(first.id, { at: new Date(machineTime()) })).title, "Two");
  await assert.rejects(articles.get(first.id, { version: 9 }), NotFoundError);
});

test("an earlier version is restored, unless the resource has changed since it was read", async () => {
  const first = await articles.create({ title: "One" });
  const second = await articles.patch(first, { title: "Two" });
  await assert.rejects(articles.restore(first, 1), (error) => {
    assert.ok(error instanceof ConflictError);
    assert.equal((error.current as { title: string }).title, "Two");
    return true;
  });
  const restored = await articles.restore(second, 1);
  assert.equal(restored.title, "One");
  assert.equal((await articles.patch(restored, { views: 1 })).views, 1);
});

test("a deleted resource is restored by its id", async () => {
  const made = await articles.create({ title: "One" });
  await articles.delete(made);
  const restored = await articles.restore(made.id, 1);
  assert.deepEqual([restored.id, restored.title], [made.id, "One"]);
});

test("deleted resources are listed as they were, and restored by a filter", async () => {
  const { books } = createClient<typeof config>({ baseUrl: `${service.origin}/api/v1` });
  const made = [];
  for (const year of [1, 2, 3]) made.push(await books.create({ title: `T${year}`, year }));
  for (const each of made) await books.delete(each);
  const found = await books.deleted({ filter: { year: { gte: 2 } }, sort: "-year", limit: 1 }).all();
  assert.deepEqual(
    found.map(({ title, _deleted }) => [title, _deleted.version]),
    [
      ["T3", 1],
      ["T2", 1],
    ],
  );
  const years = Array.from({ length: 90 }, (_, n) => 10 ** 15 + n);
  const titles = Array.from({ length: 90 }, (_, n) => `T${n}`.padEnd(30, "."));
  const long = { year: { in: [3, ...years] }, title: { nin: titles } } as const;
  assert.equal((await books.deleted({ filter: long }).all()).length, 1);
  const since = found[1]?._deleted.at ?? "";
  const which = { filter: { "_deleted.at": { gte: since }, year: 3 }, max: 1 } as const;
  assert.deepEqual((await books.restoreDeleted({ ...which, dryRun: true })).matched, 1);
  assert.deepEqual((await books.restoreDeleted(which)).ids, [3]);
  assert.equal((await books.get(3)).title, "T3");
  await books.restore(2, found[1]?._deleted.version ?? 0);
  assert.deepEqual(await books.deleted({ fields: ["year"] }).all(), [{ id: 1, year: 1 }]);
});
