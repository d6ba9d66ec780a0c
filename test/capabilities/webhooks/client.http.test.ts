/** The webhooks of a service, by the typed client. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ConflictError, createClient, NotFoundError, ProblemError } from "../../../client/src/index.ts";
import { config } from "../../client/config.ts";
import { startServiceForFile } from "../../http/service.ts";
import { until } from "../../until.ts";
import { accept, startReceiver } from "./http/receiver.ts";

const service = await startServiceForFile({ collections: config.collections });
const receiver = await startReceiver();
after(() => receiver.close());
const client = createClient<typeof config>({ baseUrl: `${service.origin}/api/v1` });

test("a webhook is created, read, changed and deleted", async () => {
  const { $webhooks } = client;
  const { secret, ...created } = await $webhooks.create({ url: receiver.url, collections: ["articles"] });
  assert.match(secret ?? "", /^whsec_/);
  assert.deepEqual(created.types, ["created", "updated", "deleted"]);
  const read = await $webhooks.get(created.id);
  assert.deepEqual(read, created);
  const changed = await $webhooks.patch(read, {
    description: "To the search index",
    headers: { "X-Key": "1" },
  });
  assert.equal(changed.description, "To the search index");
  await assert.rejects($webhooks.replace({ ...read, enabled: false }), ConflictError);
  assert.deepEqual(
    (await $webhooks.list({ filter: { enabled: true } }).all()).map(({ id }) => id),
    [created.id],
  );
  await $webhooks.delete(changed);
  await assert.rejects($webhooks.status(created.id), NotFoundError);
});

test("deliveries are seen, tested and retried", async () => {
  const { $webhooks, articles } = client;
  receiver.respond = (_, response) => void response.writeHead(500).end("broken");
  const { id } = await $webhooks.create({ url: receiver.url, collections: ["articles"] });
  await articles.create({ title: "One" });
  await until("it has failed", async () => (await $webhooks.status(id)).state === "failing");
  const [failed] = await $webhooks.deliveries(id, { limit: 1 });
  assert.deepEqual([failed?.state, failed?.status, failed?.response], ["retrying", 500, "broken"]);
  assert.equal((await $webhooks.test(id)).delivered, false);
  receiver.respond = accept;
  const retried = await $webhooks.retry(id, failed?.event ?? "");
  assert.deepEqual([retried.state, retried.attempts], ["delivered", 2]);
  const tested = await $webhooks.test(id);
  assert.deepEqual([tested.delivered, tested.status], [true, 204]);
  await assert.rejects($webhooks.retry(id, "none"), NotFoundError);
  await $webhooks.delete(id);
});

test("a rotation returns the new secret, unless the webhook has changed", async () => {
  const { $webhooks } = client;
  const { id } = await $webhooks.create({ url: receiver.url, collections: ["articles"] });
  const read = await $webhooks.get(id);
  const secret = await $webhooks.rotate(read);
  assert.match(secret, /^whsec_/);
  await assert.rejects($webhooks.rotate(read), ProblemError);
  receiver.secret = await $webhooks.rotate(id);
  assert.equal((await $webhooks.test(id)).delivered, true);
  receiver.secret = undefined;
  await $webhooks.delete(id);
});

test("a create that is sent twice makes one webhook, whose secret only the first response has", async () => {
  const { $webhooks } = client;
  const input = { url: receiver.url, collections: ["articles"], enabled: false };
  const first = await $webhooks.create(input, { idempotencyKey: "once" });
  const second = await $webhooks.create(input, { idempotencyKey: "once" });
  assert.deepEqual([second.id, second.secret], [first.id, undefined]);
  await $webhooks.delete(first.id);
});
