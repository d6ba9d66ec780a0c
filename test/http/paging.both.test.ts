import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { check, links, linkTo } from "./check.ts";
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
async function walk(path: string): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const answer: Answer = await service.send({ path: next });
    assert.equal(answer.status, 200, answer.text);
    answers.push(answer);
    assert.ok(answers.length < 50, "the walk ends");
    next = links(answer).next;
  }
  return answers;
}

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

  test("that ends where the collection ends has no next", async () => {
    const answer = await service.send({ path: `${list}?limit=5` });
    check(answer, {
      status: 200,
      headers: { Link: linkTo('</api/v1/topics?limit=5>; rel="first"', "/api/v1/topics/_events") },
      json: bodies(0, 5),
    });
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

  test("does not need the resource that its cursor stands on", async () => {
    const made: Made[] = [];
    for (let n = 0; n < 4; n++) made.push(await service.create("anchored", { n }));
    const first = await service.send({ path: "/api/v1/anchored?limit=2" });
    await service.send({ method: "DELETE", path: made[1]?.path ?? "" });
    const second = await service.send({ path: links(first).next ?? "" });
    check(second, { status: 200, headers: { "X-Total-Count": "3" }, json: [made[2]?.body, made[3]?.body] });
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

  test("walk sees every resource once while others are written", async () => {
    const made: Made[] = [];
    for (let n = 0; n < 12; n++) made.push(await service.create("walked", { n }));
    const seen: string[] = [];
    for (let next: string | undefined = "/api/v1/walked?limit=5"; next !== undefined; ) {
      const answer: Answer = await service.send({ path: next });
      seen.push(...(answer.json as { id: string }[]).map(({ id }) => id));
      await service.create("walked", { late: true });
      const first = made[0] as Made;
      await service.send({ method: "PATCH", path: first.path, content: { touched: seen.length } });
      next = seen.length > 100 ? undefined : links(answer).next;
      if (seen.length > 20) break;
    }
    assert.deepEqual(
      seen.filter((id) => made.some((one) => one.id === id)),
      made.map(({ id }) => id),
    );
    assert.equal(new Set(seen).size, seen.length);
  });

  test("has 100 resources where nothing else is asked, and at most 1000", async () => {
    await Promise.all(Array.from({ length: 1_003 }, (_, n) => service.create("many", { n })));
    const plain = await service.send({ path: "/api/v1/many" });
    check(plain, { status: 200, headers: { "X-Total-Count": "1003", "Content-Range": "many 0-99/1003" } });
    assert.equal((plain.json as unknown[]).length, 100);
    assert.match(links(plain).next ?? "", /cursor=/);
    for (const limit of ["1000", "1001", "4294967297", "99999999999999999999"]) {
      const answer = await service.send({ path: `/api/v1/many?limit=${limit}` });
      check(answer, { status: 200, headers: { "Content-Range": "many 0-999/1003" } });
      assert.equal((answer.json as unknown[]).length, 1_000);
      const rest = await service.send({ path: links(answer).next ?? "" });
      assert.equal((rest.json as unknown[]).length, 3);
    }
    const all = (await walk("/api/v1/many")).flatMap(({ json }) => json as { id: string }[]);
    assert.equal(all.length, 1_003);
    const ids = all.map(({ id }) => id);
    assert.deepEqual(ids, ids.toSorted());
  });
});

describe("a cursor", () => {
  let cursor: string;
  before(async () => {
    const first = await service.send({ path: `${list}?limit=2` });
    cursor = new URLSearchParams((links(first).next ?? "").split("?")[1]).get("cursor") ?? "";
    check(await service.send({ path: `${list}?cursor=${cursor}` }), { status: 200, json: bodies(2, 5) });
  });

  test("with any one character changed is a 400", async () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (let at = 0; at < cursor.length; at++) {
      const others = [...alphabet].filter((letter) => letter !== cursor[at]);
      // The last character of base64url has spare bits, so there each other one is tried.
      const tried = at === cursor.length - 1 ? others : [others[at % 63], others[(at * 7 + 31) % 63]];
      for (const letter of tried) {
        const edited = cursor.slice(0, at) + letter + cursor.slice(at + 1);
        check(await service.send({ path: `${list}?cursor=${edited}` }), {
          status: 400,
          problem: "INVALID_CURSOR",
        });
      }
    }
  });

  test("shortened, lengthened or made up is a 400", async () => {
    const made = [
      ...[cursor.slice(1), cursor.slice(0, -1), `${cursor}A`, `${cursor}=`, `A${cursor}`, cursor + cursor],
      ...[
        "x",
        "null",
        "0",
        "%20",
        `${cursor}%20`,
        `%20${cursor}`,
        "-".repeat(3_000),
        "%F0%9F%98%80",
        "e30",
        "W10",
      ],
      ...[cursor.toUpperCase(), cursor.toLowerCase(), [...cursor].reverse().join("")].filter(
        (c) => c !== cursor,
      ),
    ];
    for (const text of made)
      check(await service.send({ path: `${list}?cursor=${text}` }), {
        status: 400,
        problem: "INVALID_CURSOR",
      });
  });

  test("that is empty or comes twice is a 400", async () => {
    for (const query of ["cursor=", "cursor", `cursor=${cursor}&cursor=${cursor}`]) {
      const answer = await service.send({ path: `${list}?${query}` });
      assert.equal(answer.status, 400, query);
      assert.ok(["INVALID_CURSOR", "INVALID_PARAMETER"].includes((answer.json as { code: string }).code));
    }
  });

  test("is the same for the same page: it holds no time", async () => {
    const again = await service.send({ path: `${list}?limit=2` });
    assert.ok((links(again).next ?? "").endsWith(`cursor=${cursor}`));
  });
});
