/** New and changed computed attributes of resources that are stored already. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Worker } from "node:worker_threads";
import { makeFolder } from "../../folder.ts";
import { type Service, type ServiceOptions, startService } from "../../http/service.ts";
import { openTestStore } from "../../http/test-store.ts";
import { until } from "../../until.ts";

interface Total {
  version?: number;
  value?: string;
  schema?: object;
  /** Further members of the collection, as source. */
  more?: string;
}

/** A configuration whose orders have a computed total. */
const withTotal = ({ version = 1, value, schema = { type: "number" }, more = "" }: Total = {}) => `
export default {
  collections: {
    orders: {
      schema: {
        type: "object",
        properties: { n: { type: "integer" }, title: { type: "string", maxLength: 100 } },
        required: ["n", "total"],
      },
      computed: {
        total: {
          schema: ${JSON.stringify(schema)},
          from: ["n"],
          version: ${version},
          value: ${value ?? "({ n }) => n * 2"},
        },
      },
      ${more}
    },
    items: {
      schema: { type: "object", properties: { orderId: { type: "string" } } },
      references: { orderId: "orders" },
    },
  },
  history: { showPrincipal: true },
};
`;

const seedsOf = (count: number) => ({
  orders: Array.from({ length: count }, (_, n) => ({ id: `order-${String(n).padStart(5, "0")}`, n })),
});

/** Starts services one after the other on one store. */
async function storeFor(t: TestContext) {
  const { address: store, release } = await openTestStore(makeFolder());
  let running: Service | undefined;
  t.after(async () => {
    await running?.stop();
    release();
  });
  return async (options: ServiceOptions): Promise<Service> => {
    await running?.stop();
    running = undefined;
    running = await startService({ store, ...options });
    return running;
  };
}

async function computingIn({ send }: Service): Promise<unknown> {
  const { json } = await send({ path: "/api/v1/_collections" });
  const { collections } = json as { collections: { name: string; computing?: unknown }[] };
  return collections.find(({ name }) => name === "orders")?.computing;
}

const untilComplete = (service: Service) =>
  until("all are computed", async () => (await computingIn(service)) === undefined);

async function allOf({ send }: Service): Promise<{ id: string; n: number; total: unknown }[]> {
  const all: { id: string; n: number; total: unknown }[] = [];
  for (let offset = 0; ; offset += 1_000) {
    const { json, text } = await send({ path: `/api/v1/orders?limit=1000&offset=${offset}&sort=id` });
    assert.ok(Array.isArray(json), text);
    all.push(...json);
    if (json.length < 1_000) return all;
  }
}

test("a new attribute is computed for stored resources, with a history and events", async (t) => {
  const start = await storeFor(t);
  const service = await start({ module: withTotal(), seeds: seedsOf(1_200) });
  await untilComplete(service);
  const all = await allOf(service);
  assert.equal(all.length, 1_200);
  assert.ok(all.every(({ n, total }) => total === n * 2));
  const { json } = await service.send({ path: "/api/v1/orders/order-00007/_changes" });
  const changes = json as { version: number; principal?: string }[];
  assert.deepEqual(
    changes.map(({ version, principal }) => [version, principal]),
    [
      [2, "code:computed"],
      [1, undefined],
    ],
  );
});

test("stored resources can lack a new attribute that the schema requires", async (t) => {
  const start = await storeFor(t);
  const schema = '{ type: "object", properties: { n: { type: "integer" } } }';
  await start({
    module: `export default { collections: { orders: { schema: ${schema} } } };`,
    seeds: seedsOf(3),
  });
  const service = await start({ module: withTotal() });
  await untilComplete(service);
  assert.ok((await allOf(service)).every(({ n, total }) => total === n * 2));
});

test("a higher version changes only resources whose value differs", async (t) => {
  const start = await storeFor(t);
  const first = await start({ module: withTotal(), seeds: seedsOf(600) });
  await untilComplete(first);
  const value = "({ n }) => (n % 3 === 0 ? n * 2 : n * 10)";
  const second = await start({ module: withTotal({ version: 2, value }) });
  await untilComplete(second);
  const all = await allOf(second);
  assert.ok(all.every(({ n, total }) => total === (n % 3 === 0 ? n * 2 : n * 10)));
  for (const [id, versions] of [
    ["order-00003", 2],
    ["order-00004", 3],
  ] as const) {
    const { json } = await second.send({ path: `/api/v1/orders/${id}/_changes` });
    assert.equal((json as unknown[]).length, versions, id);
  }
});

