import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../src/config.ts";
import type { Limits } from "../../src/http/settings.ts";
import { startServer } from "../../src/server.ts";
import { makeFolder } from "../folder.ts";
import { watchAnswers } from "./described/watch-answers.ts";

const folder = makeFolder();

/** Serves a store of the folder with these limits while `work` runs. */
async function serving<T>(
  store: string,
  limits: Partial<Limits>,
  work: (api: string) => Promise<T>,
): Promise<T> {
  const flags = { store: `sqlite:${join(folder, store)}`, port: "0" };
  const config = await loadConfig({ flags, env: {}, cwd: folder });
  const http = { ...config.http, limits: { ...config.http.limits, ...limits } };
  const server = await startServer({ ...config, http });
  watchAnswers(Number(new URL(server.origin).port), { ...config, http });
  try {
    return await work(`${server.origin}/api/v1`);
  } finally {
    await server.stop();
  }
}

const create = async (api: string, content: unknown) => {
  const headers = { "Content-Type": "application/json", Connection: "close" };
  const answer = await fetch(`${api}/topics`, { method: "POST", headers, body: JSON.stringify(content) });
  assert.equal(answer.status, 201);
  return ((await answer.json()) as { id: string }).id;
};

const listTag = async (api: string) => {
  const answer = await fetch(`${api}/topics`, { headers: { Connection: "close" } });
  assert.equal(answer.status, 200);
  return answer.headers.get("etag");
};

test("another page limit changes the ETag of a list, and a restart alone does not", async () => {
  const first = await serving("etag.db", {}, async (api) => {
    await create(api, { name: "a" });
    return listTag(api);
  });
  assert.equal(await serving("etag.db", {}, listTag), first);
  assert.notEqual(await serving("etag.db", { page: 7 }, listTag), first);
});

test("a resource over a lowered limit may be patched to be smaller, and not to be larger", async () => {
  const id = await serving("patch.db", {}, (api) => create(api, { a: "x".repeat(3_000) }));
  await serving("patch.db", { bodyBytes: 2_500 }, async (api) => {
    const patch = async (content: unknown) => {
      const headers = { "Content-Type": "application/merge-patch+json", Connection: "close" };
      const body = JSON.stringify(content);
      return (await fetch(`${api}/topics/${id}`, { method: "PATCH", headers, body })).status;
    };
    assert.equal(await patch({ b: "y".repeat(100) }), 413);
    assert.equal(await patch({ a: "x".repeat(2_480), b: null }), 200, "smaller, and over the limit still");
  });
});
