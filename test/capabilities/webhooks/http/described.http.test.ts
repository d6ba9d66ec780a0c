/** Every response that the OpenAPI document describes for webhooks is one that the service gives. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFolder } from "../../../folder.ts";
import { auth } from "../../../http/access/callers.ts";
import { type Answer, type Request, type Service, startFor, startService } from "../../../http/service.ts";
import { until } from "../../../until.ts";
import { startReceiver } from "./receiver.ts";

const hooks = "/api/v1/_webhooks";
const unknown = `${hooks}/01a20000-0000-7000-8000-000000000000`;

const attributes = { url: "http://127.0.0.1:9/", collections: ["a"] };

async function createHook(service: Service, url = attributes.url): Promise<{ path: string; id: string }> {
  const answer = await service.send({ method: "POST", path: hooks, content: { ...attributes, url } });
  assert.equal(answer.status, 201, answer.text);
  const { id } = answer.json as { id: string };
  return { path: `${hooks}/${id}`, id };
}

interface Operation {
  method: string;
  path: string;
  content?: unknown;
}

/** Each operation on a webhook, as one that could succeed. */
function operationsOn(path: string): Operation[] {
  const id = path.slice(hooks.length + 1);
  return [
    { method: "GET", path: hooks },
    { method: "QUERY", path: hooks, content: {} },
    { method: "POST", path: hooks, content: attributes },
    { method: "GET", path },
    { method: "PUT", path, content: { id, ...attributes } },
    { method: "PATCH", path, content: { description: "A" } },
    { method: "GET", path: `${path}/_status` },
    { method: "GET", path: `${path}/_deliveries` },
    { method: "POST", path: `${path}/_deliveries/1/_retry` },
    { method: "POST", path: `${path}/_test` },
    { method: "POST", path: `${path}/_rotate` },
    { method: "DELETE", path },
  ];
}

async function each(
  service: Service,
  operations: readonly Operation[],
  status: number,
  change: (operation: Operation) => Request,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const operation of operations) {
    const answer = await service.send(change(operation));
    assert.equal(
      answer.status,
      status,
      `${operation.method} ${operation.path}: ${answer.status} ${answer.text}`,
    );
    answers.push(answer);
  }
  return answers;
}

const mayHaveContent = ({ method }: Operation) => ["POST", "PUT", "PATCH", "QUERY"].includes(method);

test("parameters, formats and contents that do not fit are refused", async (t) => {
  const service = await startFor(t, { limits: { bodyBytes: 2_000 } });
  const all = operationsOn((await createHook(service)).path);
  await each(service, all, 400, (operation) => ({ ...operation, path: `${operation.path}?x:y=1` }));
  const accept = { Accept: "image/png" };
  const formatted = all.filter(({ method }) => method !== "DELETE");
  await each(service, formatted, 406, (operation) => ({ ...operation, headers: accept }));
  const contents = all.filter(mayHaveContent);
  await each(service, contents, 413, (operation) => ({ ...operation, content: { x: "x".repeat(3_000) } }));
  const type = { "Content-Type": "text/plain" };
  await each(service, contents, 415, ({ method, path }) => ({ method, path, headers: type, body: "x" }));
});

test("callers are identified before anything else, and may need encryption", async (t) => {
  const open = await startFor(t, { requireTls: true, trustProxy: ["127.0.0.1"] });
  await each(open, operationsOn(unknown), 403, (operation) => operation);
  const guarded = await startFor(t, { auth: { ...auth, administrators: [{ role: "ops" }] } });
  const headers = { Authorization: "Bearer nothing" };
  await each(guarded, operationsOn(unknown), 401, (operation) => ({ ...operation, headers }));
  await each(guarded, operationsOn(unknown), 404, (operation) => operation);
  for (const operation of operationsOn(unknown)) {
    const limited = await startFor(t, { rate: { requests: 1, perSeconds: 60 } });
    await limited.send({ path: "/api/v1" });
    await each(limited, [operation], 429, (same) => same);
  }
});

test("preconditions, preferences and keys work as for every resource", async (t) => {
  const service = await startFor(t);
  const { path } = await createHook(service);
  const all = operationsOn(path);
  const stale = { "If-Match": '"0"' };
  const conditional = all.filter(({ path: each }) => !/_(?:status|deliveries|retry|test)/.test(each));
  await each(service, conditional, 412, (operation) => ({ ...operation, headers: stale }));
  for (const operation of all.filter(
    ({ method, path: each }) =>
      method === "QUERY" || (method === "GET" && !each.includes("/_s") && !each.includes("/_d")),
  )) {
    const { headers, status } = await service.send(operation);
    assert.equal(status, 200);
    await each(service, [operation], 304, (same) => ({
      ...same,
      headers: { "If-None-Match": String(headers.etag) },
    }));
  }
  const minimal = { Prefer: "return=minimal" };
  const changes = all.filter(({ method }) => method === "PUT" || method === "PATCH");
  await each(service, changes, 204, (operation) => ({ ...operation, headers: minimal }));
  const missing = changes.map((operation) => ({ ...operation, path: unknown }));
  await each(service, missing, 404, (operation) => operation);
  const key = { "Idempotency-Key": "one" };
  for (const operation of all.filter(
    ({ method, path: each }) => method === "PATCH" || (method === "POST" && each === hooks),
  )) {
    await service.send({ ...operation, headers: key });
    await each(service, [operation], 422, (same) => ({
      ...same,
      headers: key,
      content: { ...attributes, description: "Z" },
    }));
  }
  const patch = [{ op: "test", path: "/description", value: "none" }];
  const headers = { "Content-Type": "application/json-patch+json" };
  await each(service, [{ method: "PATCH", path, content: patch }], 409, (same) => ({ ...same, headers }));
});

test("an event whose change the history no longer has cannot be sent again", async (t) => {
  const cwd = makeFolder({});
  const store = { kind: "sqlite", path: `${cwd}/hooks.db` } as const;
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const first = await startService({ store });
  const { path } = await createHook(first, receiver.url);
  await first.send({ method: "POST", path: "/api/v1/a", content: { n: 1 } });
  let event: string | undefined;
  await until("the delivery is stored", async () => {
    const answer = await first.send({ path: `${path}/_deliveries` });
    event = (answer.json as { event: string }[])[0]?.event;
    return event !== undefined;
  });
  await first.stop();
  // The first sweep is soon after the start.
  const second = await startFor(t, { store, history: { keepDays: 0, keepChanges: 0 } });
  const retry = { method: "POST", path: `${path}/_deliveries/${event}/_retry` };
  await until("the change is removed", async () => (await second.send(retry)).status === 409);
});
