/** What administrators see of the functions of a configuration. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Service, startFor } from "../../http/service.ts";
import { until } from "../../until.ts";

const source = (threads: number) => `
import { defineConfig, forbid, refuse, route } from "holdfast";

export default defineConfig({
  threads: ${threads},
  collections: {
    orders: {
      schema: { type: "object", properties: { n: { type: "number" } } },
      hooks: { before: ({ resource }) => { if (resource.n === -1) throw new Error("no luck"); }, validate: ({ resource }) => { if (resource.n === -2) refuse("n", "is wrong"); } },
      computed: {
        double: { schema: { type: "number" }, from: ["n"], version: 1, value: ({ n = 0 }) => n * 2 },
        triple: { schema: { type: "number" }, from: ["n"], version: 1, value: ({ n = 0 }) => n * 3 },
      },
      after: { mail: { run: () => {} } },
    },
  },
  routes: {
    works: route({ path: "works", access: "public", run: () => 1 }),
    wrong: route({ path: "wrong", access: "public", response: { type: "string" }, run: () => 1 }),
    fails: route({ path: "fails", access: "public", run: () => { throw new Error("x".repeat(5_000)); } }),
  },
  jobs: { digest: { cron: "0 0 29 2 *", run() {} } },
});
`;

interface Seen {
  functions: { kind: string; name: string; calls: number; failures: number; seconds: number }[];
  failures: { time: string; kind: string; name: string; reason: string; message: string }[];
}

const seen = async ({ send }: Pick<Service, "send">) => (await send({ path: "/api/v1/_code" })).json as Seen;

const counts = ({ functions }: Seen) =>
  functions.map(({ kind, name, calls, failures }) => `${kind} ${name} ${calls} ${failures}`);

test("every function is there, with its calls and its failures", async (t) => {
  const service = await startFor(t, { module: source(1), isWatched: false });
  assert.deepEqual(counts(await seen(service)), [
    "before orders 0 0",
    "validate orders 0 0",
    "computed orders 0 0",
    "consumer orders/mail 0 0",
    "route works 0 0",
    "route wrong 0 0",
    "route fails 0 0",
    "job digest 0 0",
  ]);
  for (const n of [1, -1, -2])
    await service.send({ method: "POST", path: "/api/v1/orders", content: { n } }, { mayFail: true });
  await service.send({ path: "/api/v1/works" });
  for (const name of ["wrong", "fails"]) await service.send({ path: `/api/v1/${name}` }, { mayFail: true });
  await until("the consumer was called", async () =>
    counts(await seen(service)).includes("consumer orders/mail 1 0"),
  );
  const found = await seen(service);
  assert.deepEqual(counts(found), [
    "before orders 3 1",
    "validate orders 2 0",
    "computed orders 2 0",
    "consumer orders/mail 1 0",
    "route works 1 0",
    "route wrong 1 1",
    "route fails 1 1",
    "job digest 0 0",
  ]);
  assert.ok(found.functions.every(({ calls, seconds }) => (calls === 0 ? seconds === 0 : seconds > 0)));
  const [latest, wrong, first] = found.failures;
  assert.deepEqual([wrong?.name, wrong?.reason], ["wrong", "result"]);
  assert.deepEqual([latest?.kind, latest?.name, latest?.reason], ["route", "fails", "throw"]);
  assert.equal(latest?.message.length, 2_000);
  assert.match(String(first?.message), /^Error: no luck\n.*holdfast\.config\.ts:/s);
  assert.equal(found.failures.length, 3);
});

test("the calls of all threads count", async (t) => {
  const service = await startFor(t, { module: source(3), isWatched: false });
  const paths = ["works", "fails"].flatMap((name) => Array.from({ length: 24 }, () => `/api/v1/${name}`));
  // Each connection belongs to one of the threads.
  for (const path of paths) {
    const headers = { connection: "close" };
    await (await fetch(service.origin + path, { headers })).arrayBuffer();
  }
  await until("each thread has reported", async () => {
    const found = counts(await seen(service));
    return found.includes("route works 24 0") && found.includes("route fails 24 24");
  });
  assert.equal((await seen(service)).failures.length, 24);
});

test("at most 100 failures are kept, the latest ones", async (t) => {
  const service = await startFor(t, { module: source(1), isWatched: false });
  for (let n = 0; n < 103; n++)
    await service.send({ method: "POST", path: "/api/v1/orders", content: { n: -1 } }, { mayFail: true });
  const { functions, failures } = await seen(service);
  assert.deepEqual([functions[0]?.failures, failures.length], [103, 100]);
  const times = failures.map(({ time }) => time);
  assert.deepEqual(times, times.toSorted().reverse());
});

test("only administrators see it", async (t) => {
  const auth = 'auth: { keys: true, administrators: [{ role: "admin" }] },';
  const module =
    "export default { AUTH collections: { computed: { hooks: { before() {}, validate() {} } } } };";
  const open = await startFor(t, { module: module.replace("AUTH", "") });
  assert.deepEqual(counts(await seen(open)), ["before computed 0 0", "validate computed 0 0"]);
  const guarded = await startFor(t, { module: module.replace("AUTH", auth) });
  assert.equal((await guarded.send({ path: "/api/v1/_code" })).status, 404);
  const plain = await startFor(t, { collections: { notes: {} } });
  assert.deepEqual(await seen(plain), { functions: [], failures: [] });
});
