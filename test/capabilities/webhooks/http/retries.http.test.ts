/** What happens if a receiver fails. A clock of the test's own moves from retry to retry. */
import assert from "node:assert/strict";
import { after, afterEach, describe, test } from "node:test";
import { retryWaits } from "../../../../src/changes/consume/retries.ts";
import { startServiceForFile } from "../../../http/service.ts";
import { until } from "../../../until.ts";
import { testClock } from "./clock.ts";
import { accept, startReceiver } from "./receiver.ts";

const hooks = "/api/v1/_webhooks";
const dayMs = 24 * 3_600_000;

interface Shown {
  event: string;
  state: string;
  attempts: number;
  time: string;
  status: number | null;
  error: string | null;
  next: string | null;
}

const clock = testClock();
let random = 0.5;
const service = await startServiceForFile({
  now: clock.now,
  webhookParts: { clock, random: () => random, requestMs: 1_000 },
});
const receiver = await startReceiver();
after(() => receiver.close());

let hook: { id: string };
afterEach(async () => {
  if (hook !== undefined) await service.send({ method: "DELETE", path: `${hooks}/${hook.id}` });
  receiver.respond = accept;
  receiver.received = [];
});

async function createHook(collection: string): Promise<void> {
  const content = { url: receiver.url, collections: [collection] };
  const answer = await service.send({ method: "POST", path: hooks, content });
  hook = answer.json as { id: string };
}

async function get<T>(path: string): Promise<T> {
  return (await service.send({ method: "GET", path: `${hooks}/${hook.id}${path}` })).json as T;
}

const deliveries = () => get<Shown[]>("/_deliveries");
const status = () => get<Record<string, unknown>>("/_status");

/** The only delivery, after this many attempts. */
async function afterAttempts(attempts: number): Promise<Shown> {
  let found: Shown | undefined;
  await until(`${attempts} attempts are stored`, async () => {
    [found] = await deliveries();
    return found?.attempts === attempts;
  });
  return found as Shown;
}

const fail = (status: number, headers: Record<string, string> = {}): void => {
  receiver.respond = (_, response) => void response.writeHead(status, headers).end();
};

describe("a delivery that fails", () => {
  test("is tried ten times in all with the same id, and is then dead", async () => {
    fail(500);
    await createHook("ten");
    await service.create("ten");
    for (const [index, wait] of retryWaits.entries()) {
      const shown = await afterAttempts(index + 1);
      assert.equal(shown.state, "retrying");
      const next = Date.parse(shown.next ?? "");
      assert.equal(next - Date.parse(shown.time), wait);
      clock.moveTo(next - 1);
      assert.equal((await afterAttempts(index + 1)).state, "retrying");
      clock.moveTo(next);
    }
    const dead = await afterAttempts(retryWaits.length + 1);
    assert.deepEqual([dead.state, dead.next], ["dead", null]);
    assert.equal(receiver.received.length, 10);
    assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 1);
    assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1);
    assert.equal((await status()).retrying, 0);

    receiver.respond = accept;
    const path = `${hooks}/${hook.id}/_deliveries/${dead.event}/_retry`;
    assert.equal(((await service.send({ method: "POST", path })).json as Shown).state, "delivered");
    assert.equal((await deliveries())[0]?.state, "delivered");
  });

  test("is tried again at most 20 % earlier or later than planned", async () => {
    fail(500);
    for (const [chosen, factor] of [
      [0, 0.8],
      [1, 1.2],
    ] as const) {
      random = chosen;
      await createHook(`spread${chosen}`);
      await service.create(`spread${chosen}`);
      const { next, time } = await afterAttempts(1);
      assert.equal(Date.parse(next ?? "") - Date.parse(time), 5_000 * factor);
    }
    random = 0.5;
  });

  test("waits as long as 429 and 503 ask for, and no other status", async () => {
    for (const [asked, wait] of [
      [429, 100_000],
      [503, 100_000],
      [500, 5_000],
    ] as const) {
      fail(asked, { "Retry-After": "100" });
      await createHook(`busy${asked}`);
      await service.create(`busy${asked}`);
      const { next, time } = await afterAttempts(1);
      assert.equal(Date.parse(next ?? "") - Date.parse(time), wait);
    }
  });

  test("is a redirect too, which the service does not follow", async () => {
    const other = await startReceiver();
    fail(307, { Location: other.url });
    await createHook("redirected");
    await service.create("redirected");
    assert.equal((await afterAttempts(1)).status, 307);
    assert.equal(other.received.length, 0);
    await other.close();
  });

  test("is one without a response in time", async () => {
    receiver.respond = () => {};
    await createHook("silent");
    await service.create("silent");
    const shown = await afterAttempts(1);
    assert.deepEqual([shown.status, shown.error], [null, "The receiver did not respond within 1 seconds."]);
  });

  test("does not hold up later events", async () => {
    receiver.respond = ({ event }, response) =>
      void response.writeHead(event.data.bad === true ? 500 : 204).end();
    await createHook("mixed");
    await service.create("mixed", { bad: true });
    await service.create("mixed", { bad: false });
    await until("the second is delivered", async () =>
      (await deliveries()).some(({ state }) => state === "delivered"),
    );
  });
});

