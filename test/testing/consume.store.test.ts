import assert from "node:assert/strict";
import { test } from "node:test";
import { defineConfig } from "../../src/index.ts";
import { start } from "../../src/testing.ts";
import { until } from "../until.ts";
import { type AnyService, startInMemoryFor } from "./service.ts";

const now = new Date("2026-02-01T12:00:00Z");

/** A log that keeps its lines. */
function keptLog() {
  const lines: string[] = [];
  const add = (...line: unknown[]) => void lines.push(line.join(" "));
  return { lines, log: { warn: add, error: add } };
}

/** A consumer of orders as a configuration has it, whose calls are kept in `calls`. */
function configWith(run: (call: { subject: string; attempt: number; signal: AbortSignal }) => unknown) {
  return defineConfig({
    auth: { keys: true, keyRoles: ["ops"], administrators: [{ role: "ops" }] },
    collections: {
      orders: {
        access: { read: "public", write: "public" },
        after: {
          mail: {
            timeoutMs: 2_000,
            run: ({ event, attempt, signal }) => run({ subject: event.subject, attempt, signal }),
          },
        },
      },
    },
  });
}

test("a consumer runs only when the test says so, and then handles everything", async (t) => {
  const calls: string[] = [];
  const service = await startInMemoryFor(
    t,
    configWith(({ subject }) => calls.push(subject)),
    { now },
  );
  const { orders } = service.client();
  const ids: string[] = [];
  for (let n = 0; n < 60; n++) ids.push((await orders.create({ n })).id); // more than a page of the log
  await service.advance(3_600_000);
  await orders.list({}).all();
  assert.deepEqual(calls, []);
  await service.consume();
  assert.deepEqual(calls, ids);
  await service.consume();
  assert.equal(calls.length, 60);
  const { id } = await orders.create({});
  await service.consume(); // at once after the change
  assert.deepEqual(calls.slice(60), [id]);
});

test("a consumer that fails twice succeeds at its third attempt, when the clock has come to it", async (t) => {
  const attempts: number[] = [];
  const { lines, log } = keptLog();
  const config = configWith(({ attempt }) => {
    attempts.push(attempt);
    if (attempt < 3) throw new Error("the mail server is away");
  });
  const service = await startInMemoryFor(t, config, { now, log });
  const ops = service.client({ subject: "root", roles: ["ops"] });
  const { id } = await ops.orders.create({});
  const failed =
    /^the consumer orders\/mail failed for the event \S+, attempt 1: Error: the mail server is away\n.*consume\.store/s;
  await assert.rejects(service.consume(), { message: failed });
  assert.match(lines.join(), /attempt 1: Error: the mail server is away/);
  await service.consume(); // it waits
  assert.deepEqual(attempts, [1]);
  const status = async () => {
    const answer = await ops.$read("/_consumers/orders/mail");
    const { state, waiting, retrying } = answer as { state: string; waiting: number; retrying: number };
    return { state, waiting, retrying };
  };
  assert.deepEqual(await status(), { state: "failing", waiting: 0, retrying: 1 });
  await service.advance(10_000);
  assert.deepEqual(attempts, [1]);
  await assert.rejects(service.consume(), /attempt 2/);
  await service.advance(10_000);
  await service.consume(); // the second wait is longer
  assert.deepEqual(attempts, [1, 2]);
  await service.advance(600_000);
  await service.consume();
  assert.deepEqual(attempts, [1, 2, 3]);
  assert.deepEqual(await status(), { state: "active", waiting: 0, retrying: 0 });
  assert.equal((await ops.orders.get(id)).id, id);
});

test("one consumer fails, and the others handle everything before the test learns of it", async (t) => {
  const handled: string[] = [];
  const config = defineConfig({
    collections: {
      orders: {
        after: {
          broken: {
            run: () => {
              throw new Error("broken");
            },
          },
          whole: { run: ({ event }) => handled.push(event.subject) },
        },
      },
    },
  });
  const service = await startInMemoryFor(t, config, { now, log: keptLog().log });
  const { orders } = service.client();
  const ids = [(await orders.create({})).id, (await orders.create({})).id];
  const error = await service.consume().then(
    () => assert.fail("nothing has failed"),
    (thrown: Error) => thrown,
  );
  assert.equal(error.message.match(/orders\/broken failed/g)?.length, 2);
  assert.deepEqual(handled, ids);
});

const chained = defineConfig({
  collections: {
    mails: {},
    shipments: {
      after: {
        tell: {
          as: { roles: ["mailer"] },
          run: ({ event, client }) => client.mails?.create({ about: event.subject }),
        },
      },
    },
    orders: {
      after: {
        ship: {
          types: ["created"],
          as: "service",
          run: ({ event, client }) =>
            client.shipments?.create({ order: event.subject }, { id: event.subject }),
        },
      },
    },
  },
});