test("the same version computes nothing again, and another schema does", async (t) => {
  const start = await storeFor(t);
  await untilComplete(await start({ module: withTotal(), seeds: seedsOf(10) }));
  const same = await start({ module: withTotal({ value: "({ n }) => n * 3" }) });
  assert.equal(await computingIn(same), undefined);
  assert.ok((await allOf(same)).every(({ n, total }) => total === n * 2));
  const value = "({ n }) => String(n)";
  const texts = await start({ module: withTotal({ value, schema: { type: "string" } }) });
  await untilComplete(texts);
  assert.ok((await allOf(texts)).every(({ n, total }) => total === String(n)));
});

test("a lower version is a fault of the start", async (t) => {
  const start = await storeFor(t);
  await untilComplete(await start({ module: withTotal({ version: 5 }), seeds: seedsOf(3) }));
  await assert.rejects(start({ module: withTotal({ version: 4 }) }), {
    message:
      "collections.orders.computed.total.version is 4, but the store has values of version 5. To go back to an earlier function, give it a higher version: 6.",
  });
});

test("an attribute that was removed counts as new when it comes back", async (t) => {
  const start = await storeFor(t);
  await untilComplete(await start({ module: withTotal(), seeds: seedsOf(3) }));
  const open = await start({ module: "export default { collections: { orders: {} } };" });
  const content = { id: "order-00001", n: 1, total: 77 };
  const put = await open.send({ method: "PUT", path: "/api/v1/orders/order-00001", content });
  assert.equal(put.status, 200, put.text);
  const again = await start({ module: withTotal() });
  await untilComplete(again);
  assert.deepEqual(
    (await allOf(again)).map(({ total }) => total),
    [0, 2, 4],
  );
});

/** The function fails for one resource, so the attribute stays incomplete. */
const failing = '({ n }) => { if (n === 1) throw new Error("no"); return n * 2; }';

test("until a new attribute is complete, what names it gets 503, and the rest works", async (t) => {
  const start = await storeFor(t);
  const more = 'search: ["title"], indexes: ["total"],';
  const service = await start({ module: withTotal({ value: failing, more }), seeds: seedsOf(3) });
  await service.create("items", { orderId: "order-00001" });
  const { send } = service;
  await until("the others are computed", async () => (await allOf(service))[2]?.total === 4);
  for (const query of [
    "orders?total=4",
    "orders?sort=-total",
    "orders?aggregate=sum(total)",
    "orders?aggregate=count&group=total",
    "items?order.total:gte=1",
    "items?sort=order.total",
    "orders?filter=%7B%22or%22%3A%5B%7B%22n%22%3A1%7D%2C%7B%22total%22%3A4%7D%5D%7D",
  ]) {
    const answer = await send({ path: `/api/v1/${query}` }, { mayFail: true });
    assert.equal(answer.status, 503, `${query} ${answer.text}`);
    assert.match(answer.text, /\\"total\\" of orders is not computed for all resources yet/, query);
  }
  for (const query of ["orders?n=2", "orders?sort=-n", "orders?aggregate=sum(n)", "items?order.n=1"]) {
    const answer = await send({ path: `/api/v1/${query}` });
    assert.equal(answer.status, 200, `${query} ${answer.text}`);
  }
  assert.deepEqual(await computingIn(service), { attributes: ["total"], left: 3 });
  const patch = { method: "PATCH", path: "/api/v1/orders/order-00002", content: { n: 9 } };
  assert.equal(((await send(patch)).json as { total: number }).total, 18);
  const failed = await send({ ...patch, content: { n: 1 } }, { mayFail: true });
  assert.equal((failed.json as { code: string }).code, "CODE_FAILED");
  const fixed = await start({ module: withTotal({ version: 2, more }) });
  await untilComplete(fixed);
  const found = await fixed.send({ path: "/api/v1/orders?total:gte=2&sort=-total" });
  assert.deepEqual(
    (found.json as { total: number }[]).map(({ total }) => total),
    [18, 2],
  );
});

