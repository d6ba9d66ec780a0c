import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { machineTime } from "../until.ts";
import { check, type checkProblem, unknownId } from "./check.ts";
import { type Answer, type Request, startFor, startServiceForFile } from "./service.ts";

const service = await startServiceForFile();

const topics = "/api/v1/topics";
const clientId = "0191e7b2-3c4d-7abc-8def-0123456789ab";

/** One request for each status that a client can bring about, with the code of its problem. */
const failures: [request: Request, status: number, code: Parameters<typeof checkProblem>[1]][] = [
  [{ path: `${topics}?_x=1` }, 400, "INVALID_PARAMETER"],
  [{ path: `${topics}?cursor=x` }, 400, "INVALID_CURSOR"],
  [{ path: `${topics}/%zz` }, 400, "INVALID_PARAMETER"],
  [{ method: "POST", path: topics }, 400, "BODY_REQUIRED"],
  [{ method: "POST", path: topics, content: [] }, 400, "BODY_NOT_OBJECT"],
  [{ method: "PUT", path: topics }, 405, "METHOD_NOT_ALLOWED"],
  [{ path: topics, headers: { Accept: "text/html" } }, 406, "NOT_ACCEPTABLE"],
  [{ method: "POST", path: topics, content: {}, headers: { "If-Match": '"x"' } }, 412, "PRECONDITION_FAILED"],
  [{ path: `/${"x".repeat(8_000)}` }, 414, "URI_TOO_LONG"],
  [{ method: "POST", path: topics, body: "{}" }, 415, "UNSUPPORTED_MEDIA_TYPE"],
  [{ path: topics, headers: { Host: "example.org" } }, 421, "MISDIRECTED"],
];

function instance(answer: Answer): string {
  return (answer.json as { instance: string }).instance;
}

describe("a problem", () => {
  for (const [request, status, code] of failures) {
    const name = `${request.method ?? "GET"} ${request.path.slice(0, 40)}`;
    test(`${status} ${code} (${name}) is the whole object`, async () => {
      check(await service.send(request), { status, problem: code });
    });

    test(`${status} ${code} (${name}) is one of its own, named by our id and nothing that the client sent`, async () => {
      const headers = { ...request.headers, "X-Request-Id": clientId };
      const first = await service.send({ ...request, headers });
      const second = await service.send({ ...request, headers });
      assert.equal(first.headers["x-request-id"], clientId);
      assert.notEqual(instance(first), instance(second));
      assert.ok(!instance(first).includes(clientId));
    });

    test(`${status} ${code} (${name}) by HEAD is its fields alone`, async () => {
      if (request.method !== undefined) return;
      check(await service.send({ ...request, method: "HEAD" }), { status });
    });
  }

  test("of a query parameter names it", async () => {
    const answer = await service.send({ path: `${topics}?_nope=1&limit=0` });
    check(answer, { status: 400, problem: "INVALID_PARAMETER" });
    const { violations, errors } = answer.json as {
      violations: { in: string; name: string }[];
      errors?: unknown;
    };
    for (const violation of violations) assert.equal(violation.in, "query");
    assert.ok(violations.some(({ name }) => name === "_nope"));
    assert.equal(errors, undefined, "no member is wrong");
  });

  test("of an array says what to send instead", async () => {
    const said = async (path: string, content: object[] = [{ title: "x" }]) => {
      const answer = await service.send({ method: "POST", path: `/api/v1/${path}`, content });
      return (answer.json as { detail: string }).detail;
    };
    const start = "The body must be a JSON object, not an array";
    const operation = { method: "POST", path: "/topics", body: { title: "x" } };
    const written = (operations: object[]) => `POST /api/v1/_batch ${JSON.stringify({ operations })}`;
    const advice = `${start}: send one resource per request, or all of them in one batch:`;
    assert.equal(await said("topics"), `${advice} ${written([operation])}.`);
    assert.equal(
      await said("topics", [{ title: "x".repeat(500) }]),
      `${advice} POST /api/v1/_batch {"operations":[{"method":"POST","path":"/topics","body":{…}}]}.`,
    );
    assert.equal(await said("_batch"), `${start}: send {"operations": […]}.`);
  });

  test("does not carry the client's text as markup or fields", async () => {
    const answer = await service.send({ path: `${topics}?${encodeURIComponent("<script>\r\nX-Evil: 1")}=1` });
    check(answer, { status: 400, problem: "INVALID_PARAMETER", headers: { "X-Evil": undefined } });
  });
});