test("consumers handle what other consumers make, with their clients", async (t) => {
  const service = await startInMemoryFor(t, chained, { now });
  const client = service.client();
  const { id } = await client.orders.create({});
  await service.consume();
  assert.equal((await client.shipments.get(id)).order, id);
  assert.deepEqual(
    (await client.mails.list({}).all()).map(({ about }) => about),
    [id],
  );
  const [change] = (await (await service.fetch(`/api/v1/shipments/${id}/_changes`)).json()) as object[];
  assert.equal((change as { principal: string }).principal, "code:orders/ship");
});

test("two consumers that feed each other end after ten changes, which is a failure", async (t) => {
  const config = defineConfig({
    collections: {
      pings: { after: { back: { as: "service", run: ({ client }) => client.pongs?.create({}) } } },
      pongs: { after: { back: { as: "service", run: ({ client }) => client.pings?.create({}) } } },
    },
  });
  const service = await startInMemoryFor(t, config, { now, log: keptLog().log });
  const client = service.client();
  await client.pings.create({});
  await assert.rejects(service.consume(), /This change is number 10 in a chain/);
  const counts = [await client.pings.list({}).all(), await client.pongs.list({}).all()];
  assert.equal(counts.flat().length, 11);
  await service.consume();
  assert.equal((await client.pings.list({}).all()).length, counts[0]?.length);
});

test("a consumer that hangs has failed after its time, for which a test need not wait", async (t) => {
  const begun = Promise.withResolvers<AbortSignal>();
  const config = configWith(({ attempt, signal }) => {
    begun.resolve(signal);
    return attempt === 1 ? new Promise(() => {}) : undefined;
  });
  const service = await startInMemoryFor(t, config, { now, log: keptLog().log });
  await service.client().orders.create({});
  const late = "collections.orders.after.mail.run has taken longer than 2000 ms.";
  const failing = assert.rejects(service.consume(), { message: RegExp(`attempt 1: ${late}`) });
  const signal = await begun.promise;
  await service.advance(2_000);
  assert.equal((signal.reason as Error).message, late);
  await service.advance(5_000);
  await failing;
  await service.advance(10_000);
  await service.consume();
});

test("a stop in the middle of a consumer ends it, and everything after it", async (t) => {
  const { lines, log } = keptLog();
  const begun = Promise.withResolvers<AbortSignal>();
  const config = configWith(({ signal }) => {
    begun.resolve(signal);
    return new Promise(() => {});
  });
  const service = await start(config, { now, log });
  t.after(() => service.stop());
  await service.client().orders.create({});
  const consuming = assert.rejects(service.consume(), { message: "The service has stopped." });
  const later = assert.rejects(service.consume(), { message: "The service has stopped." });
  const signal = await begun.promise;
  await service.stop();
  await Promise.all([consuming, later]);
  assert.equal((signal.reason as Error).message, "The service stops.");
  await assert.rejects(service.consume(), { message: "The service has stopped." });
  assert.deepEqual(lines, []);
});

/** Sends requests about the consumer as an administrator. */
async function administer(service: AnyService) {
  const ops = service.client({ subject: "root", roles: ["ops"] });
  const { key } = await ops.$keys.create({ name: "ops", roles: ["ops"] });
  const send = async (method: string, path: string, content?: object) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/merge-patch+json" };
    const body = JSON.stringify(content);
    const response = await service.fetch(`/api/v1/_consumers/orders/mail${path}`, { method, headers, body });
    assert.equal(response.status, 200);
    return response.json();
  };
  return { send, enable: (enabled: boolean) => send("PATCH", "", { enabled }) };
}

test("an administrator disables a consumer, and lets one attempt begin again", async (t) => {
  const calls: number[] = [];
  const config = configWith(({ attempt }) => {
    calls.push(attempt);
    if (calls.length === 1) throw new Error("once");
  });
  const service = await startInMemoryFor(t, config, { now, log: keptLog().log });
  const { send, enable } = await administer(service as AnyService);
  await enable(false);
  await service.client().orders.create({});
  await service.consume();
  assert.deepEqual(calls, []);
  await enable(true);
  await assert.rejects(service.consume(), /once/);
  const [delivery] = (await send("GET", "/_deliveries")) as { event: string }[];
  await send("POST", `/_deliveries/${delivery?.event}/_retry`);
  await service.consume();
  assert.deepEqual(calls, [1, 2]);
});

test("a consumer that begins anew in the middle gets no change again", async (t) => {
  const calls: string[] = [];
  const config = configWith(async ({ subject }) => {
    if (calls.push(subject) !== 2) return;
    const deliveries = async () => (await send("GET", "/_deliveries")) as { event: string }[];
    await until("the first delivery is stored", async () => (await deliveries()).length === 1);
    const [first] = await deliveries();
    await send("POST", `/_deliveries/${first?.event}/_retry`);
  });
  const service = await startInMemoryFor(t, config, { now });
  const { send } = await administer(service as AnyService);
  const { orders } = service.client();
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push((await orders.create({ n })).id);
  await service.consume();
  // Only the first one was asked for again.
  assert.deepEqual(calls.toSorted(), [ids[0], ...ids].toSorted());
});

test("without consumers, nothing is to do", async (t) => {
  const service = await startInMemoryFor(t, { collections: { notes: {} } });
  await service.client().notes.create({});
  await service.consume();
});
