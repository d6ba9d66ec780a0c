/** Every kind of write runs the hooks of its collection: there is no way around `validate`, but those that the page names. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { makeFolder } from "../../folder.ts";
import { type Service, startFor } from "../../http/service.ts";
import { openTestStore } from "../../http/test-store.ts";
import { until } from "../../until.ts";
import { counters, requireCounts } from "./counters.ts";

const config = `
import { defineConfig, refuse } from "holdfast";

export default defineConfig({
  collections: {
    pairs: {
      schema: {
        type: "object",
        properties: { key: { type: "string", maxLength: 20 }, low: { type: "integer" }, high: { type: "integer" }, sum: { type: "integer" } },
        required: ["low", "high"],
      },
      unique: ["key"],
      hooks: {
        before: ({ resource }) => ({ ...resource, sum: resource.low + resource.high }),
        validate: ({ operation, resource }) => {
          if (operation === "delete" && resource.key === "kept") refuse("key", "is kept");
          if (resource.low > resource.high) refuse("low", "must not be above high");
        },
      },
    },${counters}
  },
});
`;

const base = "/api/v1/pairs";

/** `npm run prove -- code` makes more. */
const runs = Number(process.env.HOLDFAST_TEST_RUNS ?? 120);

interface Pair {
  id: string;
  key?: string;
  low: number;
  high: number;
  sum: number;
}

async function pairsIn({ send }: Service): Promise<Pair[]> {
  return (await send({ path: `${base}?limit=1000` })).json as Pair[];
}

/** Each kind of write, with a pair that can be wrong. Its response can be a refusal. */
const writes: Readonly<
  Record<string, (service: Service, pair: object, any: Pair | undefined) => Promise<unknown>>
> = {
  create: ({ send }, content) => send({ method: "POST", path: base, content }),
  replace: async ({ send }, content, any) =>
    any && send({ method: "PUT", path: `${base}/${any.id}`, content: { id: any.id, ...content } }),
  createWithId: ({ send }, content) => {
    const id = crypto.randomUUID();
    const headers = { "If-None-Match": "*" };
    return send({ method: "PUT", path: `${base}/${id}`, headers, content: { id, ...content } });
  },
  byKey: ({ send }, content) =>
    send({ method: "PUT", path: `${base}?key=a`, content: { ...content, key: "a" } }),
  patch: async ({ send }, content, any) =>
    any && send({ method: "PATCH", path: `${base}/${any.id}`, content }),
  update: async ({ send }, content, any) =>
    any &&
    send({
      method: "PATCH",
      path: `${base}/${any.id}`,
      headers: { "Content-Type": "application/vnd.holdfast.update+json" },
      content: { low: { $increment: (content as Pair).low } },
    }),
  batch: ({ send }, content) =>
    send({
      method: "POST",
      path: "/api/v1/_batch",
      content: { operations: [{ method: "POST", path: "/pairs", body: content }] },
    }),
  batchPatch: async ({ send }, content, any) =>
    any &&
    send({
      method: "POST",
      path: "/api/v1/_batch",
      content: { operations: [{ method: "PATCH", path: `/pairs/${any.id}`, body: content }] },
    }),
  delete: async ({ send }, _content, any) => any && send({ method: "DELETE", path: `${base}/${any.id}` }),
  restore: async ({ send }, _content, any) =>
    any && send({ method: "POST", path: `${base}/${any.id}/_restore`, content: { version: 1 } }),
  bulk: ({ send }, content) =>
    send({
      method: "POST",
      path: `${base}/_bulk`,
      content: { filter: {}, max: 1_000, patch: { low: (content as Pair).low } },
    }),
  task: async ({ send }, content) => {
    const started = await send({
      method: "POST",
      path: `${base}/_bulk`,
      headers: { Prefer: "respond-async" },
      content: { all: true, max: 1_000, patch: { low: (content as Pair).low } },
    });
    assert.equal(started.status, 202, started.text);
    const { id } = started.json as { id: string };
    await until("the task has ended", async () => {
      const { json } = await send({ path: `/api/v1/_tasks/${id}` });
      return (json as { endedAt?: string }).endedAt !== undefined;
    });
  },
  importCsv: ({ send }, content) => {
    const { low, high } = content as Pair;
    const headers = { "Content-Type": "text/csv" };
    return send({ method: "POST", path: `${base}/_import`, headers, body: `low,high\n${low},${high}\n` });
  },
  import: ({ send }, content) =>
    send({
      method: "POST",
      path: `${base}/_import`,
      headers: { "Content-Type": "application/x-ndjson" },
      body: JSON.stringify(content),
    }),
  importByKey: ({ send }, content) =>
    send({
      method: "POST",
      path: `${base}/_import?on=key`,
      headers: { "Content-Type": "application/x-ndjson" },
      body: JSON.stringify({ ...content, key: "b" }),
    }),
};

