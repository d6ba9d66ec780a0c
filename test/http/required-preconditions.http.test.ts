import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check, readDated, unknownId } from "./check.ts";
import { type Made, startServiceForFile } from "./service.ts";

const schema = {
  type: "object",
  required: ["title"],
  properties: { title: { type: "string" }, n: { type: "integer" } },
};
const service = await startServiceForFile({
  collections: { guarded: { schema, requirePreconditions: true }, free: { requirePreconditions: false } },
  limits: { bodyBytes: 2_000 },
});

type Headers = Record<string, string | readonly string[]>;

const writes = {
  PUT: ({ id, path }: Made) => ({ method: "PUT", path, content: { id, title: "New" } }),
  PATCH: ({ path }: Made) => ({ method: "PATCH", path, content: { title: "New" } }),
  DELETE: ({ path }: Made) => ({ method: "DELETE", path }),
};
const success = { PUT: 200, PATCH: 200, DELETE: 205 } as const;

const required = {
  status: 428,
  problem: "PRECONDITION_REQUIRED",
  violations: [{ in: "header", name: "If-Match", code: "required" }],
  headers: { ETag: undefined },
} as const;

const make = () => service.create("guarded", { title: "Old" });

for (const method of ["PUT", "PATCH", "DELETE"] as const)
  describe(`a ${method} in a collection that requires preconditions`, { concurrency: 8 }, () => {
    const tryWrite = (made: Made, headers: Headers) => service.send({ ...writes[method](made), headers });

    const withoutState: Record<string, Headers> = {
      "no precondition": {},
      "If-None-Match alone": { "If-None-Match": '"7"' },
      "If-Modified-Since alone": { "If-Modified-Since": "Thu, 01 Jan 2026 00:00:00 GMT" },
      "If-Unmodified-Since that is no date": { "If-Unmodified-Since": "yesterday" },
      "If-Unmodified-Since of a day that does not exist": {
        "If-Unmodified-Since": "Thu, 99 Jan 1970 00:00:00 GMT",
      },
      "If-None-Match that is false": { "If-None-Match": "*" },
    };
    for (const [name, headers] of Object.entries(withoutState)) {
      if (method === "PUT" && headers["If-None-Match"] === "*") continue; // a create (own-ids.test.ts)
      test(`is a 428 with ${name}, and changes nothing`, async () => {
        const made = await make();
        check(await tryWrite(made, headers), required);
        const now = await service.send({ path: made.path });
        check(now, { status: 200, headers: { ETag: '"1"' }, json: made.body });
      });
    }

    const naming: Headers[] = [
      { "If-Match": '"1"' },
      { "If-Match": '"0", "1"' },
      { "If-Match": ['"0"', '"1"'] },
      { "If-Match": "*" },
      { "If-Match": '"1"', "If-None-Match": '"2"' },
      { "If-Match": '"1"', "If-Unmodified-Since": "yesterday" },
    ];
    for (const headers of naming)
      test(`goes through with ${JSON.stringify(headers)}`, async () =>
        check(await tryWrite(await make(), headers), { status: success[method] }));

    test("goes through with the date of the last change, and is a 412 with one before it", async () => {
      const made = await make();
      const date = (await readDated(service, made.path)).headers["last-modified"] ?? "";
      const earlier = new Date(Date.parse(date) - 1_000).toUTCString();
      check(await tryWrite(made, { "If-Unmodified-Since": earlier }), {
        status: 412,
        problem: "PRECONDITION_FAILED",
        headers: { ETag: '"1"' },
      });
      check(await tryWrite(made, { "If-Unmodified-Since": date }), { status: success[method] });
    });

    for (const value of ['"2"', 'W/"1"', "1", ""])
      test(`is a 412 with If-Match: ${value}, as anywhere`, async () => {
        const answer = await tryWrite(await make(), { "If-Match": value });
        check(answer, { status: 412, problem: "PRECONDITION_FAILED", headers: { ETag: '"1"' } });
      });

    test("of an unknown id is a 404", async () => {
      const made = { id: unknownId, path: `/api/v1/guarded/${unknownId}`, body: {} };
      check(await tryWrite(made, {}), { status: 404 });
    });

    test("needs none where the collection does not say so", async () => {
      check(await tryWrite(await service.create("free", {}), {}), { status: success[method] });
    });
  });

describe("a collection that requires preconditions", () => {
  test("asks for them before the content is read, and after its type", async () => {
    const { path } = await make();
    const put = (headers: Headers, body: string) => service.send({ method: "PUT", path, headers, body });
    const json = { "Content-Type": "application/json" };
    check(await put({ "Content-Type": "text/plain" }, "x"), {
      status: 415,
      problem: "UNSUPPORTED_MEDIA_TYPE",
    });
    check(await put({ ...json, Accept: "text/html" }, "{}"), { status: 406, problem: "NOT_ACCEPTABLE" });
    check(await put(json, "x".repeat(3_000)), { status: 413, problem: "CONTENT_TOO_LARGE" });
    for (const body of ["{", "[]", '{"id":"other","title":1}']) check(await put(json, body), required);
  });

  test("says so without waiting for the content", async () => {
    const { path } = await make();
    const connection = await service.connect();
    connection.write(
      `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n",
    );
    const answer = await connection.answer("PUT");
    connection.close();
    if (answer.status !== 428) throw new Error(`answered ${answer.status} ${answer.body}`);
  });

  test("asks for them in a batch too, of each operation", async () => {
    const { path } = await make();
    const operation = { method: "DELETE", path: path.slice("/api/v1".length) };
    const send = (headers: object) =>
      service.send({
        method: "POST",
        path: "/api/v1/_batch",
        content: { operations: [{ ...operation, headers }] },
      });
    const refused = await send({});
    const { code, operation: index } = refused.json as { code: string; operation: number };
    assert.deepEqual([refused.status, code, index], [428, "PRECONDITION_REQUIRED", 0]);
    check(await send({ "If-Match": "*" }), { status: 200 });
  });

  test("is read and created in as any other", async () => {
    const { path, body } = await make();
    check(await service.send({ path }), { status: 200, json: body });
    check(await service.send({ path: "/api/v1/guarded" }), { status: 200 });
  });
});
