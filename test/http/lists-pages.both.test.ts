import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, links, linkTo, pageLinks } from "./check.ts";
import { type Answer, type Made, startServiceForFile } from "./service.ts";

const service = await startServiceForFile();
const topics: Made[] = [];
for (let n = 0; n < 25; n++) {
  topics.push(await service.create("topics", { n, even: n % 2 === 0, title: `Topic ${n}` }));
}

const list = "/api/v1/topics";
const feed = `${list}/_events`;

function numbers(answer: Answer): number[] {
  return (answer.json as { n: number }[]).map(({ n }) => n);
}

function range(from: number, to: number, step = 1): number[] {
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, at) => from + at * step);
}

/** Follows a relation to its end. Returns every response. */
async function follow(path: string, relation: "next" | "prev" = "next"): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let at: string | undefined = path; at !== undefined; ) {
    const answer: Answer = await service.send({ path: at });
    assert.equal(answer.status, 200, answer.text);
    answers.push(answer);
    assert.ok(answers.length < 50, "the walk ends");
    at = links(answer)[relation];
  }
  return answers;
}

describe("the total of a list is told", () => {
  const cases: [query: string, total: string | undefined, contentRange: string | undefined][] = [
    ["", "25", "topics 0-24/25"],
    ["limit=10", "25", "topics 0-9/25"],
    ["limit=10&offset=20", "25", "topics 20-24/25"],
    ["limit=10&offset=30", "25", "topics */25"],
    ["offset=5", "25", "topics 5-24/25"],
    ["_start=5&_end=10", "25", "topics 5-9/25"],
    ["_start=5&_limit=3", "25", "topics 5-7/25"],
    ["_page=2&_limit=10", "25", "topics 10-19/25"],
    ["_page=3&_per_page=10", "25", "topics 20-24/25"],
    ["range=[0,9]", "25", "topics 0-9/25"],
    ["range=%5B20,29%5D", "25", "topics 20-24/25"],
    ["sort=-n&limit=5", "25", "topics 0-4/25"],
    ["count=exact&limit=5", "25", "topics 0-4/25"],
    ["even=true&count=exact", "13", "topics 0-12/13"],
    ["even=true&limit=5&offset=5", "13", "topics 5-9/13"],
    ["even=true&limit=5&offset=100", "13", "topics */13"],
    ["even=true&_start=10&_end=20", "13", "topics 10-12/13"],
    ["even=true&range=[0,4]", "13", "topics 0-4/13"],
    ["n:gt=1000&count=exact", "0", "topics */0"],
    // The only page, or the last one, shows it.
    ["even=true", "13", "topics 0-12/13"],
    ["even=true&limit=13", "13", "topics 0-12/13"],
    ["n:gt=1000", "0", "topics */0"],
    // The request has no count, or asks not to count.
    ["even=true&limit=12", undefined, undefined],
    ["even=true&limit=5", undefined, undefined],
    ["even=true&count=none", undefined, undefined],
    ["even=true&limit=5&offset=5&count=none", undefined, undefined],
    ["count=none", undefined, undefined],
    ["limit=5&offset=5&count=none", undefined, undefined],
  ];
  for (const [query, total, contentRange] of cases)
    test(`for ?${query}: ${total}, ${contentRange}`, async () => {
      for (const method of ["GET", "HEAD"])
        check(await service.send({ method, path: `${list}?${query}` }), {
          status: 200,
          headers: { "X-Total-Count": total, "Content-Range": contentRange, "Accept-Ranges": undefined },
        });
    });

  test("on later pages by cursor too, where the place of the page is not known", async () => {
    const answers = await follow(`${list}?even=true&count=exact&limit=5`);
    assert.deepEqual(answers.map(numbers), [range(0, 10, 2), range(10, 20, 2), range(20, 25, 2)]);
    for (const answer of answers.slice(1))
      check(answer, { status: 200, headers: { "X-Total-Count": "13", "Content-Range": undefined } });
  });

  for (const value of ["topics=0-9", "bytes=0-9"])
    test(`whatever Range says, and ${value} is ignored`, async () => {
      const answer = await service.send({ path: `${list}?range=[5,6]`, headers: { Range: value } });
      check(answer, { status: 200, headers: { "Content-Range": "topics 5-6/25" } });
      assert.deepEqual(numbers(answer), [5, 6]);
    });
});

