import assert from "node:assert/strict";
import { test } from "node:test";
import { type Prepare, post, start } from "./embedded.ts";

const patches = {
  "application/json": { kind: "spam" },
  "application/merge-patch+json": { kind: "spam" },
  "application/json-patch+json": [{ op: "replace", path: "/kind", value: "spam" }],
  "application/vnd.holdfast.update+json": { kind: { $set: "spam" } },
};

for (const hook of ["preValidation", "preHandler"] as const)
  for (const place of ["before", "after"] as const)
    test(`a guard in ${hook} that an application adds ${place} the plugin reads the body of every write`, async (t) => {
      const guard: Prepare = (app) =>
        app.addHook(hook, async (request, reply) => {
          if (JSON.stringify(request.body ?? null).includes('"spam"'))
            return reply.code(422).send({ error: "no spam" });
        });
      const { origin } = await start(t, {}, guard, place);
      const url = `${origin}/api/v1/topics`;
      const created = await post(url, { kind: "news" });
      assert.equal(created.status, 201);
      const one = `${origin}${created.headers.get("location")}`;
      const before = await (await fetch(one)).text();
      const { id } = JSON.parse(before);
      const send = (path: string, method: string, content: unknown, type = "application/json") =>
        fetch(path, { method, headers: { "content-type": type }, body: JSON.stringify(content) });
      const create = { operation: "create", collection: "topics", attributes: { kind: "spam" } };
      const answers = [
        await send(url, "POST", { kind: "spam" }),
        await send(one, "PUT", { id, kind: "spam" }),
        await send(`${origin}/api/v1/_batch`, "POST", { operations: [create] }),
        await send(`${url}/_bulk`, "POST", { filter: {}, patch: { kind: "spam" } }),
      ];
      for (const [type, content] of Object.entries(patches))
        answers.push(await send(one, "PATCH", content, type));
      for (const answer of answers) assert.equal(answer.status, 422, await answer.text());
      const refused = await fetch(`${url}/_import`, {
        method: "POST",
        headers: { "content-type": "application/x-ndjson" },
        body: '{"kind":"spam"}\n',
      });
      assert.equal(refused.status, 500);
      assert.match(await refused.text(), /the service reads it as a stream/);
      assert.equal(await (await fetch(url)).text(), `[${before}]`);
      assert.equal((await send(one, "PATCH", { kind: "sports" })).status, 200);
    });

test("what a hook makes of the body is stored, and what is not JSON is refused", async (t) => {
  const { origin } = await start(t, {}, (app) =>
    app.addHook("preHandler", async (request) => {
      const body = request.body as Record<string, unknown>;
      if (request.method !== "POST") return;
      if (body.replace === true) request.body = { replaced: true };
      else if (body.date === true) body.date = new Date(0);
      else if (body.number === true) body.number = Number.NaN;
      else if (body.large === true) body.large = "x".repeat(1_100_000);
      else body.stamp = "mine";
    }),
  );
  const url = `${origin}/api/v1/topics`;
  const stored = async (content: object) => {
    const answer = await fetch(`${origin}${(await post(url, content)).headers.get("location")}`);
    const { id: _, ...attributes } = (await answer.json()) as Record<string, unknown>;
    return attributes;
  };
  assert.deepEqual(await stored({ a: 1 }), { a: 1, stamp: "mine" });
  assert.deepEqual(await stored({ replace: true }), { replaced: true });
  const date = await post(url, { date: true });
  assert.equal(date.status, 500);
  assert.match(await date.text(), /A hook has put a Date into request\.body, as \\"date\\"/);
  assert.match(await (await post(url, { number: true })).text(), /A hook has put NaN/);
  assert.equal((await post(url, { large: true })).status, 413);
});

test("bodies that a hook refuses use no memory afterwards", async (t) => {
  const { origin } = await start(t, {}, (app) =>
    app.addHook("preHandler", async (request, reply) => {
      if ((request.body as { kind?: string }).kind === "spam") return reply.code(422).send();
    }),
  );
  const url = `${origin}/api/v1/topics`;
  const text = "x".repeat(900_000);
  // Together they are larger than the memory for content, and than the queue of large bodies.
  for (let i = 0; i < 80; i++) assert.equal((await post(url, { kind: "spam", text })).status, 422);
  assert.equal((await post(url, { kind: "news", text })).status, 201);
});
