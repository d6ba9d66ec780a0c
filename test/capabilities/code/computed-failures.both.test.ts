/** What a client gets when the function of a computed attribute fails. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startFor } from "../../http/service.ts";

const config = `
import { defineConfig, refuse } from "holdfast";

const shared = { n: 1 };
shared.self = shared;

const kinds = {
  throws: () => { throw new Error("secret reason"); },
  waits: async () => 1,
  refuses: () => refuse("must not be"),
  date: () => new Date(0),
  nan: () => Number.NaN,
  cycle: () => shared,
  long: () => "x".repeat(2_000_000),
  wrong: () => "text",
  loops: () => { for (;;); },
};

export default defineConfig({
  collections: {
    orders: {
      schema: { type: "object", properties: { kind: { type: "string" }, tags: { type: "array", items: { type: "string" } } } },
      computed: {
        sorted: { schema: { type: "string" }, from: ["tags"], value: ({ tags }) => tags?.sort().join() },
        first: { schema: { type: "string" }, from: ["tags"], value: ({ tags }) => tags?.[0] },
        total: { schema: { type: "number" }, from: ["kind"], value: ({ kind }) => kinds[kind]?.() },
      },
    },
  },
});
`;

const reasons = {
  throws: /total: Error: secret reason/,
  waits: /total: value returned a promise/,
  refuses: /total: value called refuse\(\) or forbid\(\)/,
  date: /The value of total is an object of Date\. Use its toISOString\(\)/,
  nan: /The value of total is NaN/,
  cycle: /The value of total at \/self contains itself/,
  long: /The values have more than 1048576 bytes/,
  loops: /It took longer than 50 ms/,
} as const;

test("a failure is CODE_FAILED, nothing is written, and only the log has the reason", async (t) => {
  const logged: string[] = [];
  const log = {
    info() {},
    warn() {},
    error: (value: { err?: { cause?: unknown } }, text: string) =>
      void logged.push(`${JSON.stringify(value)} ${value.err?.cause ?? ""} ${text}`),
  };
  const { send, create } = await startFor(t, { module: config, log: log as never });
  const { path } = await create("orders", { kind: "none" });
  for (const [kind, reason] of Object.entries(reasons)) {
    for (const request of [
      { method: "POST", path: "/api/v1/orders" },
      { method: "PATCH", path },
    ]) {
      const answer = await send({ ...request, content: { kind } }, { mayFail: true });
      assert.equal(answer.status, 500, `${kind} ${answer.text}`);
      assert.equal((answer.json as { code: string }).code, "CODE_FAILED", answer.text);
      assert.doesNotMatch(answer.text, /secret|total/);
      assert.match(logged.at(-1) ?? "", reason, kind);
    }
  }
  const list = await send({ path: "/api/v1/orders" });
  assert.equal((list.json as unknown[]).length, 1);
});

test("a value that does not fit its schema is a violation", async (t) => {
  const { send } = await startFor(t, { module: config });
  const answer = await send({ method: "POST", path: "/api/v1/orders", content: { kind: "wrong" } });
  assert.equal(answer.status, 400, answer.text);
  assert.equal((answer.json as { violations: { pointer: string }[] }).violations[0]?.pointer, "#/total");
});

test("each function gets its own copy", async (t) => {
  const { create } = await startFor(t, { module: config });
  const { body } = await create("orders", { tags: ["b", "a"] });
  assert.deepEqual([body.sorted, body.first, body.tags], ["a,b", "b", ["b", "a"]]);
});
