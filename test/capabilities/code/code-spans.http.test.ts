/** Traces of code: with the SDK of OpenTelemetry, a real exporter, and a collector. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServiceForFile } from "../../http/service.ts";
import { kinds } from "../../traces/collector.ts";
import { startTracing } from "../../traces/tracing.ts";

const tracing = await startTracing();
const { spanOf } = tracing;

const service = await startServiceForFile({
  module: `
import { defineConfig, job, refuse, route } from "holdfast";

export default defineConfig({
  collections: {
    orders: {
      schema: { type: "object", properties: { n: { type: "number" } } },
      hooks: {
        before: ({ resource }) => { if (resource.n === -1) throw new Error("a secret"); },
        validate: ({ resource }) => { if (resource.n === -2) refuse("n", "is wrong"); },
      },
      computed: { double: { schema: { type: "number" }, from: ["n"], version: 1, value: ({ n = 0 }) => n * 2 } },
      after: { mail: { as: "service", run: async ({ event, client, attempt }) => {
        if (attempt === 1 && event.data?.n === 7) throw new Error("a secret");
        await client.notes.create({ n: event.data?.n });
      } } },
    },
    notes: {},
  },
  routes: {
    read: route({ path: "read", access: "public", run: async ({ client }) => (await client.notes.list().all()).length }),
    fails: route({ path: "fails", access: "public", run: () => { throw new Error("a secret"); } }),
  },
  jobs: { digest: job({ cron: "0 0 1 1 *", as: "service", run: async ({ client }) => { await client.notes.create({ n: 100 }); } }) },
});
`,
  isWatched: false,
});

let traces = 0;

/** Sends a request in a trace of its own. Returns how to find a span in it. */
async function inTrace(method: string, path: string, content?: object) {
  const traceId = (++traces).toString(16).padStart(32, "0");
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const sent = { method, path: `/api/v1/${path}`, headers, ...(content && { content }) };
  const { status } = await service.send(sent, { mayFail: true });
  return { status, span: (name: string) => spanOf((each) => each.traceId === traceId && each.name === name) };
}

test("hooks and computed attributes have spans in the span of their request", async () => {
  const { span } = await inTrace("POST", "orders", { n: 1 });
  const request = await span("POST /api/v1/orders");
  for (const [kind, place] of [
    ["before", "collections.orders.hooks.before"],
    ["computed", "collections.orders.computed"],
    ["validate", "collections.orders.hooks.validate"],
  ] as const) {
    const found = await span(`${kind} orders`);
    assert.deepEqual([found.kind, found.parentSpanId, found.status], [kinds.internal, request.spanId, 0]);
    assert.deepEqual(found.attributes, {
      "code.function.name": place,
      "holdfast.code.kind": kind,
      "holdfast.code.name": "orders",
    });
  }
});

test("the span of a failure is an error without a message, and that of a refusal is no error", async () => {
  const failed = await (await inTrace("POST", "orders", { n: -1 })).span("before orders");
  assert.deepEqual([failed.status, failed.attributes["error.type"]], [2, "throw"]);
  assert.doesNotMatch(JSON.stringify(failed), /secret/);
  const refused = await (await inTrace("POST", "orders", { n: -2 })).span("validate orders");
  assert.deepEqual([refused.status, refused.attributes["error.type"]], [0, undefined]);
});

test("a request has at most 100 spans of hooks", async () => {
  const operations = Array.from({ length: 60 }, (_, n) => ({ method: "POST", path: "/orders", body: { n } }));
  const { status, span } = await inTrace("POST", "_batch", { operations });
  assert.equal(status, 200);
  const { traceId } = await span("POST /api/v1/_batch");
  const all = tracing.spans.filter(
    (each) => each.traceId === traceId && each.attributes["holdfast.code.kind"] !== undefined,
  );
  assert.equal(all.length, 100);
});

test("a route has a span in that of its request, and what its client does in the store has spans in that", async () => {
  const { span } = await inTrace("GET", "read");
  const call = await span("route read");
  assert.equal(call.parentSpanId, (await span("GET /api/v1/read")).spanId);
  assert.equal((await span("list notes")).parentSpanId, call.spanId);
  const failed = await (await inTrace("GET", "fails")).span("route fails");
  assert.deepEqual([failed.status, failed.attributes["error.type"]], [2, "throw"]);
});

test("each call of a consumer starts a trace, which links to the request", async () => {
  const { span } = await inTrace("POST", "orders", { n: 7 });
  const { spanId } = await span("POST /api/v1/orders");
  const failed = await spanOf(
    ({ name, links }) => name === "consumer orders/mail" && links[0]?.spanId === spanId,
  );
  assert.deepEqual(
    [failed.parentSpanId ?? "", failed.status, failed.attributes["holdfast.code.attempt"]],
    ["", 2, 1],
  );
  assert.deepEqual(failed.attributes["holdfast.code.name"], "orders/mail");
  const done = await spanOf(({ name, status }) => name === "consumer orders/mail" && status === 0);
  await spanOf(({ name, parentSpanId }) => name === "commit notes" && parentSpanId === done.spanId);
});

test("each run of a job starts a trace", async () => {
  await inTrace("POST", "_jobs/digest/_run");
  const run = await spanOf(({ name }) => name === "job digest");
  assert.deepEqual([run.parentSpanId ?? "", run.attributes["holdfast.code.attempt"]], ["", 1]);
  await spanOf(({ name, parentSpanId }) => name === "commit notes" && parentSpanId === run.spanId);
});
