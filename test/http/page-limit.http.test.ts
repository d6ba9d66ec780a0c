import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check } from "./check.ts";
import { startServiceForFile } from "./service.ts";

const service = await startServiceForFile({ limits: { page: 3 } });
for (let n = 0; n < 4; n++) await service.create("topics", { n });
const { path } = await service.create("topics", { n: 4 });

const list = "/api/v1/topics";

describe("a list says how many resources its page can have,", () => {
  const cases: [query: string, limit: string][] = [
    ["", "3"],
    ["limit=2", "2"],
    ["limit=3", "3"],
    ["limit=100000", "3"],
    ["limit=100000&offset=1", "3"],
    ["limit=99999999999999999999999", "3"],
    ["_limit=100000", "3"],
    ["_limit=2", "2"],
    ["_start=1&_limit=100000", "3"],
    ["_page=1&_per_page=100000", "3"],
    ["_start=0&_end=100000", "3"],
    ["_start=1&_end=3", "2"],
    ["range=[0,99999]", "3"],
    ["range=[0,0]", "1"],
    ["n=1&n=2&id:in=1,2", "2"],
  ];
  for (const [query, limit] of cases)
    test(`${limit} for ?${query}`, async () => {
      for (const method of ["GET", "HEAD"])
        for (const Accept of ["application/json", "application/x-ndjson", "text/csv"])
          check(await service.send({ method, path: `${list}?${query}`, headers: { Accept } }), {
            status: 200,
            headers: { "Page-Limit": limit },
          });
      const answer = await service.send({ path: `${list}?${query}&envelope=true` });
      assert.equal((answer.json as { limit: number }).limit, Number(limit));
    });

  test("also to QUERY", async () => {
    const ask = (content: object) => service.send({ method: "QUERY", path: list, content });
    check(await ask({ limit: 100_000 }), { status: 200, headers: { "Page-Limit": "3" } });
    check(await ask({ limit: 2, offset: 1 }), { status: 200, headers: { "Page-Limit": "2" } });
    const { json } = await ask({ limit: 100_000, envelope: true });
    assert.equal((json as { limit: number }).limit, 3);
  });

  test("and so does a list of changes", async () => {
    for (const [query, limit] of [
      ["", "3"],
      ["?limit=2", "2"],
      ["?limit=100000", "3"],
    ])
      check(await service.send({ path: `${path}/_changes${query}` }), {
        status: 200,
        headers: { "Page-Limit": limit },
      });
  });

  test("and no other answer", async () => {
    check(await service.send({ path }), { status: 200, headers: { "Page-Limit": undefined } });
    check(await service.send({ path: `${list}?limit=0` }), {
      status: 400,
      headers: { "Page-Limit": undefined },
    });
  });
});
