import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { StartError } from "../../../src/errors.ts";
import { withoutTokens } from "../check.ts";
import { type Answer, type Request, startFor, startService, startServiceForFile } from "../service.ts";
import { auth, type Caller, createAs, outcome, sendAs } from "./callers.ts";

const person = {
  type: "object",
  required: ["name", "salary"],
  properties: {
    name: { type: "string", maxLength: 100 },
    email: { type: "string", maxLength: 100 },
    salary: { type: "integer", minimum: 0 },
    grade: { type: "string" },
    pin: { type: "string", minLength: 4, writeOnly: true },
    createdBy: { type: "string", readOnly: true },
  },
  if: { required: ["grade"], properties: { grade: { const: "chief" } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { salary: { minimum: 100 } } },
};

const attributes = { salary: { roles: ["hr"] } };
const defaults = { createdBy: "$subject", salary: 10 };
const service = await startServiceForFile({
  auth,
  collections: {
    people: { schema: person, attributes, defaults, unique: ["email"], indexes: ["name"] },
    desks: {
      schema: { properties: { room: { type: "integer" }, seat: { type: "string", maxLength: 9 } } },
      attributes: { seat: { roles: ["hr"] } },
      unique: ["seat"],
    },
    loose: { attributes, defaults: { createdBy: "$subject" } },
  },
});

const path = "/api/v1/people";
let number = 0;

/** A person with a salary and a pin, created by a caller who can set both. */
async function hire(more: Record<string, unknown> = {}): Promise<string> {
  const name = `person${++number}`;
  const content = { name, salary: 777_777, pin: "p1n5ecret", ...more };
  return (await createAs(service, "hans", "people", content)).path;
}

const as = (who: Caller, request: Request): Promise<Answer> => sendAs(service, who, request);
const detailOf = (answer: Answer) => (answer.json as { detail: string }).detail;
const read = async (who: Caller, target: string) =>
  (await as(who, { path: target })).json as Record<string, unknown>;

describe("an attribute that is for a role", () => {
  test("is in no answer to others: not to reads, lists, tables, history or writes", async () => {
    const target = await hire();
    const { id, name } = await read("hans", target);
    assert.equal((await read("hans", target)).salary, 777_777);
    const requests: Request[] = [
      { path: target },
      { path: `${target}?version=1` },
      { path: `${target}?at=2100-01-01` },
      { path: `${target}?fields=name` },
      { path: `${path}?limit=1000` },
      { path: `${path}?name=${name}` },
      { path: `${path}?sort=name&limit=1000&envelope=true` },
      { path, headers: { Accept: "text/csv" } },
      { path, headers: { Accept: "application/x-ndjson" } },
      { method: "QUERY", path, content: { filter: { name } } },
      { method: "PATCH", path: target, content: { grade: "b" } },
      { method: "PUT", path: target, content: { id, name } },
      { method: "POST", path: `${target}/_restore`, content: { version: 1 } },
      {
        method: "POST",
        path: "/api/v1/_batch",
        content: { operations: [{ method: "PATCH", path: `/people/${id}`, body: { grade: "c" } }] },
      },
      { method: "PATCH", path: target, content: { grade: "b" }, headers: { "Idempotency-Key": '"grade"' } },
      { method: "PATCH", path: target, content: { grade: "b" }, headers: { "Idempotency-Key": '"grade"' } },
    ];
    for (const request of requests) {
      // Callers who see everything come first, so that a cache would keep their responses.
      if (request.method === undefined) await as("hans", request);
      const answer = await as("ada", request);
      assert.ok(answer.status < 300, `${request.method} ${request.path} ${answer.text}`);
      assert.doesNotMatch(
        withoutTokens(answer.text + JSON.stringify(answer.headers)),
        /salary|777777|pin|p1n5ecret/,
        request.path,
      );
    }
    assert.equal((await read("hans", target)).salary, 777_777, "and it is kept");
  });

  test("is nothing that others can ask for", async () => {
    await hire();
    for (const query of [
      "salary=777777",
      "salary:gte=1",
      "salary_gte=1",
      "salary:exists=true",
      "salary.x=1",
      "salary:like=1",
      "filter[salary]=1",
      "sort=salary:desc",
      "sort=-name,salary:desc",
      "sort=salary",
      "sort=-name,salary",
      "_sort=salary&_order=desc",
      "fields=salary",
      `filter=${encodeURIComponent('{"not":{"salary":{"gt":5}}}')}`,
      "pin=p1n5ecret",
      "sort=pin",
      "fields=pin",
      "pin:startsWith=p",
    ]) {
      const [asked = ""] = /salary|pin/.exec(query) ?? [];
      for (const collection of ["people", "loose"]) {
        if (collection === "loose" && asked === "pin") continue;
        const answer = await as("ada", { path: `/api/v1/${collection}?${query}` });
        assert.equal(outcome(answer), "400 INVALID_PARAMETER", `${collection} ${query}`);
        const spelled = query.replaceAll(asked, asked === "pin" ? "pxn" : "sxlary");
        if (collection === "loose") continue;
        const misspelled = await as("ada", { path: `/api/v1/${collection}?${spelled}` });
        const without = (text: string) =>
          text
            .replace(/urn:uuid:[0-9a-f-]+/, "")
            .replaceAll(/sxlary|salary|pxn|pin/g, "x")
            .replaceAll(/ Did you mean \\"[a-z_]+\\"\?/g, ".");
        assert.equal(
          without(answer.text).replaceAll("..", "."),
          without(misspelled.text).replaceAll("..", "."),
          query,
        );
      }
    }
    for (const content of [
      { filter: { salary: 777_777 } },
      { filter: { or: [{ name: "x" }, { not: { "salary:gte": 1 } }] } },
      { sort: ["-salary"] },
      { fields: ["salary"] },
      { filter: { pin: { startsWith: "p" } } },
    ])
      assert.equal(outcome(await as("ada", { method: "QUERY", path, content })), "400 INVALID_PARAMETER");
    const helped = await as("ada", { path: `${path}?salry=1` });
    assert.doesNotMatch(helped.text, /salary|pin\b/);
    assert.match((await as("hans", { path: `${path}?salry=1` })).text, /salary/);
    assert.equal((await as("hans", { path: `${path}?salary:gte=1&sort=salary&fields=salary` })).status, 200);
    assert.equal((await as("hans", { path: `${path}?pin=p1n5ecret` })).status, 400);
  });

  test("cannot be set by others, by any method, as if the schema did not know it", async () => {
    const target = await hire();
    const seen = await read("ada", target);
    const { id, name } = seen;
    for (const request of [
      { method: "POST", path, content: { name: "x", salary: 1 } },
      { method: "PUT", path: target, content: { id, name, salary: 777_777 } },
      { method: "PATCH", path: target, content: { salary: 777_777 } },
      {
        method: "PATCH",
        path: target,
        body: JSON.stringify([{ op: "add", path: "/salary", value: 1 }]),
        headers: { "Content-Type": "application/json-patch+json" },
      },
      { method: "POST", path: "/api/v1/loose", content: { salary: 1 } },
      {
        method: "PATCH",
        path: target,
        body: JSON.stringify([{ op: "replace", path: "", value: { ...seen, salary: 777_777 } }]),
        headers: { "Content-Type": "application/json-patch+json" },
      },
      {
        method: "POST",
        path: "/api/v1/_batch",
        content: { operations: [{ method: "PATCH", path: `/people/${id}`, body: { salary: 1 } }] },
      },
    ]) {
      const answer = await as("ada", request);
      assert.equal(outcome(answer), "400 VALIDATION_FAILED", `${request.method} ${answer.text}`);
      const { violations } = answer.json as { violations: { pointer: string; code: string }[] };
      assert.deepEqual(
        violations.map(({ pointer, code }) => [pointer, code]),
        [["#/salary", "unknownAttribute"]],
      );
    }
    assert.equal((await read("hans", target)).salary, 777_777);
    assert.equal((await as("hans", { method: "PATCH", path: target, content: { salary: 5 } })).status, 200);
  });

  test("is not there for the patches of others: no test, copy, move or removal finds it", async () => {
    const target = await hire();
    const patch = (operations: unknown) =>
      as("ada", {
        method: "PATCH",
        path: target,
        body: JSON.stringify(operations),
        headers: { "Content-Type": "application/json-patch+json" },
      });
    for (const operation of [
      { op: "test", path: "/salary", value: 777_777 },
      { op: "test", path: "/salary", value: 1 },
      { op: "copy", from: "/salary", path: "/grade" },
      { op: "move", from: "/salary", path: "/grade" },
      { op: "remove", path: "/salary" },
      { op: "replace", path: "/salary", value: 5 },
      { op: "copy", from: "/pin", path: "/grade" },
      { op: "test", path: "/pin", value: "p1n5ecret" },
    ]) {
      assert.equal(outcome(await patch([operation])), "409 PATCH_CONFLICT", JSON.stringify(operation));
    }
    assert.equal((await as("ada", { method: "PATCH", path: target, content: { salary: null } })).status, 200);
    assert.equal((await read("hans", target)).salary, 777_777);
  });

  test("its removal by others makes no version, as that of an attribute that does not exist", async () => {
    for (const target of [await hire(), (await createAs(service, "hans", "loose", { salary: 1 })).path]) {
      const { etag } = (await as("ada", { path: target })).headers;
      for (const name of ["salary", "unknown"]) {
        const removed = await as("ada", { method: "PATCH", path: target, content: { [name]: null } });
        assert.deepEqual([removed.status, removed.headers.etag], [200, etag], name);
        const unset = await as("ada", {
          method: "PATCH",
          path: target,
          body: JSON.stringify({ [name]: { $unset: true } }),
          headers: { "Content-Type": "application/vnd.holdfast.update+json" },
        });
        assert.deepEqual([unset.status, unset.headers.etag], [200, etag], name);
      }
      assert.ok("salary" in (await read("hans", target)));
    }
  });

  test("is kept by a replacement that leaves it out, and goes when those who see it leave it out", async () => {
    const target = (await createAs(service, "hans", "loose", { name: "x", salary: 1 })).path;
    const { id } = await read("ada", target);
    const replaced = await as("ada", { method: "PUT", path: target, content: { id, title: "boss" } });
    assert.deepEqual([replaced.status, replaced.headers.etag], [200, undefined]);
    assert.deepEqual(await read("hans", target), { id, salary: 1, title: "boss" });
    await as("hans", { method: "PUT", path: target, content: { id, title: "boss" } });
    assert.deepEqual(await read("hans", target), { id, title: "boss" });
  });

  test("is not told by what is wrong with the rest", async () => {
    const target = await hire({ salary: 50 });
    const answer = await as("ada", { method: "PATCH", path: target, content: { grade: "chief" } });
    assert.equal(outcome(answer), "400 VALIDATION_FAILED");
    const { instance: _, ...told } = answer.json as Record<string, unknown>; // a random one may have any digits
    assert.doesNotMatch(JSON.stringify(told), /salary|100|50/);
    assert.match(
      (await as("hans", { method: "PATCH", path: target, content: { grade: "chief" } })).text,
      /#\/salary/,
    );
    const guessed = await as("ada", { method: "POST", path, content: { name: "x", salry: 1 } });
    assert.doesNotMatch(guessed.text, /salary/);
    const wrong = await as("ada", { method: "POST", path, content: { name: "x", nothingAlike: 1 } });
    assert.equal(detailOf(guessed).replace("salry", "nothingAlike"), detailOf(wrong));
  });

  test("stays what it is when others go back to an earlier version", async () => {
    const target = await hire({ salary: 1 });
    await as("hans", { method: "PATCH", path: target, content: { salary: 2, grade: "a" } });
    const back = await as("ada", { method: "POST", path: `${target}/_restore`, content: { version: 1 } });
    assert.equal(back.status, 200, back.text);
    const { salary, grade, pin } = await read("hans", target);
    assert.deepEqual([salary, grade, pin], [2, undefined, undefined]);
  });

  test("stays what it was last when others bring back an earlier version of what is deleted", async () => {
    const target = await hire({ salary: 1 });
    await as("hans", { method: "PATCH", path: target, content: { salary: 2, grade: "a" } });
    await as("ada", { method: "DELETE", path: target });
    const back = await as("ada", { method: "POST", path: `${target}/_restore`, content: { version: 1 } });
    assert.equal(back.status, 201, back.text);
    const { salary, grade } = await read("hans", target);
    assert.deepEqual([salary, grade], [2, undefined]);
  });
});

test("why a deleted resource cannot come back is not told by attributes that its caller does not see", async () => {
  const target = (await createAs(service, "hans", "desks", { room: 1, seat: "s1" })).path;
  await as("ada", { method: "DELETE", path: target });
  await createAs(service, "hans", "desks", { room: 2, seat: "s1" });
  const restore = { method: "POST", path: `${target}/_restore`, content: { version: 1 } };
  const answer = await as("ada", restore);
  assert.equal(outcome(answer), "409 UNIQUE_VIOLATION");
  assert.doesNotMatch(answer.text, /seat|s1/);
  assert.match((await as("hans", restore)).text, /#\/seat/);
});

describe("an attribute that is written only", () => {
  test("is told to nobody, and can be set, replaced and taken away", async () => {
    const target = await hire();
    const { id, name } = await read("hans", target);
    for (const request of [
      { method: "PATCH", path: target, content: { pin: "other" } },
      { method: "PUT", path: target, content: { id, name, salary: 1, pin: "third" } },
      { method: "PATCH", path: target, content: { pin: null } },
    ]) {
      const answer = await as("hans", request);
      assert.equal(answer.status, 200, answer.text);
      assert.doesNotMatch(answer.text, /pin/);
    }
    const short = await as("hans", { method: "PATCH", path: target, content: { pin: "1" } });
    assert.equal(outcome(short), "400 VALIDATION_FAILED");
  });

  test("cannot be guessed: to set the very value is a change like any other", async () => {
    const target = await hire();
    const versions = [];
    for (const pin of ["p1n5ecret", "p1n5ecret", "another"]) {
      const answer = await as("hans", { method: "PATCH", path: target, content: { pin } });
      versions.push(answer.headers.etag);
    }
    assert.deepEqual(
      versions.map((tag) => /^"(\d+)-/.exec(tag ?? "")?.[1]),
      ["2", "3", "4"],
    );
    const unchanged = await as("hans", { method: "PATCH", path: target, content: { salary: 777_777 } });
    assert.equal(unchanged.headers.etag, versions.at(-1));
  });
});

describe("an attribute that is read only", () => {
  test("is what the service made it, and stays so", async () => {
    const target = (await createAs(service, "ada", "people", { name: "kim" })).path;
    const before = await read("ada", target);
    assert.equal(before.createdBy, "ada");
    const { id } = before;
    for (const request of [
      { method: "POST", path, content: { name: "x", createdBy: "ada" } },
      { method: "PUT", path: target, content: { id, name: "kim", createdBy: "bob" } },
      { method: "PATCH", path: target, content: { createdBy: "bob" } },
      { method: "PATCH", path: target, content: { createdBy: null } },
    ]) {
      const answer = await as("bob", request);
      assert.equal(outcome(answer), "400 VALIDATION_FAILED", request.method);
      const { violations } = answer.json as { violations: { pointer: string; code: string }[] };
      assert.deepEqual(
        violations.map(({ pointer, code }) => [pointer, code]),
        [["#/createdBy", "readOnly"]],
      );
    }
    for (const content of [
      { ...before, name: "lee" },
      { id, name: "max" },
    ])
      assert.equal((await as("bob", { method: "PUT", path: target, content })).status, 200);
    assert.deepEqual(await read("ada", target), { ...before, name: "max" });
    const own = await as("bob", { method: "POST", path, content: { name: "x", createdBy: "bob" } });
    assert.equal(own.status, 201, "what it is anyway may be said");
  });
});

describe("without auth", () => {
  test("what nobody is told or nobody sets is so all the same", async (t) => {
    const open = await startFor(t, { collections: { people: { schema: person } } });
    const { path: target, body } = await open.create("people", { name: "x", salary: 1, pin: "p1n5ecret" });
    assert.deepEqual(body, { id: body.id, name: "x", salary: 1 });
    for (const request of [{ path: target }, { path }, { path, headers: { Accept: "text/csv" } }])
      assert.doesNotMatch((await open.send(request)).text, /pin/);
    const set = await open.send({ method: "PATCH", path: target, content: { createdBy: "me" } });
    assert.equal(set.status, 400);
  });
});

describe("a start is refused", () => {
  for (const [collection, message] of [
    [
      { attributes: { salry: { roles: ["hr"] } } },
      /attributes\.salry is not an attribute of the schema\. Did you mean "salary"\?/,
    ],
    [
      { attributes: { salary: { role: ["hr"] } } },
      /attributes\.salary\.role is not an option of an attribute\. Did you mean "roles"\?/,
    ],
    [{ attributes: { salary: { roles: [] } } }, /attributes\.salary\.roles must be a list of roles/],
    [
      { attributes: { salary: {} } },
      /attributes\.salary must be an object with readOnly, writeOnly or roles/,
    ],
    [{ attributes: { id: { readOnly: true } } }, /attributes\.id: every caller can see the id/],
    [{ attributes: { name: { roles: ["hr"] } }, search: ["name"] }, /search: some callers cannot see name/],
    [{ attributes: { email: { writeOnly: true } }, unique: ["email"] }, /unique: no caller can see email/],
    [
      { attributes: { salary: { roles: ["hr"] } }, unique: [["name", "salary"]] },
      /unique: a refused duplicate would reveal salary to callers who can see only name\./,
    ],
    [
      {
        attributes: { salary: { roles: ["hr"] } },
        unique: [{ attribute: "email", where: { salary: { gt: 5 } } }],
      },
      /unique: a refused duplicate would reveal salary to callers who can see only email\./,
    ],
    [
      {
        attributes: { salary: { roles: ["hr"] }, email: { roles: ["hr", "it"] } },
        unique: [["email", "salary"]],
      },
      /unique: a refused duplicate would reveal email to callers who can see only salary\./,
    ],
    [
      { attributes: { email: { roles: ["hr"] } }, defaults: { email: "a@b.c" }, unique: ["email"] },
      /unique: every create gives email a default/,
    ],
    [
      { schema: { properties: { a: { type: "object", properties: { b: { writeOnly: true } } } } } },
      /schema\/properties\/a\/properties\/b: "writeOnly" works only on/,
    ],
    [
      { schema: { $defs: { a: { readOnly: true } }, properties: { b: { $ref: "#/$defs/a" } } } },
      /"readOnly" works only/,
    ],
  ] as const) {
    test(`for ${JSON.stringify(collection)}`, async () => {
      const collections = { people: { schema: person, ...collection } } as never;
      await assert.rejects(
        startService({ auth, collections }),
        (error) => error instanceof StartError && message.test(error.message),
      );
    });
  }
});