test("a retry by hand and one of the service at the same time both succeed", async () => {
  fail(500);
  await createHook("both");
  await service.create("both");
  const { event, next } = await afterAttempts(1);
  receiver.received = [];
  let finish = () => {};
  receiver.respond = (_, response) => {
    finish = () => void response.writeHead(204).end();
    fail(500); // for the retry of the service
  };
  const byHand = service.send({ method: "POST", path: `${hooks}/${hook.id}/_deliveries/${event}/_retry` });
  await until("it is sent", () => receiver.received.length === 1);
  clock.moveTo(Date.parse(next ?? ""));
  await afterAttempts(2);
  finish();
  const answer = await byHand;
  assert.deepEqual([answer.status, (answer.json as Shown).state], [200, "delivered"], answer.text);
  const delivered = await afterAttempts(3);
  assert.deepEqual([delivered.state, delivered.next], ["delivered", null]);
  receiver.respond = accept;
  const before = receiver.received.length;
  await service.create("both");
  await until("later events are delivered", () => receiver.received.length > before);
});

test("a retry by hand that succeeds ends the state failing, and the service does not send the event again", async () => {
  fail(500);
  await createHook("mended");
  await service.create("mended");
  const { event, next } = await afterAttempts(1);
  assert.equal((await status()).state, "failing");
  receiver.respond = accept;
  await service.send({ method: "POST", path: `${hooks}/${hook.id}/_deliveries/${event}/_retry` });
  const { state, retrying, lastSuccess } = await status();
  assert.deepEqual([state, retrying, typeof lastSuccess], ["active", 0, "string"]);
  clock.moveTo(Date.parse(next ?? ""));
  await service.create("mended");
  await until("the next event is delivered", async () =>
    (await deliveries()).every(({ state }, _, all) => all.length === 2 && state === "delivered"),
  );
  assert.equal(receiver.received.length, 3, "each event once after the first failure");
});

describe("a webhook is disabled", () => {
  test("if its receiver responds with 410", async () => {
    fail(410);
    await createHook("gone");
    await service.create("gone");
    await until("it is disabled", async () => (await status()).state === "disabled");
    assert.equal((await status()).reason, "The receiver responded with 410 Gone.");
    assert.equal((await get<{ enabled: boolean }>("")).enabled, false);
    await service.create("gone");
    assert.equal(receiver.received.length, 1);

    receiver.respond = accept;
    const path = `${hooks}/${hook.id}`;
    await service.send({ method: "PATCH", path, content: { enabled: true } });
    await until("it continues where it stopped", () => receiver.received.length >= 2);
    assert.equal((await status()).state, "active");
  });

  test("after five days with nothing but failures", async () => {
    fail(500);
    await createHook("dead");
    await service.create("dead");
    await afterAttempts(1);
    const start = clock.now();
    clock.moveTo(start + 5 * dayMs - 1_000);
    await afterAttempts(2);
    assert.equal((await status()).state, "failing");
    clock.moveTo(start + 5 * dayMs);
    await service.create("dead");
    await until("it is disabled", async () => (await status()).state === "disabled");
    assert.match(String((await status()).reason), /five days/);
  });
});
