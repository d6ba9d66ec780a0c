import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, links, linkTo } from "./check.ts";
import { type Answer, jsonType, type Made, type Request, startServiceForFile } from "./service.ts";

const service = await startServiceForFile();
const topics: Made[] = [];
for (let n = 0; n < 12; n++) topics.push(await service.create("topics", { n, even: n % 2 === 0 }));

const list = "/api/v1/topics";
const weak = /^W\/"\d+-[^"]+"$/;

function query(content: unknown, headers: Request["headers"] = {}): Promise<Answer> {
  return service.send({ method: "QUERY", path: list, content, headers });
}

function bodies(...numbers: number[]): unknown[] {
  return numbers.map((n) => topics[n]?.body);
}

/** The response to a GET of the Location of a response. */
function equivalent(answer: Answer): Promise<Answer> {
  return service.send({ path: answer.headers.location ?? "" });
}

describe("QUERY", () => {
  test("answers as GET does at its Location", async () => {
    const content = { filter: { even: true, n: { gte: 4 } }, sort: ["-n"], limit: 2, fields: ["n"] };
    const answer = await query(content);
    const at = "filter=%7B%22even%22:true,%22n%22:%7B%22gte%22:4%7D%7D&sort=-n&limit=2&fields=n".replaceAll(
      ":",
      "%3A",
    );
    check(answer, {
      status: 200,
      headers: {
        "Content-Type": jsonType,
        "Cache-Control": "no-cache",
        ETag: weak,
        "Accept-Query": "application/json",
        Location: `${list}?${at}`,
        "X-Total-Count": undefined,
        "Content-Range": undefined,
        "Content-Location": undefined,
        "Last-Modified": undefined,
      },
      json: [10, 8].map((n) => ({ id: topics[n]?.id, n })),
    });
    const get = await equivalent(answer);
    check(get, { status: 200, headers: { Link: answer.headers.link, Location: undefined } });
    assert.equal(get.text, answer.text);
    assert.match(links(answer).next ?? "", /&cursor=/);
  });

  test("of an empty object is the whole list", async () => {
    const answer = await query({});
    check(answer, {
      status: 200,
      headers: {
        Location: list,
        Link: linkTo(`<${list}>; rel="first"`, `${list}/_events`),
        "X-Total-Count": "12",
        "Content-Range": "topics 0-11/12",
      },
      json: topics.map(({ body }) => body),
    });
  });

  const contents: [content: Record<string, unknown>, numbers: number[]][] = [
    [{ limit: 2 }, [0, 1]],
    [{ limit: 2, offset: 3 }, [3, 4]],
    [{ sort: ["-even", "-n"], limit: 3 }, [10, 8, 6]],
    [{ filter: { or: [{ n: 1 }, { n: 7 }] } }, [1, 7]],
    [{ filter: { n: [3, 5] }, sort: ["-n"] }, [5, 3]],
    [{ filter: { n: "3" } }, []],
    [{ filter: { "a,b": { exists: false } }, limit: 1 }, [0]],
    [{ filter: { title: { ne: "50% & more+=" } }, limit: 1 }, [0]],
  ];
  for (const [content, numbers] of contents)
    test(`${JSON.stringify(content)} has an equivalent URL`, async () => {
      const answer = await query(content);
      check(answer, { status: 200, json: bodies(...numbers) });
      const get = await equivalent(answer);
      check(get, { status: 200, json: bodies(...numbers) });
      for (const name of ["link", "x-total-count", "content-range"])
        assert.equal(get.headers[name], answer.headers[name], name);
    });

  test("goes on by the cursor of a link, sent with the same content", async () => {
    const content = { filter: { even: true }, limit: 4 };
    const { next = "" } = links(await query(content));
    const cursor = new URLSearchParams(next.split("?")[1]).get("cursor");
    check(await query({ ...content, cursor }), { status: 200, json: bodies(8, 10) });
    check(await service.send({ path: next }), { status: 200, json: bodies(8, 10) });
  });

  test("too long for a URL has no Location, and a link with a cursor for the same content", async () => {
    const names = Array.from({ length: 900 }, (_, n) => `a longer name ${n}`);
    const content = { filter: { title: { nin: names } }, limit: 5 };
    const first = await query(content);
    check(first, {
      status: 200,
      headers: { Location: undefined, Link: /^<\/api\/v1\/topics\?limit=5&cursor=[\w-]+>; rel="next"$/ },
      json: bodies(0, 1, 2, 3, 4),
    });
    const { next = "" } = links(first);
    const cursor = new URLSearchParams(next.split("?")[1]).get("cursor");
    check(await query({ ...content, cursor }), { status: 200, json: bodies(5, 6, 7, 8, 9) });
    // It is never taken for a page of everything.
    check(await service.send({ path: next }), { status: 400, problem: "INVALID_CURSOR" });
    const last = await query({ ...content, limit: 100 });
    check(last, { status: 200, headers: { Link: undefined } });
    const byOffset = await query({ ...content, offset: 0 });
    check(byOffset, { status: 200, headers: { Link: undefined, "X-Total-Count": "12" } });
  });

  test("that no URL can ask for has no Location", async () => {
    const comma = await service.create("commas", { "a,b": 1, a: 2, b: 3 });
    for (const content of [{ fields: ["a,b"] }, { sort: ["a,b"], limit: 5 }]) {
      const answer = await service.send({ method: "QUERY", path: "/api/v1/commas", content });
      check(answer, { status: 200, headers: { Location: undefined } });
    }
    const content = { fields: ["a,b"] };
    const answer = await service.send({ method: "QUERY", path: "/api/v1/commas", content });
    assert.deepEqual(answer.json, [{ id: comma.id, "a,b": 1 }]);
  });

  test("is safe: it makes no collection and needs no precondition", async () => {
    const path = "/api/v1/never";
    check(await service.send({ method: "QUERY", path, content: {} }), {
      status: 200,
      headers: { "X-Total-Count": "0", "Content-Range": "never */0", Location: path },
      json: [],
    });
    const before = await service.send({ path: list });
    await query({}, { "If-Match": "*" });
    assert.equal((await service.send({ path: list })).headers.etag, before.headers.etag);
  });

  test("reads content that comes in chunks or after 100 Continue", async () => {
    const chunked = await service.raw(
      `QUERY ${list} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n9\r\n{"limit":\r\n2\r\n1}\r\n0\r\n\r\n`,
    );
    assert.match(chunked, /^HTTP\/1\.1 200 /);
    assert.ok(chunked.endsWith(JSON.stringify(bodies(0))), chunked);
    const expecting = await service.raw(
      `QUERY ${list} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n{}`,
    );
    assert.match(expecting, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  });
});

describe("If-None-Match of a QUERY", () => {
  test("with its ETag is a 304 with ETag and Location", async () => {
    const content = { filter: { even: true } };
    const answer = await query(content);
    const { etag = "", location, vary } = answer.headers;
    check(await query(content, { "If-None-Match": etag }), {
      status: 304,
      headers: { ETag: etag, Location: location, "Cache-Control": "no-cache", Vary: vary, Link: undefined },
    });
    check(await query(content, { "If-None-Match": '"x"' }), { status: 200 });
  });

  test("does not take the answer to other content for this one's", async () => {
    const { etag = "" } = (await query({ filter: { even: true } })).headers;
    check(await query({ filter: { even: false } }, { "If-None-Match": etag }), { status: 200 });
  });
});

describe("the content of a QUERY", () => {
  const acceptQuery = { "Accept-Query": "application/json" };

  for (const body of ["{}", ""])
    test(`without Content-Type is a 400 that tells the type (${body || "no content"})`, async () => {
      check(await service.send({ method: "QUERY", path: list, body }), {
        status: 400,
        problem: "INVALID_PARAMETER",
        headers: { ...acceptQuery, Accept: undefined },
        violations: [{ in: "header", name: "Content-Type" }],
      });
    });

  for (const type of [
    ...["text/plain", "application/x-www-form-urlencoded", "application/sql", "application/vnd.x+json"],
    ...["application/json; charset=latin1", "nonsense"],
  ])
    test(`of type ${type} is a 415 that tells the type`, async () => {
      const headers = { "Content-Type": type };
      check(await service.send({ method: "QUERY", path: list, headers, body: "{}" }), {
        status: 415,
        problem: "UNSUPPORTED_MEDIA_TYPE",
        headers: { ...acceptQuery, Accept: "application/json", "Accept-Encoding": undefined },
      });
    });

  test("that is compressed is a 415", async () => {
    check(await query({}, { "Content-Encoding": "gzip" }), {
      status: 415,
      problem: "UNSUPPORTED_CONTENT_CODING",
      headers: { "Accept-Encoding": "identity" },
    });
  });

  const json = { "Content-Type": "application/json" };
  const bad = [
    ["", "BODY_REQUIRED"],
    ["{", "MALFORMED_JSON"],
    ['{"limit":1,"limit":2}', "DUPLICATE_MEMBER"],
    ["[]", "BODY_NOT_OBJECT"],
  ] as const;
  for (const [body, problem] of bad)
    test(`${body || "that is not there"} is ${problem}`, async () => {
      check(await service.send({ method: "QUERY", path: list, headers: json, body }), {
        status: 400,
        problem,
      });
    });

  for (const content of [
    { filters: {} },
    { limit: 0 },
    { limit: "5" },
    { limit: 5, cursor: 5 },
    { sort: 5 },
    { fields: "" },
    { filter: [] },
    { filter: { n: { above: 1 } } },
    { offset: -1 },
  ])
    test(`${JSON.stringify(content)} is a 400`, async () => {
      const answer = await query(content);
      assert.equal(answer.status, 400, answer.text);
      check(answer, { status: 400, headers: { Location: undefined, ETag: undefined } });
    });

  test("with a cursor of another list is a 400", async () => {
    const { next = "" } = links(await query({ limit: 1 }));
    const cursor = new URLSearchParams(next.split("?")[1]).get("cursor");
    check(await query({ limit: 1, cursor }), { status: 200 });
    check(await query({ limit: 1, cursor, filter: { even: true } }), {
      status: 400,
      problem: "INVALID_CURSOR",
    });
  });

  test("that is too large is a 413", async () => {
    check(await query({ filter: { title: "x".repeat(1_048_576) } }), {
      status: 413,
      problem: "CONTENT_TOO_LARGE",
    });
  });
});

describe("a QUERY", () => {
  test("takes no parameters in its URL", async () => {
    check(await service.send({ method: "QUERY", path: `${list}?limit=1`, content: {} }), {
      status: 400,
      problem: "INVALID_PARAMETER",
      violations: [{ in: "query", name: "limit" }],
    });
  });

  test("whose Accept rules the formats out is a 406", async () => {
    check(await query({}, { Accept: "text/html" }), { status: 406, problem: "NOT_ACCEPTABLE" });
  });

  test("of a resource is a 405", async () => {
    check(await service.send({ method: "QUERY", path: topics[0]?.path ?? "", content: {} }), {
      status: 405,
      problem: "METHOD_NOT_ALLOWED",
    });
  });
});