describe("the links of a page by offset", () => {
  const to = (offset: number, rest = "") => `${list}?${rest}limit=10&offset=${offset}`;

  test("are next, prev, first and last", async () => {
    check(await service.send({ path: to(10) }), {
      status: 200,
      headers: {
        Link: linkTo(
          `<${to(20)}>; rel="next", <${to(0)}>; rel="prev", <${to(0)}>; rel="first", <${to(20)}>; rel="last"`,
          feed,
        ),
      },
    });
  });

  test("end with a full page where the total is a multiple of the limit", async () => {
    const path = `${list}?limit=5&offset=15`;
    const pages = await follow(path);
    assert.deepEqual(pages.map(numbers), [range(15, 20), range(20, 25)]);
    assert.equal(links(pages[0] as Answer).last, `${list}?limit=5&offset=20`);
  });

  const families = [
    "limit=10&offset=0",
    "offset=0&limit=10",
    "_start=0&_end=10",
    "_start=0&_limit=10",
    "_page=1&_limit=10",
    "_page=1&_per_page=10",
    "range=[0,9]",
    "%6cimit=10&offset=0",
  ];
  for (const query of families)
    test(`are spelled with limit and offset for ?${query}`, async () => {
      const answer = await service.send({ path: `${list}?${query}` });
      assert.deepEqual(pageLinks(answer, feed), { next: to(10), first: to(0), last: to(20) });
      const pages = await follow(`${list}?${query}`);
      assert.deepEqual(pages.map(numbers), [range(0, 10), range(10, 20), range(20, 25)]);
    });

  test("have no next on the last page, and lead back", async () => {
    const pages = await follow(to(20), "prev");
    assert.deepEqual(pages.map(numbers), [range(20, 25), range(10, 20), range(0, 10)]);
    assert.equal(links(pages[0] as Answer).next, undefined);
    assert.equal(links(pages[2] as Answer).prev, undefined);
  });

  test("past the end lead back to the last page", async () => {
    const answer = await service.send({ path: to(500) });
    check(answer, { status: 200, json: [] });
    assert.deepEqual(pageLinks(answer, feed), { prev: to(20), first: to(0), last: to(20) });
  });

  test("of no resources at all are first and last", async () => {
    const answer = await service.send({ path: to(0, "n:gt=1000&") });
    const expected = { first: to(0, "n:gt=1000&"), last: to(0, "n:gt=1000&") };
    assert.deepEqual(pageLinks(answer, `${feed}?n:gt=1000`), expected);
  });

  test("have no last where the total is not known", async () => {
    const rest = "even=true&count=none&";
    const answer = await service.send({ path: to(10, rest) });
    assert.deepEqual(pageLinks(answer, `${feed}?even=true`), { prev: to(0, rest), first: to(0, rest) });
  });
});

describe("links keep", () => {
  test("everything that was asked for beside the page", async () => {
    const asked = "even=true&sort=-n&fields=n&envelope=true&count=exact";
    const answer = await service.send({ path: `${list}?limit=5&${asked}` });
    const { first, next = "", ...others } = pageLinks(answer, `${feed}?even=true&fields=n`);
    assert.equal(first, `${list}?${asked}&limit=5`);
    assert.ok(next.startsWith(`${list}?${asked}&limit=5&cursor=`), next);
    assert.deepEqual(others, {});
  });

  test("what json-server's clients send", async () => {
    const asked = "_sort=n&_order=desc&n_gte=3";
    const pages = await follow(`${list}?_end=10&${asked}&_start=0`);
    assert.deepEqual(pages.map(numbers), [range(15, 25).toReversed(), range(5, 15).toReversed(), [4, 3]]);
    for (const page of pages) assert.ok((links(page).first ?? "").startsWith(`${list}?${asked}&limit=10&`));
  });

  test("a filter that stands unescaped in the URL, escaped", async () => {
    const answer = await service.send({
      path: `${list}?filter={"even":true,"title":["Topic<2>","Topic%204"]}`,
    });
    check(answer, { status: 200 });
    assert.deepEqual(numbers(answer), [4]);
    const kept = "filter=%7B%22even%22:true,%22title%22:%5B%22Topic%3C2%3E%22,%22Topic%204%22%5D%7D";
    assert.ok((links(answer).first ?? "").startsWith(`${list}?${kept}`), answer.headers.link ?? "");
  });

  test("the path without a slash at its end", async () => {
    const answer = await service.send({ path: `${list}/?even=true` });
    assert.deepEqual(pageLinks(answer, `${feed}?even=true`), { first: `${list}?even=true` });
  });
});