test("a changed attribute serves its old values until it is complete", async (t) => {
  const start = await storeFor(t);
  await untilComplete(await start({ module: withTotal(), seeds: seedsOf(3) }));
  const value = failing.replace("n * 2", "n * 5");
  const service = await start({ module: withTotal({ version: 2, value }) });
  await until("the others are computed", async () => (await allOf(service))[2]?.total === 10);
  const old = await service.send({ path: "/api/v1/orders?total=2" });
  assert.deepEqual(old.json, [{ id: "order-00001", n: 1, total: 2 }], old.text);
  assert.deepEqual(await computingIn(service), { attributes: ["total"], left: 3 });
});

test("a value that does not fit its schema, or that another resource has, is not stored", async (t) => {
  const warnings: string[] = [];
  const log = { info() {}, error() {}, warn: (text: unknown) => void warnings.push(String(text)) };
  const start = await storeFor(t);
  const value = '({ n }) => (n === 1 ? "one" : Math.min(n, 2))';
  const module = withTotal({ value, more: 'unique: ["total"],' });
  const service = await start({ module, seeds: seedsOf(4), log: log as never });
  await until("the pass has ended", () => warnings.some((text) => text.includes("2 stored resources")));
  assert.deepEqual(
    (await allOf(service)).map(({ total }) => total),
    [0, undefined, 2, undefined],
  );
  assert.ok(
    warnings.some((text) => text.includes('"order-00001": "total" must be a number')),
    String(warnings),
  );
});

test("the calls of a pass grow with the refused values, not with their square", async (t) => {
  const count = 100;
  const calls = join(makeFolder(), "calls");
  let made = 0;
  const warn = (text: unknown) => {
    if (String(text).includes(`${count - 1} stored resources`)) made ||= readFileSync(calls).length;
  };
  const start = await storeFor(t);
  const value = `() => { appendFileSync(${JSON.stringify(calls)}, "x"); return 7; }`;
  const module = `
import { appendFileSync } from "node:fs";
${withTotal({ value, more: 'unique: ["total"],' })}`;
  await start({ module, seeds: seedsOf(count), log: { info() {}, error() {}, warn } as never });
  await until("the first pass has ended", () => made > 0);
  assert.ok(made <= 8 * count, `${made} calls for ${count} resources`);
});

test("a value that stays the same must fit another schema", async (t) => {
  const warnings: string[] = [];
  const log = { info() {}, error() {}, warn: (text: unknown) => void warnings.push(String(text)) };
  const start = await storeFor(t);
  await untilComplete(await start({ module: withTotal(), seeds: seedsOf(2) }));
  const service = await start({ module: withTotal({ schema: { type: "string" } }), log: log as never });
  await until("the pass has ended", () => warnings.some((text) => text.includes("2 stored resources")));
  assert.deepEqual(await computingIn(service), { attributes: ["total"], left: 2 });
});

test("unique values that move to the next resource are computed in the end", async (t) => {
  const start = await storeFor(t);
  const more = `unique: ["total"],`;
  const value = "({ n }) => n + 1";
  await untilComplete(
    await start({ module: withTotal({ more, value: "({ n }) => n" }), seeds: seedsOf(600) }),
  );
  await untilComplete(await start({ module: withTotal({ more, value, version: 2 }) }));
});

test("administrators see how often the function was called for stored resources", async (t) => {
  const start = await storeFor(t);
  const value = '({ n }) => { if (n === 2) throw new Error("no luck"); return n; }';
  const service = await start({ module: withTotal({ value }), seeds: seedsOf(3) });
  const rows = async () => {
    const { functions } = (await service.send({ path: "/api/v1/_code" })).json as { functions: object[] };
    return functions as { calls: number; failures: number }[];
  };
  await until("all were computed", async () => (await rows())[0]?.calls === 3);
  assert.deepEqual(
    (await rows()).map(({ failures }) => failures),
    [1],
  );
});

test("an access rule that names the attribute makes the start wait", async (t) => {
  const start = await storeFor(t);
  const more = `access: { read: [{ where: { total: { gte: 1000 } } }] },`;
  const module = withTotal({ more }).replace("history:", "auth: { keys: true }, history:");
  const service = await start({ module, seeds: seedsOf(700) });
  const list = await service.send({ path: "/api/v1/orders?count=exact&limit=1" });
  assert.equal(list.headers["x-total-count"], "200", list.text);
});

const skip = !("threadName" in Worker.prototype) && "this version of Node does not tell the names of threads";

