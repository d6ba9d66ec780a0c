import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, readDated, unknownId } from "./check.ts";
import { type Answer, type Made, startServiceForFile } from "./service.ts";

const service = await startServiceForFile();

type Headers = Record<string, string>;

/** Each kind of write of a resource, as a request that would change it. */
const writes = {
  PUT: ({ id, path }: Made) => ({ method: "PUT", path, content: { id, title: "New" } }),
  PATCH: ({ path }: Made) => ({ method: "PATCH", path, content: { title: "New" } }),
  DELETE: ({ path }: Made) => ({ method: "DELETE", path }),
};
type Write = keyof typeof writes;
const success = { PUT: 200, PATCH: 200, DELETE: 205 } as const;

async function tryWrite(method: Write, made: Made, headers: Headers): Promise<Answer> {
  return service.send({ ...writes[method](made), headers });
}

async function refuses(method: Write, headers: Headers): Promise<void> {
  const made = await service.create("topics", { title: "Old" });
  const answer = await tryWrite(method, made, headers);
  check(answer, { status: 412, problem: "PRECONDITION_FAILED", headers: { ETag: '"1"' } });
  check(await service.send({ path: made.path }), { status: 200, headers: { ETag: '"1"' }, json: made.body });
}

async function allows(method: Write, headers: Headers): Promise<void> {
  const made = await service.create("topics", { title: "Old" });
  const answer = await tryWrite(method, made, headers);
  check(answer, { status: success[method] });
}

const matching = ['"1"', "*", '"0", "1"', '"1","2"', 'W/"1", "1"', '"a,b", "1"', '"1" , "c"', ', "1"'];
const different = [
  '"0" "1"',
  '"2"',
  'W/"1"',
  "1",
  '"0", "2"',
  'W/"1", "2"',
  '"1,2"',
  '"0,1,2"',
  '""',
  '"01"',
  '" 1"',
  "'1'",
];

for (const method of ["PUT", "PATCH", "DELETE"] as const)
  describe(`a ${method}`, { concurrency: 8 }, () => {
    for (const value of matching)
      test(`with If-Match: ${value} goes through`, () => allows(method, { "If-Match": value }));
    for (const value of different)
      test(`with If-Match: ${value} is refused with 412 and the current ETag`, () =>
        refuses(method, { "If-Match": value }));
    for (const value of ['"1"', 'W/"1"', "*", '"0", W/"1"'])
      test(`with If-None-Match: ${value} is refused with 412`, () =>
        refuses(method, { "If-None-Match": value }));
    for (const value of ['"2"', "1", '"1,2"'])
      test(`with If-None-Match: ${value} goes through`, () => allows(method, { "If-None-Match": value }));

    for (const [value, advice] of [
      ['"7"', "Read the resource again, then decide whether to repeat the change."],
      ["1", "If-Match must contain ETags in double quotes, or *."],
      [
        'W/"1"',
        "If-Match never matches a weak ETag, which starts with W/. If a proxy has added W/, turn off its compression: the service itself compresses.",
      ],
    ] as const)
      test(`with If-Match: ${value} is told what to do`, async () => {
        const { json } = await tryWrite(method, await service.create("topics", { title: "Old" }), {
          "If-Match": value,
        });
        const detail = `A precondition is not met: the current ETag is "1". ${advice}`;
        assert.equal((json as { detail: string }).detail, detail);
      });

    test("with a stale If-Match is refused after somebody else's write", async () => {
      const made = await service.create("topics", { title: "Old" });
      await service.send({ method: "PATCH", path: made.path, content: { title: "Theirs" } });
      const answer = await tryWrite(method, made, { "If-Match": '"1"' });
      check(answer, { status: 412, problem: "PRECONDITION_FAILED", headers: { ETag: '"2"' } });
      const again = await tryWrite(method, made, { "If-Match": '"2"' });
      check(again, { status: success[method] });
    });

    test("of an unknown id is a 404 whatever the preconditions", async () => {
      const made = { id: unknownId, path: `/api/v1/topics/${unknownId}`, body: {} };
      const all = [{ "If-Match": "*" }, { "If-Match": '"1"' }, { "If-None-Match": "*" }];
      const creates = (headers: object) => method === "PUT" && "If-None-Match" in headers;
      for (const headers of all.filter((each) => !creates(each)))
        check(await tryWrite(method, made, headers), { status: 404, headers: { ETag: undefined } });
    });

    test("with If-Unmodified-Since goes by the time of the last change, rounded up", async () => {
      const made = await service.create("topics", { title: "Old" });
      const { headers } = await readDated(service, made.path);
      const lastModified = Date.parse(headers["last-modified"] ?? "");
      const since = (ms: number) => ({ "If-Unmodified-Since": new Date(lastModified + ms).toUTCString() });
      const refused = await tryWrite(method, made, since(-1_000));
      check(refused, { status: 412, problem: "PRECONDITION_FAILED", headers: { ETag: '"1"' } });
      check(await tryWrite(method, made, { ...since(-1_000), "If-Match": '"1"' }), {
        status: success[method],
      });
      const other = await service.create("topics", { title: "Old" });
      const otherTime = (await readDated(service, other.path)).headers["last-modified"] ?? "";
      check(await tryWrite(method, other, { "If-Unmodified-Since": otherTime }), { status: success[method] });
    });

    for (const value of [
      "yesterday",
      "2020-01-01T00:00:00.000Z",
      "0",
      "Thu, 99 Jan 1970 00:00:00 GMT",
      "Tue, 31 Feb 2015 00:00:00 GMT",
    ])
      test(`ignores If-Unmodified-Since: ${value}, which is no HTTP date`, () =>
        allows(method, { "If-Unmodified-Since": value }));
  });

