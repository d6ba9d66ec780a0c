import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, links } from "./check.ts";
import { type Answer, startServiceForFile } from "./service.ts";

const text = { type: "string" } as const;
const service = await startServiceForFile({
  collections: {
    topics: { schema: { properties: { title: text, n: { type: "integer" } } }, search: ["title"] },
    plain: {},
  },
});
for (let n = 0; n < 9; n++) await service.create("topics", { title: `Green tea ${n}`, n });
await service.create("topics", { title: "Black coffee", n: 9 });

const list = "/api/v1/topics";

function numbers(answer: Answer): number[] {
  return (answer.json as { n: number }[]).map(({ n }) => n).toSorted((a, b) => a - b);
}

describe("a list with q", () => {
  test("has the resources with these words, and is paged by offset", async () => {
    const first = await service.send({ path: `${list}?q=tea&limit=5` });
    const to = (offset: number) => `${list}?q=tea&limit=5&offset=${offset}`;
    check(first, { status: 200, headers: { "X-Total-Count": "9", "Content-Range": "topics 0-4/9" } });
    assert.deepEqual(links(first), { next: to(5), first: to(0), last: to(5) });
    const second = await service.send({ path: to(5) });
    check(second, { status: 200, headers: { "Content-Range": "topics 5-8/9" } });
    assert.deepEqual([...numbers(first), ...numbers(second)].toSorted(), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("and a sort is paged by cursor", async () => {
    const first = await service.send({ path: `${list}?q=tea&sort=-n&limit=5` });
    check(first, { status: 200, headers: { "X-Total-Count": undefined, "Content-Range": undefined } });
    assert.match(links(first).next ?? "", /^\/api\/v1\/topics\?q=tea&sort=-n&limit=5&cursor=/);
    const second = await service.send({ path: links(first).next ?? "" });
    assert.deepEqual(
      [numbers(first), numbers(second)],
      [
        [4, 5, 6, 7, 8],
        [0, 1, 2, 3],
      ],
    );
    assert.equal(links(second).next, undefined);
  });

  test("by QUERY has an equivalent URL", async () => {
    const answer = await service.send({ method: "QUERY", path: list, content: { q: "black coff" } });
    check(answer, { status: 200, headers: { Location: `${list}?q=black%20coff` } });
    assert.deepEqual(numbers(answer), [9]);
    assert.equal((await service.send({ path: answer.headers.location ?? "" })).text, answer.text);
  });

  test("is a 400 where nothing is searched, or by cursor without a sort", async () => {
    for (const path of ["/api/v1/plain?q=tea", `${list}?q=`, `${list}?q=tea&cursor=x`])
      check(await service.send({ path }), { status: 400, problem: "INVALID_PARAMETER" });
  });

  test("that has no letter and no digit finds nothing, in every form of the list", async () => {
    for (const q of ["?", "...", "🎉", "+ #"]) {
      const query = `q=${encodeURIComponent(q)}`;
      const answer = await service.send({ path: `${list}?${query}` });
      check(answer, { status: 200, headers: { "X-Total-Count": "0" }, json: [] });
      check(await service.send({ path: `${list}?${query}&sort=-n&n:gte=0` }), { status: 200, json: [] });
      check(await service.send({ method: "QUERY", path: list, content: { filter: { q } } }), {
        status: 200,
        json: [],
      });
      const figures = await service.send({ path: `${list}?${query}&aggregate=count` });
      assert.deepEqual(figures.json, [{ count: 0 }]);
      assert.doesNotMatch(answer.headers.link ?? "", /monitor/);
    }
    const tea = await service.send({ path: `${list}?q=${encodeURIComponent("🎉 tea !")}` });
    assert.deepEqual(numbers(tea), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("finds words with their signs, page by page and as figures", async () => {
    const named = [
      "C++ in depth",
      "More C++",
      "C and c",
      "abc++",
      "C# and .NET",
      "ASP.NET",
      "A* search",
      "A search",
      "(C++)",
    ];
    for (const [n, title] of named.entries()) await service.create("topics", { title, n: 100 + n });
    const found = async (q: string, more = "") =>
      numbers(await service.send({ path: `${list}?q=${encodeURIComponent(q)}${more}` }));
    for (const [q, expected] of [
      ["C++", [100, 101, 108]],
      ["c++, depth", [100]],
      ["C#", [104]],
      [".NET", [104, 105]],
      ["A*", [106]],
      ["C", [9, 100, 101, 102, 104, 108]],
    ] as const) {
      assert.deepEqual(await found(q), expected, q);
      const figures = await service.send({ path: `${list}?q=${encodeURIComponent(q)}&aggregate=count` });
      assert.deepEqual(figures.json, [{ count: expected.length }], q);
    }
    const walked: number[] = [];
    for (let path: string | undefined = `${list}?q=C%2B%2B&sort=-n&limit=2`; path !== undefined; ) {
      const answer = await service.send({ path });
      walked.push(...(answer.json as { n: number }[]).map(({ n }) => n));
      path = links(answer).next;
    }
    assert.deepEqual(walked, [108, 101, 100]);
    const ranked = await service.send({ path: `${list}?q=C%2B%2B&limit=2` });
    check(ranked, { status: 200, headers: { "X-Total-Count": "3", "Content-Range": "topics 0-1/3" } });
    assert.deepEqual(
      [...numbers(ranked), ...(await found("C++", "&limit=2&offset=2"))].toSorted(),
      [100, 101, 108],
    );
  });
});
