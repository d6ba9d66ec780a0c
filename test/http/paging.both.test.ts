import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { check, links } from "./check.ts";
import { allPages } from "./pages.ts";
import { type Answer, type Made, startServiceForFile } from "./service.ts";

const service = await startServiceForFile();
const topics: Made[] = [];
for (let n = 0; n < 5; n++) topics.push(await service.create("topics", { n }));

const list = "/api/v1/topics";
const weak = /^W\/"\d+-[^"]+"$/;

function bodies(from: number, to: number): unknown[] {
  return topics.slice(from, to).map(({ body }) => body);
}

/** Follows `next` to the end. Returns every response. */
const walk = (path: string) => allPages(service.send, path, { most: 49 });

test("a walk sorted by an attribute that has no value in many resources sees each resource once", async () => {
  const values = [null, undefined, {}, 1, null, undefined, {}, 1, null];
  const made = await Promise.all(values.map((rank) => service.create("sparse", { rank })));
  for (const sort of ["rank", "-rank"]) {
    const answers = await walk(`/api/v1/sparse?sort=${sort}&limit=2`);
    const ids = answers.flatMap(({ json }) => (json as { id: string }[]).map(({ id }) => id));
    assert.deepEqual(ids.sort(), made.map(({ id }) => id).sort());
  }
});

describe("a page", () => {
  test("links to the next by a cursor and to the first", async () => {
    const answer = await service.send({ path: `${list}?limit=2` });
    check(answer, {
      status: 200,
      headers: {
        ETag: weak,
        "X-Total-Count": "5",
        "Content-Range": "topics 0-1/5",
        Link: /^<\/api\/v1\/topics\?limit=2&cursor=[A-Za-z0-9_-]+>; rel="next", <\/api\/v1\/topics\?limit=2>; rel="first", <\/api\/v1\/topics\/_events\?since=[A-Za-z0-9_-]{32}>; rel="monitor"$/,
      },
      json: bodies(0, 2),
    });
  });

  test("after the first has the total and no Content-Range", async () => {
    const answers = await walk(`${list}?limit=2`);
    assert.deepEqual(
      answers.map(({ json }) => json),
      [bodies(0, 2), bodies(2, 4), bodies(4, 5)],
    );
    for (const answer of answers.slice(1))
      check(answer, {
        status: 200,
        headers: { "X-Total-Count": "5", "Content-Range": undefined, ETag: weak },
      });
    for (const answer of answers) assert.equal(links(answer).first, "/api/v1/topics?limit=2");
    assert.equal(links(answers[2] as Answer).next, undefined);
    for (const answer of answers)
      assert.deepEqual([links(answer).prev, links(answer).last], [undefined, undefined]);
  });

  test("may have another limit than the one before", async () => {
    const first = await service.send({ path: `${list}?limit=1` });
    const cursor = new URLSearchParams((links(first).next ?? "").split("?")[1]).get("cursor");
    check(await service.send({ path: `${list}?cursor=${cursor}&limit=3` }), {
      status: 200,
      json: bodies(1, 4),
    });
    check(await service.send({ path: `${list}?cursor=${cursor}` }), { status: 200, json: bodies(1, 5) });
  });

  test("past the end is empty", async () => {
    const made: Made[] = [];
    for (let n = 0; n < 3; n++) made.push(await service.create("shrinking", { n }));
    const first = await service.send({ path: "/api/v1/shrinking?limit=2" });
    await service.send({ method: "DELETE", path: made[2]?.path ?? "" });
    const answer = await service.send({ path: links(first).next ?? "" });
    check(answer, {
      status: 200,
      headers: { "X-Total-Count": "2", "Content-Range": undefined, Link: /rel="first"/ },
      json: [],
    });
    assert.equal(links(answer).next, undefined);
  });
});

describe("a cursor", () => {
  let cursor: string;
  before(async () => {
    const first = await service.send({ path: `${list}?limit=2` });
    cursor = new URLSearchParams((links(first).next ?? "").split("?")[1]).get("cursor") ?? "";
    check(await service.send({ path: `${list}?cursor=${cursor}` }), { status: 200, json: bodies(2, 5) });
  });

  test("is the same for the same page: it holds no time", async () => {
    const again = await service.send({ path: `${list}?limit=2` });
    assert.ok((links(again).next ?? "").endsWith(`cursor=${cursor}`));
  });
});
