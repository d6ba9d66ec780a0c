/** The secrets of webhooks are encrypted in the store of a service that has a secret of its own. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { test } from "node:test";
import { StartError } from "../../../../src/errors.ts";
import { newSecret } from "../../../../src/secrets.ts";
import { openReader, type StoreAddress } from "../../../../src/store/open.ts";
import { makeFolder } from "../../../folder.ts";
import { type Service, type ServiceOptions, startService } from "../../../http/service.ts";
import { databaseFor, openDatabase } from "../../../postgres/databases.ts";
import { until } from "../../../until.ts";
import { startReceiver } from "./receiver.ts";

const hooks = "/api/v1/_webhooks";
const newHookSecret = () => `whsec_${randomBytes(32).toString("base64")}`;

const folder = makeFolder();

async function storeFor(kind: string): Promise<{ address: StoreAddress; release(): void }> {
  if (kind === "SQLite")
    return { address: { kind: "sqlite", path: join(folder, `${crypto.randomUUID()}.db`) }, release() {} };
  const { url, releaseLater } = await openDatabase();
  return { address: { kind: "postgres", url }, release: releaseLater };
}

/** Everything that the store keeps of webhooks. */
async function storedIn(address: StoreAddress): Promise<string> {
  const store = await openReader(address);
  let stored = "";
  for (const name of ["_webhooks", "_consumers"])
    for await (const { text } of store.scan(name)) stored += text;
  await store.close();
  return stored;
}

const ask = (service: Service, method: string, path: string, content?: object) =>
  service.send({ method, path: `${hooks}${path}`, ...(content !== undefined && { content }) });

async function rotate(service: Service, id: string): Promise<string> {
  const answer = await ask(service, "POST", `/${id}/_rotate`);
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { secret: string }).secret;
}

for (const kind of ["SQLite", "PostgreSQL"]) {
  test(`on ${kind}, readable secrets are encrypted at the next start, and go on signing`, async (t) => {
    const { address, release } = await storeFor(kind);
    t.after(release);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const during = async (options: Partial<ServiceOptions>, work: (service: Service) => Promise<void>) => {
      const service = await startService({ store: address, ...options });
      try {
        await work(service);
      } finally {
        await service.stop();
      }
    };
    /** A delivery that the receiver verifies with this secret. */
    const delivers = async (service: Service, secret: string) => {
      receiver.secret = secret;
      const before = receiver.received.length;
      await service.create("topics");
      await until("a delivery", () => receiver.received.length > before);
    };
    const first = newHookSecret();
    let id = "";
    let [second, third] = ["", ""];
    await during({ secrets: [] }, async (service) => {
      const hook = { url: receiver.url, collections: ["topics"], secret: first };
      id = ((await ask(service, "POST", "", hook)).json as { id: string }).id;
      second = await rotate(service, id);
      await delivers(service, first);
      await delivers(service, second);
    });
    const readable = await storedIn(address);
    assert.ok(readable.includes(first) && readable.includes(second));

    const own = newSecret();
    await during({ secrets: [own] }, async (service) => {
      await delivers(service, first);
      await delivers(service, second);
    });
    const encrypted = await storedIn(address);
    for (const each of ["whsec_", first, second]) assert.ok(!encrypted.includes(each), encrypted);
    await during({ secrets: [own] }, async (service) => {
      third = await rotate(service, id);
      await delivers(service, second);
      await delivers(service, third);
      const type = { "content-type": "application/merge-patch+json" };
      const patch = (content: object) =>
        service.send({ method: "PATCH", path: `${hooks}/${id}`, headers: type, content });
      assert.equal((await patch({ description: "Renamed" })).status, 200);
      await delivers(service, third);
      const fourth = newHookSecret();
      assert.equal((await patch({ secret: fourth })).status, 200);
      await delivers(service, fourth);
      assert.equal((await patch({ secret: encrypted })).status, 400);
      const put = { url: receiver.url, collections: ["topics"] };
      const replaced = await ask(service, "PUT", `/${id}`, { id, ...put });
      assert.equal(replaced.status, 200, replaced.text);
      await delivers(service, fourth);
      const made = await ask(service, "POST", "", { ...put, enabled: false });
      assert.match((made.json as { secret: string }).secret, /^whsec_/);
    });
    assert.ok(!(await storedIn(address)).includes("whsec_"));

    const wrong = (text: RegExp) => (error: unknown) =>
      error instanceof StartError && text.test(error.message) && !error.message.includes(own);
    for (const [secrets, text] of [
      [[newSecret()], /^HOLDFAST_SECRET is wrong/],
      [[], /^HOLDFAST_SECRET is missing: this store was used with one/],
    ] as const)
      await assert.rejects(startService({ store: address, secrets }), wrong(text));

    const newer = newSecret();
    await during({ secrets: [newer, own] }, async () => {});
    await during({ secrets: [newer] }, async (service) => {
      third = await rotate(service, id);
      await delivers(service, third);
    });
  });

  test(`on ${kind}, a service without webhooks starts without the secret that it had`, async (t) => {
    const { address, release } = await storeFor(kind);
    t.after(release);
    await (await startService({ store: address, secrets: [newSecret()] })).stop();
    await (await startService({ store: address, secrets: [] })).stop();
  });
}

test("a service does not start with the secret of a webhook that none of its secrets opens, and says which one", async (t) => {
  const url = await databaseFor(t);
  const store = { kind: "postgres", url } as const;
  const [own, newer] = [newSecret(), newSecret()];
  const first = await startService({ store, secrets: [own] });
  await (await startService({ store, secrets: [newer, own] })).stop();
  const hook = { url: "http://127.0.0.1:1/", collections: ["topics"] };
  const { id } = (await ask(first, "POST", "", hook)).json as { id: string };
  await first.stop();
  await assert.rejects(startService({ store, secrets: [newer] }), (error: unknown) => {
    assert.ok(error instanceof StartError, String(error));
    assert.match(error.message, /^HOLDFAST_SECRET has no secret that opens the secret of the webhook /);
    assert.ok(error.message.includes(id) && error.message.includes("<new>,<old>"), error.message);
    assert.match(error.message, /If it is lost, run "holdfast secret replace-lost" with a new one\.$/);
    return !error.message.includes(newer);
  });
  await (await startService({ store, secrets: [newer, own] })).stop();
  await (await startService({ store, secrets: [newer] })).stop();
});
