/** Update operators and what callers cannot read or set. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Answer, type Request, startServiceForFile } from "../service.ts";
import { auth, type Caller, createAs, outcome, sendAs } from "./callers.ts";

const service = await startServiceForFile({
  auth,
  collections: {
    articles: {
      schema: {
        type: "object",
        properties: {
          title: { type: "string" },
          views: { type: "integer" },
          tags: { type: "array" },
          author: { type: "object" },
          pins: { type: "integer", writeOnly: true },
          salary: { type: "integer", minimum: 0 },
          total: { type: "integer", readOnly: true },
        },
      },
      attributes: { salary: { roles: ["hr"] } },
      defaults: { total: 7 },
      access: { read: "authenticated", write: "authenticated" },
    },
  },
});

const content = { title: "A", views: 1, tags: ["a"], author: { name: "Ada" }, pins: 5, salary: 10 };
const make = () => createAs(service, "hans", "articles", content);
const as = (who: Caller, path: string, update: unknown): Promise<Answer> => {
  const headers = { "Content-Type": "application/vnd.holdfast.update+json" };
  return sendAs(service, who, { method: "PATCH", path, headers, body: JSON.stringify(update) });
};
const read = async (who: Caller, path: string) => {
  const { headers, json } = await sendAs(service, who, { path });
  const { id: _, ...attributes } = json as Record<string, unknown>;
  return { version: Number(/\d+/.exec(headers.etag ?? "")?.[0]), attributes };
};

describe("a caller who cannot read learns nothing from an update:", () => {
  const guesses: Record<string, object> = {
    "an increment of what is there": { views: { $increment: 1 } },
    "an increment of what is not there": { other: { $increment: 1 } },
    "a least number": { views: { $min: 1 } },
    "a greatest number": { title: { $max: 1 } },
    "an item": { tags: { $append: ["b"] } },
    "an item that may be there": { tags: { $addUnique: ["a"] } },
    "the removal of an item": { tags: { $remove: ["a"] } },
    "a nested attribute": { "author.name": { $set: "Bob" } },
    "the removal of a nested attribute": { "title.x": { $unset: true } },
    "a guess beside what would be taken": { title: { $set: "B" }, views: { $increment: 1 } },
  };
  for (const [name, update] of Object.entries(guesses))
    test(`${name} is a 403`, async () => {
      const { path } = await make();
      const answer = await as("adaWrites", path, update);
      assert.equal(outcome(answer), "403 INSUFFICIENT_SCOPE", answer.text);
      assert.match((answer.json as { detail: string }).detail, /\$set and \$unset whole attributes/);
      assert.equal((await read("hans", path)).version, 1);
    });

  test("$set and $unset of whole attributes are taken, each as a new version", async () => {
    const { path } = await make();
    for (const [n, update] of [{ title: { $set: "A" } }, { other: { $unset: true } }, {}].entries()) {
      const answer = await as("adaWrites", path, update);
      assert.deepEqual([answer.status, answer.text], [204, ""]);
      assert.equal((await read("hans", path)).version, n + 2);
    }
  });

  test("a read-only attribute is refused, whether it is there or not", async () => {
    const { path } = await make();
    for (const update of [{ total: { $set: 7 } }, { total: { $unset: true } }])
      assert.equal(outcome(await as("adaWrites", path, update)), "400 VALIDATION_FAILED");
  });
});

describe("hidden attributes in an update:", () => {
  test("a write-only attribute can be set and removed, and nothing else", async () => {
    const { path } = await make();
    for (const update of [
      { pins: { $increment: 1 } },
      { pins: { $max: 1 } },
      { pins: { $append: [1] } },
      { "pins.x": { $set: 1 } },
      { "pins.x": { $unset: true } },
    ]) {
      const answer = await as("ada", path, update);
      assert.equal(outcome(answer), "400 VALIDATION_FAILED", answer.text);
      assert.match((answer.json as { detail: string }).detail, /"pins" is write-only/);
    }
    assert.equal((await read("ada", path)).version, 1);
    for (const [n, update] of [{ pins: { $set: 6 } }, { pins: { $unset: true } }].entries()) {
      assert.equal((await as("ada", path, update)).status, 200);
      assert.equal((await read("ada", path)).version, n + 2, "even if it changes nothing");
    }
  });

  test("a restricted attribute is as an unknown one", async () => {
    const { path } = await make();
    const told = async (name: string, operator: object): Promise<unknown> => {
      const { json, text } = await as("ada", path, { [name]: operator });
      const { detail, violations, code } = json as Record<string, unknown>;
      return text.includes('"code"')
        ? JSON.parse(JSON.stringify({ detail, violations, code }).replaceAll(name, "x"))
        : undefined;
    };
    for (const operator of [{ $increment: 1 }, { $set: 10 }, { $unset: true }, { $max: 1 }, { $append: [1] }])
      assert.deepEqual(await told("salary", operator), await told("galary", operator));
    assert.equal((await read("hans", path)).attributes.salary, 10);
    assert.equal((await as("hans", path, { salary: { $increment: 5 } })).status, 200);
    assert.equal((await read("hans", path)).attributes.salary, 15);
  });

  test("a read-only attribute keeps its value", async () => {
    const { path } = await make();
    const refused: object[] = [
      { total: { $increment: 1 } },
      { total: { $set: 8 } },
      { total: { $unset: true } },
    ];
    for (const update of refused)
      assert.equal(outcome(await as("ada", path, update)), "400 VALIDATION_FAILED");
    assert.equal((await as("ada", path, { total: { $increment: 0 } })).status, 200, "as in other patches");
    assert.deepEqual((await read("ada", path)).attributes.total, 7);
  });
});

test("the schema decides about the result", async () => {
  const { path } = await make();
  const request: Request = { path };
  const refused = await as("hans", path, { salary: { $increment: -11 } });
  assert.equal(outcome(refused), "400 VALIDATION_FAILED");
  assert.deepEqual((refused.json as { errors: object }).errors, { salary: "must be at least 0" });
  assert.equal(outcome(await as("ada", path, { views: { $set: "many" } })), "400 VALIDATION_FAILED");
  assert.equal(((await sendAs(service, "hans", request)).json as { salary: number }).salary, 10);
});
