import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { auth, sendAs, sendWith } from "./access/callers.ts";
import { check } from "./check.ts";
import { type Service, startFor } from "./service.ts";

const path = "/api/v1/things/_import";

const ndjson = { "Content-Type": "application/x-ndjson" };

const countOf = async (service: Service) => {
  const { headers } = await service.send({ path: "/api/v1/things?limit=1&count=exact" });
  return Number(headers["x-total-count"]);
};

const body = '{"id":"a"}\n';
const asked = { method: "POST", path, headers: ndjson, body };

describe("who can import, and where", () => {
  test("with auth, administrators only; for all others the path does not exist", async (t) => {
    const service = await startFor(t, {
      auth: { ...auth, administrators: [{ role: "ops" }] },
      collections: { things: { access: { read: "public", write: "public" } } },
    });
    for (const method of ["POST", "GET", "PUT", "DELETE", "PATCH"]) {
      for (const who of [undefined, "ada"] as const) {
        const answer = await sendAs(service, who, { ...asked, method });
        assert.deepEqual([answer.status, answer.text], [404, ""], method);
        assert.equal(answer.headers.allow, undefined);
      }
      const scoped = await sendWith(service, { sub: "o", roles: ["ops"], scope: "things:write" }, asked);
      assert.equal(scoped.status, 404);
    }
    check(await sendAs(service, "bad", asked), { status: 401, problem: "INVALID_TOKEN" });
    const ops = { sub: "olga", roles: ["ops"] };
    assert.equal((await sendWith(service, ops, asked)).status, 200);
    check(await sendWith(service, ops, { path }), { status: 405, problem: "METHOD_NOT_ALLOWED" });
    const history = await sendWith(service, ops, { path: "/api/v1/things/a/_changes" });
    assert.match(history.text, /"principal":"olga"/);
  });

  test("with auth and without administrators, the path does not exist", async (t) => {
    const service = await startFor(t, { auth, collections: { things: { access: { write: "public" } } } });
    assert.equal((await sendAs(service, "ada", asked)).status, 404);
  });

  test("an undeclared collection cannot be imported, and open mode keeps to its limit", async (t) => {
    const service = await startFor(t, { collections: { topics: {} } });
    assert.equal((await service.send(asked)).status, 404);
    const open = await startFor(t, { limits: { collections: 1 } });
    assert.equal((await open.send(asked)).status, 200);
    const other = await open.send({ ...asked, path: "/api/v1/others/_import" });
    check(other, { status: 400, problem: "TOO_MANY_COLLECTIONS" });
    const tried = await open.send({ ...asked, path: "/api/v1/others/_import?dryRun=true" });
    check(tried, { status: 400, problem: "TOO_MANY_COLLECTIONS" });
  });

  test("a read-only service refuses it with 503, also a dry run", async (t) => {
    const service = await startFor(t, { readOnly: true, collections: { things: {} }, seeds: { things: [] } });
    for (const query of ["", "?dryRun=true"]) {
      const answer = await service.send({ ...asked, path: path + query }, { mayFail: true });
      check(answer, { status: 503, problem: "UNAVAILABLE" });
    }
  });

  test("without a history it works as with one", async (t) => {
    const service = await startFor(t, { history: "none" });
    assert.equal((await service.send(asked)).status, 200);
    assert.equal(await countOf(service), 1);
  });
});

test("an import is also limited by what the resources become, and each resource has the limit of a body", async (t) => {
  const service = await startFor(t, { limits: { importBytes: 100_000, bodyBytes: 20_000 } });
  const csv = `${"n".repeat(10_000)}\n${"1\n".repeat(1_000)}`;
  const grown = await service.send({ ...asked, headers: { "Content-Type": "text/csv" }, body: csv });
  check(grown, { status: 413, problem: "CONTENT_TOO_LARGE" });
  assert.match(grown.text, /larger than 400000 bytes as JSON\. Send several smaller imports/);
  const long = await service.send({
    ...asked,
    body: `${JSON.stringify({ text: "x".repeat(20_000) })}\n{}\n`,
  });
  assert.equal((long.json as { report?: { invalid: number } }).report?.invalid, 1);
});
