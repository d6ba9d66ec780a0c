import assert from "node:assert/strict";
import { test } from "node:test";
import { check } from "./check.ts";
import { type Answer, startServiceForFile } from "./service.ts";

const text = { type: "string", maxLength: 100 } as const;
const collections = {
  users: {
    schema: { type: "object", properties: { email: text, nick: text, n: { type: ["integer", "null"] } } },
    unique: ["email", { attribute: "nick", ignoreCase: true }, "n"],
  },
  numbered: { id: "integer", schema: { properties: { email: text } }, unique: ["email"] },
} as const;

const service = await startServiceForFile({ collections });

const post = (content: unknown, headers: Record<string, string> = {}) =>
  service.send({ method: "POST", path: "/api/v1/users", content, headers });

function checkTaken(answer: Answer, pointer: string): void {
  check(answer, {
    status: 409,
    problem: "UNIQUE_VIOLATION",
    violations: [{ in: "body", pointer, code: "unique" }],
  });
}

test("POST, PUT and PATCH with a value that another resource has are 409 with its pointer", async () => {
  await service.create("users", { email: "ann@x", nick: "Ann", n: 1 });
  const { id, path } = await service.create("users", { email: "bob@x" });
  checkTaken(await post({ email: "ann@x" }), "#/email");
  checkTaken(await post({ nick: "aNN" }), "#/nick");
  checkTaken(await post({ n: 1 }), "#/n");
  checkTaken(await service.send({ method: "PUT", path, content: { id, email: "ann@x" } }), "#/email");
  checkTaken(await service.send({ method: "PATCH", path, content: { n: 1 } }), "#/n");
  check(await service.send({ method: "GET", path }), { status: 200, json: { id, email: "bob@x" } });
});

test("a resource keeps its own value through changes, and missing values and nulls do not collide", async () => {
  const { id, path } = await service.create("users", { email: "eve@x", n: null });
  await service.create("users", { n: null });
  await service.create("users", {});
  const answer = await service.send({ method: "PUT", path, content: { id, email: "eve@x", nick: "eve" } });
  check(answer, { status: 200, json: { id, email: "eve@x", nick: "eve" } });
  check(await service.send({ method: "PATCH", path, content: { nick: "EVE" } }), { status: 200 });
});

for (const collection of ["users", "numbered"]) {
  test(`of a hundred clients that create the same value in ${collection} at once, one gets 201`, async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, () =>
        service.send({ method: "POST", path: `/api/v1/${collection}`, content: { email: "crowd@x" } }),
      ),
    );
    const made = answers.filter(({ status }) => status === 201);
    assert.equal(made.length, 1);
    for (const answer of answers) if (answer.status !== 201) checkTaken(answer, "#/email");
    const list = await service.send({ method: "GET", path: `/api/v1/${collection}?email=crowd@x` });
    assert.equal((list.json as unknown[]).length, 1);
    const all = await service.send({ path: `/api/v1/${collection}?limit=1000` });
    assert.equal(all.headers["x-total-count"], String((all.json as unknown[]).length));
  });
}

test("a refused create is not kept under its Idempotency-Key", async () => {
  const { path } = await service.create("users", { email: "kept@x" });
  const headers = { "idempotency-key": '"unique-1"' };
  checkTaken(await post({ email: "kept@x" }, headers), "#/email");
  check(await service.send({ method: "DELETE", path }), { status: 205 });
  check(await post({ email: "kept@x" }, headers), { status: 201 });
});