describe("a list in an envelope", () => {
  test("has the items, the total and the links", async () => {
    const path = `${list}?envelope=true&limit=2&offset=2`;
    const to = (offset: number) => `${list}?envelope=true&limit=2&offset=${offset}`;
    const answer = await service.send({ path });
    check(answer, {
      status: 200,
      headers: {
        "X-Total-Count": "25",
        "Content-Range": "topics 2-3/25",
        Link: linkTo(
          `<${to(4)}>; rel="next", <${to(0)}>; rel="prev", <${to(0)}>; rel="first", <${to(24)}>; rel="last"`,
          feed,
        ),
      },
      json: {
        items: topics.slice(2, 4).map(({ body }) => body),
        total: 25,
        limit: 2,
        self: path,
        first: to(0),
        prev: to(0),
        next: to(4),
        last: to(24),
      },
    });
    const texts = topics.slice(2, 4).map(({ body }) => JSON.stringify(body));
    assert.ok(
      answer.text.startsWith(`{"items":[${texts.join(",")}],"total":25,"limit":2,"self":"`),
      answer.text,
    );
  });

  test("by cursor has no prev and no last, and no total where none is wanted", async () => {
    const path = `${list}?envelope=true&n=7&count=none`;
    check(await service.send({ path }), {
      status: 200,
      headers: { "X-Total-Count": undefined, Link: linkTo(`<${path}>; rel="first"`, `${feed}?n=7`) },
      json: { items: [topics[7]?.body], limit: 100, self: path, first: path },
    });
  });

  test("is empty where there is nothing", async () => {
    const path = "/api/v1/never?envelope=true";
    check(await service.send({ path }), {
      status: 200,
      headers: { "X-Total-Count": "0", "Content-Range": "never */0" },
      json: { items: [], total: 0, limit: 100, self: path, first: path },
    });
  });

  test("has the same headers by HEAD", async () => {
    const path = `${list}?envelope=true&limit=2`;
    const { headers } = await service.send({ path });
    check(await service.send({ method: "HEAD", path }), {
      status: 200,
      headers: { "Content-Length": headers["content-length"], Link: headers.link, ETag: headers.etag },
    });
  });

  test("is a bare array with envelope=false", async () => {
    const answer = await service.send({ path: `${list}?envelope=false&limit=1` });
    check(answer, { status: 200, json: [topics[0]?.body] });
  });
});

describe("limit=0 with count=exact", () => {
  test("gives the total alone, in each form of a list", async () => {
    const headers = { "X-Total-Count": String(topics.length), "Page-Limit": "0" };
    check(await service.send({ path: `${list}?limit=0&count=exact` }), { status: 200, headers, json: [] });
    const some = await service.send({ path: `${list}?limit=0&count=exact&even=true&sort=-n` });
    assert.deepEqual(
      [some.text, some.headers["x-total-count"]],
      ["[]", String(Math.ceil(topics.length / 2))],
    );
    assert.doesNotMatch(String(some.headers.link), /rel="next"/);
    const envelope = await service.send({ path: `${list}?limit=0&count=exact&envelope=true` });
    const { items, total, next } = envelope.json as Record<string, unknown>;
    assert.deepEqual([items, total, next], [[], topics.length, undefined]);
    const content = { limit: 0, count: "exact" };
    check(await service.send({ method: "QUERY", path: list, content }), { status: 200, headers, json: [] });
    const csv = await service.send({ path: `${list}?limit=0&count=exact`, headers: { Accept: "text/csv" } });
    check(csv, { status: 200, headers });
  });

  test("does not begin a page, and needs count=exact", async () => {
    for (const query of ["limit=0", "limit=0&count=none", "limit=0&count=exact&offset=0", "limit=00"]) {
      const answer = await service.send({ path: `${list}?${query}` });
      check(answer, { status: 400, problem: "INVALID_PARAMETER" });
      assert.match(
        answer.text,
        /from 1 to 1000, or max, or 0 together with count=exact and without an offset or a cursor/,
      );
    }
    const query = await service.send({ method: "QUERY", path: list, content: { limit: 0 } });
    check(query, { status: 400, problem: "INVALID_PARAMETER" });
    assert.match(query.text, /or 0 together with count=exact/);
  });
});

describe("what a list does not understand is a 400:", () => {
  const parameters = [
    ...["limit=0", "limit=1.5", "limit=x", "offset=-1", "offset=100001", "offset=x"],
    ...["limit=5&offset=5&cursor=x", "limit=5&_start=0&_end=5", "range=[0,9]&offset=0", "_page=1&offset=0"],
    ...["range=[5,1]", "range=0-9", "range=[0", "_start=5&_end=3", "_page=0&_limit=5"],
    ...["filter={", "filter=[]", 'filter={"n":{"above":1}}', "n:above=1", "n:=1"],
    ...["_what=1", "version=1", "embed=x", "count=all", "envelope=yes", "fields=", "sort="],
  ];
  for (const query of parameters)
    test(query, async () => {
      for (const method of ["GET", "HEAD"])
        check(await service.send({ method, path: `${list}?${query}` }), {
          status: 400,
          problem: "INVALID_PARAMETER",
          headers: { ETag: undefined, Link: undefined, "X-Total-Count": undefined },
        });
    });
});