test("no kind of write stores what validate refuses", async (t) => {
  const service = await startFor(t, { module: config });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(writes)),
      fc.record({ low: fc.integer({ min: -3, max: 3 }), high: fc.integer({ min: -3, max: 3 }) }),
      async (kind, pair) => {
        const [any] = await pairsIn(service);
        await writes[kind]?.(service, pair, any);
        for (const { low, high, sum } of await pairsIn(service)) {
          assert.ok(low <= high, kind);
          assert.equal(sum, low + high, kind);
        }
      },
    ),
    { numRuns: runs },
  );
  assert.ok((await pairsIn(service)).length > 10);
});

test("an earlier state that validate refuses today does not come back", async (t) => {
  const strict = config.replace(
    "resource.low > resource.high",
    "resource.low > resource.high || resource.low === 1",
  );
  let at = 1_700_000_000_000;
  const now = () => at;
  const place = await openTestStore(makeFolder());
  t.after(() => place.release());
  const first = await startFor(t, { module: config, store: place.address, now });
  const made = await first.create("pairs", { key: "a", low: 1, high: 5 });
  const to = at;
  at += 1_000;
  await first.send({ method: "PATCH", path: made.path, content: { low: 2 } });
  const other = await first.create("pairs", { key: "b", low: 1, high: 2 });
  await first.send({ method: "DELETE", path: other.path });
  await first.stop();
  const { send } = await startFor(t, { module: strict, store: place.address, now });
  const restored = await send({ method: "POST", path: `${made.path}/_restore`, content: { version: 1 } });
  assert.deepEqual(
    [restored.status, restored.json && (restored.json as { code: string }).code],
    [400, "VALIDATION_FAILED"],
  );
  assert.equal(
    (await send({ method: "POST", path: `${other.path}/_restore`, content: { version: 1 } })).status,
    400,
  );
  const rewind = await send({
    method: "POST",
    path: "/api/v1/_rewind",
    content: { to, max: 10, collections: ["pairs"] },
  });
  assert.equal(rewind.status, 409, rewind.text);
  const { report } = rewind.json as { report: { misfits: { first: { pointer: string; code: string }[] } } };
  assert.deepEqual(
    report.misfits.first.map(({ pointer, code }) => [pointer, code]),
    [["#/low", "refused"]],
  );
});

test("validate judges a delete, also in a batch and a bulk change, and a refused delete deletes nothing", async (t) => {
  const { send, create } = await startFor(t, { module: config });
  const { path, id } = await create("pairs", { key: "kept", low: 1, high: 2 });
  assert.equal((await send({ method: "DELETE", path })).status, 400);
  const batch = { operations: [{ method: "DELETE", path: `/pairs/${id}` }] };
  assert.equal((await send({ method: "POST", path: "/api/v1/_batch", content: batch })).status, 400);
  const bulk = { filter: {}, max: 10, delete: true };
  assert.equal((await send({ method: "POST", path: `${base}/_bulk`, content: bulk })).status, 400);
  assert.equal((await send({ path })).status, 200);
});

test("an import with skipHooks runs no hook", async (t) => {
  const { send } = await startFor(t, { module: config });
  const headers = { "Content-Type": "application/x-ndjson" };
  const body = '{"low":5,"high":1}';
  const refused = await send({ method: "POST", path: `${base}/_import`, headers, body });
  assert.equal(refused.status, 400, refused.text);
  const { report } = refused.json as { report: { errors: object[] } };
  assert.match(JSON.stringify(report.errors), /"code":"refused".*must not be above high/);
  const imported = await send({ method: "POST", path: `${base}/_import?skipHooks=true`, headers, body });
  assert.equal(imported.status, 200, imported.text);
});

test("64 clients that count through before lose no count", async (t) => {
  await requireCounts([await startFor(t, { module: config })]);
});

test("a PUT has no ETag, because the service can store something else", async (t) => {
  const { send, create } = await startFor(t, { module: config });
  const { path, id } = await create("pairs", { low: 1, high: 2 });
  const { status, headers } = await send({ method: "PUT", path, content: { id, low: 1, high: 3 } });
  assert.deepEqual([status, headers.etag], [200, undefined]);
});
