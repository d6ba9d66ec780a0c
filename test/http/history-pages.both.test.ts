import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, unknownId } from "./check.ts";
import { collections, gone, type Shown } from "./history-fixture.ts";
import { itemsFrom } from "./pages.ts";
import { jsonType, startServiceForFile } from "./service.ts";

const service = await startServiceForFile({ collections });

/** A resource with versions n: 1 … n: versions. */
async function raise(collection: string, versions: number) {
  const made = await service.create(collection, { n: 1 });
  for (let n = 2; n <= versions; n++) await put(made, n);
  return made;
}

async function put({ path, body }: { path: string; body: Record<string, unknown> }, n: number) {
  const answer = await service.send({ method: "PUT", path, content: { id: body.id, n } });
  assert.equal(answer.status, 200, answer.text);
}

const get = (path: string, headers = {}) => service.send({ path, headers });

describe("the changes of a resource", () => {
  test("are listed newest first, in pages that links lead through", async () => {
    const { path } = await raise("counters", 5);
    const all = await get(`${path}/_changes`);
    check(all, { status: 200, headers: { "Content-Type": jsonType } });
    assert.deepEqual(
      (all.json as Shown[]).map(({ version, kind }) => [version, kind]),
      [
        [5, "updated"],
        [4, "updated"],
        [3, "updated"],
        [2, "updated"],
        [1, "created"],
      ],
    );
    assert.deepEqual(Object.keys((all.json as object[])[0] ?? {}), ["version", "kind", "at"]);
    assert.equal(all.headers.link, `<${path}/_changes>; rel="first"`);
    assert.deepEqual(await itemsFrom(service.send, `${path}/_changes?limit=2`), all.json);
  });

  test("are those of this resource alone, and so are their cursors", async () => {
    const one = await raise("topics", 3);
    const other = await raise("topics", 3);
    const page = await get(`${one.path}/_changes?limit=1`);
    const query = /\?([^>]+)>; rel="next"/.exec(page.headers.link ?? "")?.[1];
    check(await get(`${other.path}/_changes?${query}`), { status: 400, problem: "INVALID_CURSOR" });
    check(await get(`/api/v1/topics/${unknownId}/_changes`), gone);
    for (const bad of ["limit=0", "limit=x", "limit=1&limit=2", "sort=n", "fields=version"])
      check(await get(`${one.path}/_changes?${bad}`), { status: 400, problem: "INVALID_PARAMETER" });
  });

  test("are JSON and nothing else", async () => {
    const { path } = await raise("topics", 1);
    check(await get(`${path}/_changes`, { Accept: "text/csv" }), { status: 406, problem: "NOT_ACCEPTABLE" });
  });

  test("and restoring have methods of their own", async () => {
    const { path } = await service.create("topics");
    const post = await service.send({ method: "POST", path: `${path}/_changes`, content: {} });
    check(post, { status: 405, problem: "METHOD_NOT_ALLOWED", headers: { Allow: "GET, HEAD, OPTIONS" } });
    check(await get(`${path}/_restore`), {
      status: 405,
      problem: "METHOD_NOT_ALLOWED",
      headers: { Allow: "POST, OPTIONS" },
    });
    const options = await service.send({ method: "OPTIONS", path: `${path}/_restore` });
    check(options, { status: 204, headers: { Allow: "POST, OPTIONS" } });
    for (const other of ["_other", "_changes/1", "x"]) check(await get(`${path}/${other}`), gone);
  });
});
