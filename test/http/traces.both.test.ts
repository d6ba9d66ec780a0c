/** Traces: with the SDK of OpenTelemetry, a real exporter, and a collector. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { context, propagation, SpanKind, trace } from "@opentelemetry/api";
import { fastify } from "fastify";
import { createClient } from "holdfast-client";
import { holdfast } from "../../src/index.ts";
import { startReceiver } from "../capabilities/webhooks/http/receiver.ts";
import { makeFolder } from "../folder.ts";
import { kinds } from "../traces/collector.ts";
import { startTracing } from "../traces/tracing.ts";
import { until } from "../until.ts";
import { startFor } from "./service.ts";
import { isOnPostgres } from "./test-store.ts";

const tracing = await startTracing();
const { spanOf } = tracing;

const system = isOnPostgres ? "postgresql" : "sqlite";

const traceparent = (traceId: string, spanId = "00f067aa0ba902b7") => `00-${traceId}-${spanId}-01`;

test("one trace goes from the client through the service into the store", async (t) => {
  const service = await startFor(t, { collections: { articles: {} } });
  const own = trace.getTracer("test").startSpan("client", { kind: SpanKind.CLIENT });
  const inSpan = trace.setSpan(context.active(), own);
  const { articles } = createClient<{ collections: { articles: object } }>({
    baseUrl: `${service.origin}/api/v1/`,
    fetch: (input, init) => {
      const request = new Request(input, init);
      propagation.inject(inSpan, request.headers, { set: (headers, key, value) => headers.set(key, value) });
      return fetch(request);
    },
  });
  const { id: created } = await articles.create({ title: "One" });
  await articles.get(created);
  own.end();
  const { traceId, spanId } = own.spanContext();
  const inTrace = (name: string) => spanOf((span) => span.traceId === traceId && span.name === name);
  const create = await inTrace("POST /api/v1/articles");
  assert.deepEqual([create.kind, create.parentSpanId, create.status], [kinds.server, spanId, 0]);
  const { "user_agent.original": agent, "holdfast.request.id": id, ...others } = create.attributes;
  assert.equal(typeof agent, "string");
  assert.match(String(id), /^[0-9a-f-]{36}$/);
  assert.deepEqual(others, {
    "http.request.method": "POST",
    "http.route": "/api/v1/articles",
    "http.response.status_code": 201,
    "url.scheme": "http",
    "url.path": "/api/v1/articles",
    "server.address": "127.0.0.1",
    "server.port": service.port,
    "network.protocol.version": "1.1",
  });
  const commit = await inTrace("commit articles");
  assert.deepEqual([commit.kind, commit.parentSpanId], [kinds.client, create.spanId]);
  assert.deepEqual(commit.attributes, {
    "db.system.name": system,
    "db.operation.name": "commit",
    "db.collection.name": "articles",
  });
  const get = await inTrace("GET /api/v1/articles/{id}");
  assert.equal((await inTrace("read articles")).parentSpanId, get.spanId);
});

test("the span of a request has nothing secret, and names errors of the service only", async (t) => {
  const service = await startFor(t);
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const headers = { traceparent: traceparent(traceId) };
  const { path } = await service.create("topics");
  await service.send({ path: `${path}?fields=title`, headers });
  await service.send({ path: `/api/v1/topics?email=secret%40x.org&flag`, headers });
  await service.send({ path: "/nothing/secret-path", method: "PROPFIND", headers });
  await service.send({ path: `${path}/x/y`, headers });
  const read = await spanOf((span) => span.traceId === traceId && /\{id\}$/.test(span.name));
  assert.deepEqual([read.name, read.parentSpanId], ["GET /api/v1/{collection}/{id}", "00f067aa0ba902b7"]);
  assert.equal(read.attributes["url.query"], "fields=REDACTED");
  const list = await spanOf((span) => span.traceId === traceId && span.name === "GET /api/v1/{collection}");
  assert.equal(list.attributes["url.query"], "email=REDACTED&REDACTED");
  assert.doesNotMatch(JSON.stringify(list.attributes), /x\.org|flag/);
  const other = await spanOf((span) => span.traceId === traceId && span.name === "HTTP");
  assert.equal(other.attributes["http.request.method"], "_OTHER");
  assert.equal(other.attributes["http.request.method_original"], "PROPFIND");
  assert.equal(other.attributes["http.route"], undefined);
  const unknown = await spanOf((span) => span.traceId === traceId && span.name === "GET");
  assert.deepEqual([unknown.status, unknown.attributes["error.type"]], [0, undefined]);
});

test("a 5xx marks its span as an error, and a refused commit does not", async (t) => {
  const service = await startFor(t, {
    collections: { a: { unique: ["n"], schema: { type: "object", properties: { n: { type: "integer" } } } } },
  });
  await service.create("a", { n: 1 });
  const traceId = "5bf92f3577b34da6a3ce929d0e0e4736";
  const headers = { traceparent: traceparent(traceId) };
  await service.send({ method: "POST", path: "/api/v1/a", headers, content: { n: 1 } });
  const refused = await spanOf((span) => span.traceId === traceId && span.name === "commit a");
  assert.deepEqual([refused.attributes["error.type"], refused.status], ["UNIQUE_VIOLATION", 0]);
  const busy = await startFor(t, { wireBounds: { maxRequests: 0 } });
  const answer = await busy.send({ path: "/api/v1/a", headers }, { mayFail: true });
  assert.equal(answer.status, 503);
  const failed = await spanOf((span) => span.traceId === traceId && span.attributes["error.type"] === "503");
  assert.deepEqual([failed.status, failed.attributes["http.response.status_code"]], [2, 503]);
});

test("the delivery of a webhook links to the request that made the change, and continues its own trace", async (t) => {
  const service = await startFor(t);
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const content = { url: `${receiver.url}?token=secret`, collections: ["topics"] };
  await service.send({ method: "POST", path: "/api/v1/_webhooks", content });
  const traceId = "6bf92f3577b34da6a3ce929d0e0e4736";
  const headers = { traceparent: traceparent(traceId) };
  await service.send({ method: "POST", path: "/api/v1/topics", headers, content: { n: 1 } });
  await until("the event has come", () => receiver.received.length === 1);
  const request = await spanOf((span) => span.traceId === traceId && span.kind === kinds.server);
  const delivery = await spanOf((span) => span.links.some((link) => link.traceId === traceId));
  assert.deepEqual(
    [delivery.name, delivery.kind, delivery.parentSpanId || undefined],
    ["POST", kinds.client, undefined],
  );
  assert.notEqual(delivery.traceId, traceId);
  assert.deepEqual(delivery.links, [{ traceId, spanId: request.spanId }]);
  const { origin, port } = new URL(receiver.url);
  assert.deepEqual(delivery.attributes, {
    "http.request.method": "POST",
    "http.response.status_code": 204,
    "url.full": `${origin}/REDACTED`,
    "server.address": new URL(receiver.url).hostname,
    "server.port": Number(port),
  });
  const [received] = receiver.received;
  assert.equal(received?.headers.traceparent, traceparent(delivery.traceId, delivery.spanId));
});

test("inside an application, the request belongs to the span of the application", async (t) => {
  const app = fastify();
  const tracer = trace.getTracer("application");
  const outer = tracer.startSpan("outer");
  app.addHook("onRequest", (_request, _reply, done) => {
    context.with(trace.setSpan(context.active(), outer), done);
  });
  await app.register(holdfast, { store: `sqlite:${await fileFor()}` });
  t.after(() => app.close());
  await app.inject({ method: "GET", url: "/api/v1/topics" });
  outer.end();
  const { traceId, spanId } = outer.spanContext();
  const span = await spanOf((each) => each.traceId === traceId && each.name.startsWith("GET "));
  assert.deepEqual([span.kind, span.parentSpanId], [kinds.internal, spanId]);
});

async function fileFor(): Promise<string> {
  const folder = makeFolder();
  return join(folder, "store.db");
}