describe("an unknown path or id", () => {
  test("has no body, whatever Accept says of problems", async () => {
    for (const path of ["/", "/nowhere", "/api", "/api/v2/topics", `${topics}/${unknownId}`, `${topics}/a/b`])
      for (const headers of [{}, { Accept: "application/problem+json" }])
        check(await service.send({ path, headers }), {
          status: 404,
          headers: { "Cache-Control": "no-store" },
        });
  });
});

describe("X-Request-Id", () => {
  for (const id of ["abc", clientId, "A.b_c-9", "x".repeat(128)])
    test(`${id.slice(0, 40)} comes back`, async () => {
      for (const path of [topics, "/nowhere", "/livez"]) {
        const answer = await service.send({ path, headers: { "X-Request-Id": id } });
        assert.equal(answer.headers["x-request-id"], id);
      }
    });

  for (const id of ["x".repeat(129), "a b", 'a"b', "<b>", "\u00fc", ""])
    test(`${JSON.stringify(id).slice(0, 40)} is replaced by one of ours`, async () => {
      const answer = await service.send({ path: topics, headers: { "X-Request-Id": id } });
      check(answer, { status: 200 });
      assert.notEqual(answer.headers["x-request-id"], id);
    });

  test("is another for each request that has none, and is the instance of a problem", async () => {
    const first = await service.send({ path: `${topics}?_x=1` });
    const second = await service.send({ path: `${topics}?_x=1` });
    assert.notEqual(first.headers["x-request-id"], second.headers["x-request-id"]);
    for (const answer of [first, second])
      assert.equal(instance(answer), `urn:uuid:${answer.headers["x-request-id"]}`);
  });
});

describe("the page of a problem", () => {
  test("is where its type points", async () => {
    const { type } = (await service.send({ path: `${topics}?_x=1` })).json as { type: string };
    const answer = await service.send({ path: type });
    assert.equal(answer.status, 200);
    assert.match(answer.text, /INVALID_PARAMETER/);
    const head = await service.send({ method: "HEAD", path: type });
    assert.equal(head.status, 200);
    assert.equal(head.text, "");
    assert.equal(head.headers["content-length"], answer.headers["content-length"]);
  });

  test("takes GET and HEAD alone", async () => {
    const answer = await service.send({ method: "DELETE", path: "/problems/invalid-parameter" });
    check(answer, { status: 405, problem: "METHOD_NOT_ALLOWED", headers: { Allow: /^GET, HEAD/ } });
  });

  test("of a code that does not exist is a 404", async () => {
    for (const slug of ["nope", "INVALID_PARAMETER", "constructor", "__proto__"])
      check(await service.send({ path: `/problems/${slug}` }), { status: 404 });
  });
});

test("what fails in the service itself is a 500 that tells its id in the log, and not what failed", async (t) => {
  let isBroken = false;
  const failing = await startFor(t, {
    now: () => {
      if (isBroken) throw new Error("a secret of ours");
      return machineTime();
    },
  });
  const { path, body } = await failing.create("topics", { title: "Here" });
  isBroken = true;
  for (const method of ["GET", "PATCH"]) {
    const answer = await failing.send(
      method === "GET" ? { path } : { method, path, content: { title: "New" } },
      { mayFail: true },
    );
    check(answer, { status: 500, problem: "INTERNAL" });
    assert.doesNotMatch(answer.text, /secret/);
  }
  isBroken = false;
  check(await failing.send({ path }), { status: 200, json: body });
});
