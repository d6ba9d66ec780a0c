import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, checkProblem } from "./check.ts";
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
    ["limit=max", "3"],
    ["limit=max&offset=1", "3"],
    ["_limit=3", "3"],
    ["_limit=max", "3"],
    ["_limit=2", "2"],
    ["_start=1&_limit=max", "3"],
    ["_page=1&_per_page=max", "3"],
    ["_start=0&_end=3", "3"],
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
    const most = await ask({ limit: "max" });
    check(most, { status: 200, headers: { "Page-Limit": "3", Location: `${list}?limit=max` } });
    check(await ask({ limit: 2, offset: 1 }), { status: 200, headers: { "Page-Limit": "2" } });
    const { json } = await ask({ limit: "max", envelope: true });
    assert.equal((json as { limit: number }).limit, 3);
  });

  test("and so does a list of changes", async () => {
    for (const [query, limit] of [
      ["", "3"],
      ["?limit=2", "2"],
      ["?limit=max", "3"],
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

describe("a page that is longer than the bound is refused with the bound,", () => {
  const expected = (least: number, most: number, value: string) =>
    `must be a whole number from ${least} to ${most}, or max, not ${value}`;
  const cases: [path: string, name: string, detail: string][] = [
    [`${list}?limit=4`, "limit", expected(1, 3, '"4"')],
    [`${list}?limit=4&offset=1`, "limit", expected(1, 3, '"4"')],
    [`${list}?limit=${"9".repeat(400)}`, "limit", "must be a whole number from 1 to 3, or max, not "],
    [`${list}?limit=4&count=exact`, "limit", expected(0, 3, '"4"')],
    [`${list}?limit=MAX`, "limit", expected(1, 3, '"MAX"')],
    [`${list}?_limit=4`, "_limit", expected(1, 3, '"4"')],
    [`${list}?_start=1&_limit=4`, "_limit", expected(1, 3, '"4"')],
    [`${list}?_page=1&_limit=4`, "_limit", expected(1, 3, '"4"')],
    [`${list}?_page=1&_per_page=4`, "_per_page", expected(1, 3, '"4"')],
    [`${list}?_start=2&_end=6`, "_end", 'must be at most 3 more than "_start", but is 4 more'],
    [`${list}?_end=4`, "_end", 'must be at most 3 more than "_start", but is 4 more'],
    [`${list}?distinct=n&limit=4`, "limit", expected(1, 3, '"4"')],
    [`${list}/_deleted?limit=4`, "limit", expected(1, 3, '"4"')],
    [`${path}/_changes?limit=4`, "limit", expected(1, 3, '"4"')],
    [`${list}/_events?limit=1001`, "limit", expected(1, 1000, '"1001"')],
    ["/api/v1/_events?limit=1001", "limit", expected(1, 1000, '"1001"')],
    ["/api/v1/_tasks?limit=1001", "limit", expected(1, 1000, '"1001"')],
    ["/api/v1/_collections?limit=501", "limit", expected(1, 500, '"501"')],
  ];
  for (const [path, name, detail] of cases)
    test(`${name} in ${path.slice(0, 60)}`, async () => {
      const answer = await service.send({ path });
      checkProblem(answer, "INVALID_PARAMETER");
      const { violations } = answer.json as { violations: { name: string; detail: string }[] };
      assert.deepEqual(
        violations.map((each) => each.name),
        [name],
      );
      assert.equal(violations[0]?.detail.slice(0, `"${name}" ${detail}`.length), `"${name}" ${detail}`);
    });

  test("in the body of a QUERY", async () => {
    for (const content of [
      { limit: 4 },
      { limit: 4, offset: 1 },
      { limit: 4, distinct: ["n"] },
      { limit: "4" },
    ])
      checkProblem(await service.send({ method: "QUERY", path: list, content }), "INVALID_PARAMETER");
  });

  test("and max is the most of every page", async () => {
    for (const [path, length] of [
      [`${list}?distinct=n&limit=max`, "3"],
      [`${list}/_deleted?limit=max`, "3"],
      [`${list}/_events?limit=max`, "1000"],
      ["/api/v1/_events?limit=max", "1000"],
      ["/api/v1/_tasks?limit=max", undefined],
      ["/api/v1/_collections?limit=max", undefined],
    ] as const) {
      const { status, headers } = await service.send({ path });
      assert.deepEqual([status, headers["page-limit"]], [200, length], path);
    }
  });
});

describe("a link that is older than the bound is lowered to it:", () => {
  const withLimit = (link: unknown, relation: string, limit: number) => {
    const [, target = ""] = new RegExp(`<([^>]*)>; rel="${relation}"`).exec(String(link)) ?? [];
    assert.match(target, /limit=\d+/);
    return target.replace(/limit=\d+/, `limit=${limit}`);
  };

  test("the next page of a list, also for QUERY", async () => {
    const { headers } = await service.send({ path: `${list}?limit=2&sort=-n` });
    const path = withLimit(headers.link, "next", 5_000);
    const answer = await service.send({ path });
    check(answer, { status: 200, headers: { "Page-Limit": "3" } });
    assert.deepEqual(
      (answer.json as { n: number }[]).map(({ n }) => n),
      [2, 1, 0],
    );
    const cursor = new URLSearchParams(path.split("?")[1]).get("cursor");
    const content = { sort: ["-n"], limit: 5_000, cursor };
    check(await service.send({ method: "QUERY", path: list, content }), {
      status: 200,
      headers: { "Page-Limit": "3" },
    });
  });

  test("the next page of a history", async () => {
    const { path } = await service.create("topics", { n: 9 });
    for (const n of [10, 11]) await service.send({ method: "PATCH", path, content: { n } });
    const first = await service.send({ path: `${path}/_changes?limit=1` });
    check(await service.send({ path: withLimit(first.headers.link, "next", 5_000) }), {
      status: 200,
      headers: { "Page-Limit": "3" },
    });
  });

  test("the next events", async () => {
    const first = await service.send({ path: `${list}/_events?limit=1` });
    const { status, headers } = await service.send({ path: withLimit(first.headers.link, "next", 5_000) });
    assert.deepEqual([status, headers["page-limit"]], [200, "1000"]);
  });
});

test("a range that is too long is lowered, and Content-Range says what came", async () => {
  const { status, headers, json } = await service.send({ path: `${list}?range=[1,4999]` });
  assert.deepEqual({ status, count: (json as unknown[]).length }, { status: 200, count: 3 });
  assert.match(headers["content-range"] ?? "", /^topics 1-3\//);
});
