/** Webhooks that no longer fit the configuration: they are visible, lose nothing, and continue by themselves. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openStore } from "../../../../src/store/open.ts";
import { logStart } from "../../../../src/store/port/log-place.ts";
import { makeFolder } from "../../../folder.ts";
import { check } from "../../../http/check.ts";
import { type Service, type ServiceOptions, startService } from "../../../http/service.ts";
import { openTestStore, type TestStore } from "../../../http/test-store.ts";
import { until } from "../../../until.ts";
import { testClock } from "./clock.ts";
import { accept, type Receiver, startReceiver } from "./receiver.ts";

const hooks = "/api/v1/_webhooks";
const text = { type: "string" } as const;
const schemaOf = (...names: string[]) => ({
  schema: { type: "object", properties: Object.fromEntries(names.map((name) => [name, text])) },
});
const fitting = { topics: schemaOf("title", "status"), others: schemaOf("name") };
const withoutStatus = { topics: schemaOf("title"), others: schemaOf("name") };
/** Only for the store that is opened in between. The services keep all changes, because a disabled webhook is owed none. */
const history = { keepDays: 0, keepChanges: 0 };

const clock = testClock();
let folder: string;
let place: TestStore;
let receiver: Receiver;
let warnings: string[];
let running: Service | undefined;

before(async () => {
  folder = makeFolder();
  place = await openTestStore(folder);
  receiver = await startReceiver();
});
after(async () => {
  await stop();
  await receiver.close();
  place.release();
});

/** Starts a service with these collections on the same store. */
async function startWith(collections: ServiceOptions["collections"]): Promise<Service> {
  warnings = [];
  const warn = (message: string) => void warnings.push(message);
  const webhookParts = { clock, warn };
  running = await startService({
    store: place.address,
    now: clock.now,
    webhookParts,
    ...(collections && { collections }),
  });
  return running;
}

async function stop(): Promise<void> {
  const service = running;
  running = undefined;
  await service?.stop();
}

const about = (id: string) => warnings.filter((each) => each.includes(id));

test("a webhook that does not fit the configuration says so, keeps its events, and continues when it fits", async () => {
  receiver.respond = (_, response) => void response.writeHead(500).end();
  const first = await startWith(fitting);
  const filter = { or: [{ title: "A" }, { status: "open" }] };
  const content = { url: receiver.url, collections: ["topics"], filter };
  const made = await first.send({ method: "POST", path: hooks, content });
  const { id } = made.json as { id: string };
  const path = `${hooks}/${id}`;
  const statusOn = async (service: Service) =>
    (await service.send({ path: `${path}/_status` })).json as Record<string, unknown>;
  await first.create("topics", { title: "A" });
  await until("the first event waits for a retry", async () => (await statusOn(first)).retrying === 1);
  assert.equal((await statusOn(first)).reason, undefined);
  await stop();

  receiver.received = [];
  receiver.respond = accept;
  const second = await startWith(withoutStatus);
  await until("the service warns", () => about(id).length > 0);
  const { state, reason, retrying, lost } = await statusOn(second);
  assert.deepEqual([state, retrying, lost], ["failing", 1, 0]);
  assert.match(
    String(reason),
    /^The filter does not fit the collection "topics": #\/filter\/or\/1\/status is not an attribute of "topics"\./,
  );
  assert.deepEqual(about(id), [`the webhook ${id} delivers nothing: ${reason}`]);
  await second.create("topics", { title: "A" });
  await second.create("others", {});
  assert.equal((await statusOn(second)).waiting, 1);
  const [delivery] = (await second.send({ path: `${path}/_deliveries` })).json as { event: string }[];
  const retry = { method: "POST", path: `${path}/_deliveries/${delivery?.event}/_retry` };
  const refused = await second.send(retry);
  check(refused, { status: 409, problem: "WEBHOOKS_UNAVAILABLE" });
  assert.match(refused.text, /The filter does not fit the collection/);

  const patch = (attributes: object) => second.send({ method: "PATCH", path, content: attributes });
  for (const attributes of [{ enabled: false }, { description: "paused" }, { enabled: true }])
    assert.equal((await patch(attributes)).status, 200, JSON.stringify(attributes));
  check(await patch({ filter: { status: "closed" } }), { status: 400, problem: "VALIDATION_FAILED" });
  check(await patch({ collections: ["others"] }), { status: 400, problem: "VALIDATION_FAILED" });
  check(await second.send({ method: "POST", path: hooks, content }), { status: 400 });
  assert.equal((await statusOn(second)).state, "failing");
  assert.equal(about(id).length, 1);
  assert.deepEqual(receiver.received, []);
  await stop();

  const opened = await openStore(place.address, { history, sweepMs: 10 });
  const kept = async (name: string) => (await opened.changesAfter(name, logStart, 10)).changes.length;
  try {
    await until("the other log is swept", async () => (await kept("others")) === 0);
    assert.equal(await kept("topics"), 2);
  } finally {
    await opened.close();
  }

  clock.moveTo(clock.now() + 60_000);
  const third = await startWith(fitting);
  await until("both events are delivered", () => receiver.received.length >= 2);
  await until("nothing waits", async () => (await statusOn(third)).retrying === 0);
  const after = await statusOn(third);
  assert.deepEqual([after.state, after.reason, after.lost], ["active", undefined, 0]);
  assert.deepEqual(about(id), []);
  await third.send({ method: "DELETE", path });
  await stop();
});

test("a webhook whose only collection was removed says so", async () => {
  const first = await startWith(fitting);
  const content = { url: receiver.url, collections: ["others"] };
  const { id } = (await first.send({ method: "POST", path: hooks, content })).json as { id: string };
  await stop();
  const second = await startWith({ topics: fitting.topics });
  const status = await second.send({ path: `${hooks}/${id}/_status` });
  const { state, reason } = status.json as Record<string, unknown>;
  assert.deepEqual([state, reason], ["failing", 'The collection "others" does not exist.']);
  const pause = { method: "PATCH", path: `${hooks}/${id}`, content: { enabled: false } };
  assert.equal((await second.send(pause)).status, 200);
  await stop();
});