test("each work on stored resources has its own worker, which ends with it", { skip }, async (t) => {
  const workers = { started: 0, running: 0 };
  const note = (worker: Worker) => {
    if (worker.threadName !== "holdfast-hooks") return;
    workers.started++;
    workers.running++;
    worker.once("exit", () => workers.running--);
  };
  process.on("worker", note);
  t.after(() => process.off("worker", note));
  const start = await storeFor(t);
  const computed = `computed: { total: { schema: { type: "number" }, from: ["n"], value: ({ n }) => n * 2 } },`;
  const module = `
export default {
  auth: { keys: true },
  collections: {
    awaited: { ${computed} access: { read: [{ where: { total: { gte: 0 } } }] } },
    orders: { ${computed} access: { read: ["public"] } },
  },
};
`.replaceAll("computed:", `schema: { properties: { n: { type: "integer" } } }, computed:`);
  const { orders } = seedsOf(10);
  const service = await start({ module, seeds: { orders, awaited: orders } });
  await until("all are computed", async () => {
    const answer = await service.send({ path: "/api/v1/orders?total=4" }, { mayFail: true });
    return answer.status === 200;
  });
  await until("only the worker of writes is left", () => workers.running === 1);
  assert.equal(workers.started, 3, "of writes, of the work that the start waits for, and of the rest");
});

test("a read-only service computes nothing", async (t) => {
  const start = await storeFor(t);
  await untilComplete(await start({ module: withTotal(), seeds: seedsOf(3) }));
  const module = withTotal({ version: 2, value: "({ n }) => n * 3" });
  const readOnly = module.replace("history:", "readOnly: true, history:");
  const service = await start({ module: readOnly });
  assert.deepEqual(await computingIn(service), { attributes: ["total"], left: 3 });
  const old = await service.send({ path: "/api/v1/orders?total=4" });
  assert.equal((old.json as unknown[]).length, 1, old.text);
});

test("writes in the meantime are never lost", async (t) => {
  const start = await storeFor(t);
  const count = 1_000;
  await untilComplete(await start({ module: withTotal(), seeds: seedsOf(count) }));
  const service = await start({ module: withTotal({ version: 2, value: "({ n }) => n * 7" }) });
  let written = 0;
  const write = async (from: number) => {
    for (let n = from; n < count && (await computingIn(service)) !== undefined; n += 8) {
      const path = `/api/v1/orders/order-${String(n).padStart(5, "0")}`;
      const answer = await service.send({ method: "PATCH", path, content: { title: "written", n: n + 1 } });
      assert.equal(answer.status, 200, answer.text);
      written++;
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, n) => write(n)));
  await untilComplete(service);
  const all = (await allOf(service)) as { n: number; total: number; title?: string; id: string }[];
  assert.equal(all.length, count);
  assert.equal(all.filter(({ title }) => title === "written").length, written);
  for (const { id, n, total, title } of all) {
    assert.equal(total, n * 7, id);
    assert.equal(n, Number(id.slice(6)) + (title === undefined ? 0 : 1), id);
  }
});

test("integer ids, timestamps and no history make no difference", async (t) => {
  const start = await storeFor(t);
  const configOf = (members: string) => `
    export default {
      history: "none",
      collections: {
        orders: {
          id: "integer",
          timestamps: true,
          schema: { type: "object", properties: { n: { type: "integer" } } },
          ${members}
        },
      },
    };`;
  const plain = await start({ module: configOf("") });
  const imported = await plain.send({
    method: "POST",
    path: "/api/v1/orders/_import",
    headers: { "content-type": "application/x-ndjson" },
    body: Array.from({ length: 1_100 }, (_, n) => `{"n":${n}}\n`).join(""),
  });
  assert.equal(imported.status, 200, imported.text);
  type Stamped = { id: number; n: number; total: number; createdAt: string; updatedAt: string };
  const before = (await allOf(plain)) as unknown as Stamped[];
  const computed =
    'computed: { total: { schema: { type: "number" }, from: ["n"], value: ({ n }) => (n === 0 ? undefined : n + 1) } },';
  const service = await start({ module: configOf(computed) });
  await untilComplete(service);
  const all = (await allOf(service)) as unknown as Stamped[];
  assert.equal(all.length, 1_100);
  assert.deepEqual(all[0], before[0], "without a value, the resource does not change");
  for (const [index, { id, n, total, createdAt, updatedAt }] of all.entries()) {
    if (index === 0) continue;
    assert.equal(total, n + 1, String(id));
    assert.equal(createdAt, before[index]?.createdAt);
    assert.ok(updatedAt > (before[index]?.updatedAt ?? ""));
  }
});