describe("a GET or HEAD", { concurrency: 8 }, () => {
  for (const value of ['"1"', 'W/"1"', "*", '"0", "1"', '"a,b", W/"1"'])
    test(`with If-None-Match: ${value} is a 304`, async () => {
      const { path } = await service.create("topics", {});
      const { headers } = await service.send({ path });
      for (const method of ["GET", "HEAD"])
        check(await service.send({ method, path, headers: { "If-None-Match": value } }), {
          status: 304,
          headers: { ETag: '"1"', "Cache-Control": "no-cache", Vary: headers.vary },
        });
    });

  for (const value of ['"2"', "1", '"1,2"', '"10"'])
    test(`with If-None-Match: ${value} is answered whole`, async () => {
      const { path, body } = await service.create("topics", {});
      check(await service.send({ path, headers: { "If-None-Match": value } }), { status: 200, json: body });
    });

  test("with If-Match that is false is a 412", async () => {
    const { path, body } = await service.create("topics", {});
    for (const value of ['"2"', 'W/"1"', "1"]) {
      const headers = { "If-Match": value };
      check(await service.send({ path, headers }), { status: 412, problem: "PRECONDITION_FAILED" });
      check(await service.send({ method: "HEAD", path, headers }), { status: 412 });
    }
    for (const value of ['"1"', "*"])
      check(await service.send({ path, headers: { "If-Match": value } }), { status: 200, json: body });
  });

  test("of a list, and a QUERY, with If-Match that is false are a 412", async () => {
    await service.create("topics", {});
    for (const request of [{ method: "GET" }, { method: "HEAD" }, { method: "QUERY", content: {} }]) {
      const ask = (tag: string) =>
        service.send({ ...request, path: "/api/v1/topics", headers: { "If-Match": tag } });
      assert.equal((await ask('"1"')).status, 412, request.method);
      assert.equal((await ask("*")).status, 200, request.method);
    }
  });

  test("with both takes If-Match first", async () => {
    const { path } = await service.create("topics", {});
    const headers = { "If-Match": '"2"', "If-None-Match": '"1"' };
    check(await service.send({ path, headers }), { status: 412, problem: "PRECONDITION_FAILED" });
    check(await service.send({ path, headers: { ...headers, "If-Match": '"1"' } }), { status: 304 });
  });

  test("goes by dates where there are no ETags", async () => {
    const { path, body } = await service.create("topics", {});
    const { headers } = await readDated(service, path);
    const lastModified = Date.parse(headers["last-modified"] ?? "");
    const get = (name: string, ms: number, more: Headers = {}) =>
      service.send({ path, headers: { [name]: new Date(lastModified + ms).toUTCString(), ...more } });
    const fields = { ETag: '"1"', "Last-Modified": headers["last-modified"], "Cache-Control": "no-cache" };
    check(await get("If-Modified-Since", 0), { status: 304, headers: { ...fields, Vary: headers.vary } });
    check(await get("If-Modified-Since", -1_000), { status: 200, json: body });
    check(await get("If-Modified-Since", 0, { "If-None-Match": '"2"' }), { status: 200, json: body });
    check(await get("If-Modified-Since", -1_000, { "If-None-Match": '"1"' }), {
      status: 304,
      headers: fields,
    });
    check(await get("If-Unmodified-Since", -1_000), { status: 412, problem: "PRECONDITION_FAILED" });
    check(await get("If-Unmodified-Since", 0), { status: 200, json: body });
    check(await service.send({ path, headers: { "If-Modified-Since": "nonsense" } }), {
      status: 200,
      json: body,
    });
  });

  test("in the second of a change never says that nothing changed since then", async () => {
    const { path } = await service.create("topics", { n: 0 });
    for (let n = 1; n <= 10; n++) {
      const date = (await service.send({ path })).headers.date ?? "";
      await service.send({ method: "PATCH", path, content: { n } });
      const answer = await service.send({ path, headers: { "If-Modified-Since": date } });
      assert.equal(answer.status, 200);
      assert.equal((answer.json as { n: number }).n, n);
    }
  });

  test("of an unknown id is a 404 whatever the preconditions", async () => {
    const path = `/api/v1/topics/${unknownId}`;
    for (const headers of [{ "If-Match": '"1"' }, { "If-None-Match": "*" }, { "If-Match": "*" }])
      check(await service.send({ path, headers }), { status: 404 });
  });
});

describe("a create", () => {
  test("judges its preconditions by the collection", async () => {
    await service.create("guarded", {});
    const path = "/api/v1/guarded";
    const { headers } = await service.send({ path });
    const create = (fields: Headers) => service.send({ method: "POST", path, headers: fields, content: {} });
    for (const fields of [
      { "If-None-Match": "*" },
      { "If-None-Match": headers.etag ?? "" },
      { "If-Match": '"1"' },
      { "If-Match": headers.etag ?? "" },
    ])
      check(await create(fields), { status: 412, problem: "PRECONDITION_FAILED" });
    assert.equal((await service.send({ path })).headers["x-total-count"], "1");
    check(await create({ "If-Match": "*" }), { status: 201 });
    check(await create({ "If-None-Match": '"1"' }), { status: 201 });
  });
});
