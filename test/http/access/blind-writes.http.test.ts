/** Callers with a credential only for writes learn nothing about existing resources. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Answer, type Request, startServiceForFile } from "../service.ts";
import { auth, createAs, outcome, sendAs } from "./callers.ts";

/** A resource with a read-only attribute. */
const withBalance = "0199e7b2-3c4d-7abc-8def-0123456789ab";

const service = await startServiceForFile({
  auth,
  seeds: { articles: [{ id: withBalance, balance: 100 }] },
  collections: {
    articles: {
      schema: {
        type: "object",
        properties: {
          title: { type: "string" },
          body: { type: "string" },
          stars: { type: "integer" },
          author: { type: "object" },
          tags: { type: "array" },
          balance: { type: "integer", readOnly: true },
          rank: { type: "integer", readOnly: true },
        },
        if: { required: ["title"], properties: { title: { const: "secret" } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: { stars: { maximum: 3 } } },
      },
      access: { read: "authenticated", write: "authenticated" },
    },
  },
});
const content = { title: "secret", author: { name: "Ada" }, tags: ["a"] };
const { path, id } = await createAs(service, "ada", "articles", content);

const blindly = (request: Request): Promise<Answer> => sendAs(service, "adaWrites", request);
const patch = (...operations: object[]): Request => ({
  method: "PATCH",
  path,
  body: JSON.stringify(operations),
  headers: { "Content-Type": "application/json-patch+json" },
});
const inBatch = ({ headers, body, content, method }: Request): Request => ({
  method: "POST",
  path: "/api/v1/_batch",
  content: {
    operations: [
      {
        method,
        path: `/articles/${id}`,
        body: content ?? JSON.parse(String(body)),
        ...(headers === undefined ? {} : { headers }),
      },
    ],
  },
});
const versionOf = async () =>
  Number(/\d+/.exec((await sendAs(service, "ada", { path })).headers.etag ?? "")?.[0]);

describe("a JSON Patch that would reveal content is refused, whether it fits or not:", () => {
  const guesses: Record<string, object[]> = {
    "a test that is true": [{ op: "test", path: "/title", value: "secret" }],
    "a test that is false": [{ op: "test", path: "/title", value: "other" }],
    "a removal of what is there": [{ op: "remove", path: "/title" }],
    "a removal of what is not there": [{ op: "remove", path: "/body" }],
    "a replacement of what is there": [{ op: "replace", path: "/title", value: "x" }],
    "a replacement of what is not there": [{ op: "replace", path: "/body", value: "x" }],
    "an addition inside of what is there": [{ op: "add", path: "/author/born", value: 1815 }],
    "an addition inside of what is not there": [{ op: "add", path: "/stars/x", value: 1 }],
    "an item at the end of an array": [{ op: "add", path: "/tags/-", value: "b" }],
    "a copy": [{ op: "copy", from: "/title", path: "/body" }],
    "a move": [{ op: "move", from: "/title", path: "/body" }],
    "a guess behind what would be taken": [
      { op: "add", path: "/stars", value: 1 },
      { op: "test", path: "/title", value: "secret" },
    ],
  };
  for (const [name, operations] of Object.entries(guesses))
    test(name, async () => {
      const before = await versionOf();
      for (const request of [patch(...operations), inBatch(patch(...operations))]) {
        const answer = await blindly(request);
        assert.equal(outcome(answer), "403 INSUFFICIENT_SCOPE", answer.text);
        assert.match(answer.headers["www-authenticate"] ?? "", /scope="articles:read"/);
        assert.match((answer.json as { detail: string }).detail, /"add" whole attributes/);
      }
      assert.equal(await versionOf(), before);
    });
});

describe("every accepted write makes a new version, even if it changes nothing:", () => {
  const same = { title: "secret", author: { name: "Ada" }, tags: ["a"] };
  const writes: Record<string, () => Request> = {
    "a merge patch": () => ({ method: "PATCH", path, content: { title: "secret" } }),
    "a merge patch of a part": () => ({ method: "PATCH", path, content: { author: { name: "Ada" } } }),
    "a merge patch of nothing": () => ({ method: "PATCH", path, content: {} }),
    "a removal of what is not there": () => ({ method: "PATCH", path, content: { body: null } }),
    "a JSON Patch": () => patch({ op: "add", path: "/title", value: "secret" }),
    "a replacement": () => ({ method: "PUT", path, content: { id, ...same } }),
    "a return to an earlier version": () => ({
      method: "POST",
      path: `${path}/_restore`,
      content: { version: 1 },
    }),
  };
  for (const [name, request] of Object.entries(writes))
    test(name, async () => {
      let version = await versionOf();
      const requests = [request(), ...(name.startsWith("a return") ? [] : [inBatch(request())])];
      for (const each of requests) {
        const answer = await blindly(each);
        assert.ok(answer.status < 300, answer.text);
        assert.doesNotMatch(answer.text, /secret|Ada/);
        assert.equal(await versionOf(), ++version);
      }
      const whole = (await sendAs(service, "ada", { path })).json;
      assert.deepEqual(whole, { id, ...same });
    });

  test("not for a caller who may read", async () => {
    const before = await versionOf();
    await sendAs(service, "ada", { method: "PATCH", path, content: { title: "secret" } });
    assert.equal(await versionOf(), before);
  });
});

test("the faults of a write are reported without the stored content", async () => {
  const faulty = await blindly({ method: "PATCH", path, content: { stars: 5 } });
  assert.equal(outcome(faulty), "400 VALIDATION_FAILED");
  assert.deepEqual((faulty.json as { errors: object }).errors, { stars: "must be at most 3" });
  const unknown = await blindly({ method: "PATCH", path, content: { star: 5 } });
  assert.equal(outcome(unknown), "400 VALIDATION_FAILED");
});

test("a read-only attribute is refused whether it is there or not, and whatever its value", async () => {
  const target = `/api/v1/articles/${withBalance}`;
  const jsonPatch = (value: object): Request => ({ ...patch(value), path: target });
  const replacement = { id: withBalance, title: "new" };
  const requests: Record<string, Request> = {
    "the same value": { method: "PATCH", path: target, content: { balance: 100 } },
    "another value": { method: "PATCH", path: target, content: { balance: 99 } },
    "a value of what is not there": { method: "PATCH", path: target, content: { rank: 1 } },
    "a removal": { method: "PATCH", path: target, content: { balance: null } },
    "a removal of what is not there": { method: "PATCH", path: target, content: { rank: null } },
    "a JSON Patch to the same": jsonPatch({ op: "add", path: "/balance", value: 100 }),
    "a JSON Patch to another": jsonPatch({ op: "add", path: "/balance", value: 99 }),
    "a replacement with the same": {
      method: "PUT",
      path: target,
      content: { ...replacement, balance: 100 },
    },
    "a replacement with another": { method: "PUT", path: target, content: { ...replacement, balance: 99 } },
  };
  for (const [name, request] of Object.entries(requests))
    assert.equal(outcome(await blindly(request)), "400 VALIDATION_FAILED", name);

  const accepted: Request[] = [
    jsonPatch({ op: "add", path: "", value: replacement }),
    { method: "PUT", path: target, content: replacement },
    { method: "PATCH", path: target, content: { title: "new" } },
  ];
  for (const request of accepted) {
    assert.equal((await blindly(request)).status, 204);
    const whole = (await sendAs(service, "ada", { path: target })).json;
    assert.deepEqual(whole, { ...replacement, balance: 100 });
  }
});
