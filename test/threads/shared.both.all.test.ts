/** What all threads of one service share: the log, the metrics, the certificate, keys and deliveries. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { copyFile } from "node:fs/promises";
import { test } from "node:test";
import { connect } from "node:tls";
import { planFirstKey } from "../../src/access/first-key.ts";
import { loadConfig } from "../../src/config.ts";
import { newSecret } from "../../src/secrets.ts";
import { startServer } from "../../src/server.ts";
import { startReceiver } from "../capabilities/webhooks/http/receiver.ts";
import { run, stop } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { makeCertificate } from "../http/certificates.ts";
import { isOnPostgres } from "../http/test-store.ts";
import { readExposition } from "../metrics/exposition.ts";
import { databaseFor } from "../postgres/databases.ts";
import { until } from "../until.ts";
import { type Client, clientOf, messagesIn, type Served, serveThreads } from "./served.ts";

const statusesOf = async (clients: readonly Client[], path: string, headers = {}): Promise<Set<number>> => {
  const answers = await Promise.all(clients.map((client) => client.send("GET", path, { headers })));
  return new Set(answers.map(({ status }) => status));
};

test("all threads write to one log, whose lines are whole and complete", async (t) => {
  const service = await serveThreads(t, 4, { args: ["--log", "requests"] });
  const path = `things/${"x".repeat(5_000)}`; // longer than what a pipe writes in one piece
  const clients = service.clients(32);
  const times = 5; // fewer bytes than the service keeps if this test does not read: it would drop further lines
  await Promise.all(
    clients.map(async (client) => {
      for (let n = 0; n < times; n++) assert.equal((await client.send("GET", path)).status, 404);
    }),
  );
  const { exitCode, stderr } = await stop(service);
  assert.equal(exitCode, 0);
  const lines = messagesIn(stderr) as unknown as { path: string; requestId: string }[];
  assert.equal(lines.length, clients.length * times);
  assert.equal(new Set(lines.map(({ requestId }) => requestId)).size, lines.length);
  assert.ok(lines.every((line) => line.path === `/api/v1/${path}`));
  const threads = new Set(lines.map(({ requestId }) => requestId.slice(0, 23))); // each thread has its own start of ids
  assert.equal(threads.size, 4);
});

const guarded = {
  auth: { keys: true, administrators: { role: "ops" } },
  collections: { things: { access: { read: { role: "reader" }, write: { role: "reader" } } } },
};

async function createKey(t: Parameters<typeof run>[0], { cwd }: Served, role: string): Promise<string> {
  const { stdout, stderr } = await run(t, ["keys", "create", "--name", role, "--role", role], { cwd });
  const [key] = /hf_\w+/.exec(stdout) ?? [];
  assert.ok(key !== undefined, stderr);
  return key;
}

test("a rotated key works in every thread, and the old one in none", async (t) => {
  const service = await serveThreads(t, 4, { configuration: guarded });
  const administrator = { authorization: `Bearer ${await createKey(t, service, "ops")}` };
  const old = await createKey(t, service, "reader");
  const clients = service.clients(48);
  const read = (key: string) => statusesOf(clients, "things", { authorization: `Bearer ${key}` });
  assert.deepEqual(await read(old), new Set([200]));
  const [one] = service.clients(1);
  const rotated = await one?.send("POST", `_keys/${old.slice(0, 11)}/_rotate`, {
    content: { overlapSeconds: 0 },
    headers: administrator,
  });
  assert.ok(rotated !== undefined);
  assert.equal(rotated.status, 201, rotated.text);
  const { key } = JSON.parse(rotated.text) as { key: string };
  assert.deepEqual(await read(key), new Set([200])); // no thread has read the new key before
  await until("every thread refuses the old key", async () => {
    const statuses = await read(old);
    return statuses.size === 1 && statuses.has(401);
  });
  await stop(service);
});

test("administrators get the metrics of all threads from each of them", async (t) => {
  const service = await serveThreads(t, 4, { configuration: { ...guarded, metrics: "administrators" } });
  const headers = { authorization: `Bearer ${await createKey(t, service, "ops")}` };
  const clients = service.clients(48);
  assert.deepEqual(await statusesOf(clients, "things"), new Set([401]));
  const countRefused = async (client: Client) => {
    const { status, text } = await client.send("GET", "/metrics", { headers });
    assert.equal(status, 200);
    const found = readExposition(text);
    assert.equal(found.all("holdfast_thread_requests_total").length, 4);
    assert.equal(found.all("process_resident_memory_bytes").length, 1);
    assert.equal(found.value("holdfast_store_state", { state: "ok" }), 1);
    assert.equal(found.value("holdfast_metrics_source_up", { source: "webhooks" }), 1);
    if (isOnPostgres) assert.equal(found.value("holdfast_store_connections_max", { pool: "main" }), 40);
    return found
      .all("holdfast_http_request_duration_seconds_count")
      .filter(({ labels }) => labels.status === "401")
      .reduce((sum, { value }) => sum + value, 0);
  };
  await until("each thread has the counts of all", async () =>
    (await Promise.all(clients.map(countRefused))).every((count) => count === clients.length),
  );
  assert.deepEqual(await statusesOf(clients, "/metrics"), new Set([404]));
  await stop(service);
});

test("administrators read the mails that a local service keeps from each thread", async (t) => {
  const { auth, collections } = guarded;
  const configuration = {
    auth: { ...auth, users: { collection: "people", signUp: "open" } },
    collections: { ...collections, people: { access: { read: "authenticated" } } },
  };
  const env = { HOLDFAST_SECRET: newSecret() };
  const service = await serveThreads(t, 4, { configuration, env });
  const headers = { authorization: `Bearer ${await createKey(t, service, "ops")}` };
  const [one, ...clients] = service.clients(48);
  const content = { email: "ada@example.org", password: "correct horse battery staple" };
  const asked = await one?.send("POST", "_auth/sign-up", { content });
  assert.equal(asked?.status, 202);
  await until("every thread shows the mail", async () => {
    const answers = await Promise.all(clients.map((client) => client.send("GET", "_mails", { headers })));
    return answers.every(({ text }) => text.includes("ada@example.org"));
  });
  await stop(service);
});

test("threads that create collections at the same time keep to the limit together", async (t) => {
  const service = await serveThreads(t, 4, { configuration: { limits: { collections: 10 } } });
  const answers = await Promise.all(
    service.clients(48).map((client, n) => client.send("POST", `crowd${n}`, { content: { n } })),
  );
  const created = answers.filter(({ status }) => status === 201);
  assert.equal(created.length, 10);
  for (const { status, text } of answers)
    if (status !== 201) assert.equal((JSON.parse(text) as { code: string }).code, "TOO_MANY_COLLECTIONS");
  await stop(service);
});

test("SIGHUP replaces the certificate in every thread", async (t) => {
  const [first, second] = await Promise.all([makeCertificate(), makeCertificate()]);
  const configuration = { tls: first.files };
  const service = await serveThreads(t, 4, { configuration });
  const shown = () =>
    new Promise<string>((resolve, reject) => {
      const port = Number(new URL(service.origin).port);
      const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
      socket.once("error", reject);
      socket.once("secureConnect", () => {
        resolve(socket.getPeerCertificate().fingerprint256);
        socket.destroy();
      });
    });
  const allShown = async () => new Set(await Promise.all(Array.from({ length: 48 }, shown)));
  assert.deepEqual(await allShown(), new Set([new X509Certificate(first.pem).fingerprint256]));
  await copyFile(second.files.cert, first.files.cert);
  await copyFile(second.files.key, first.files.key);
  service.process.kill("SIGHUP");
  const { fingerprint256 } = new X509Certificate(second.pem);
  await until("every thread shows the new certificate", async () => {
    const all = await allShown();
    return all.size === 1 && all.has(fingerprint256);
  });
  const { exitCode, stderr } = await stop(service);
  assert.equal(exitCode, 0);
  assert.equal(stderr.match(/the certificate was reloaded/g)?.length, 1);
});

test("each event is delivered once, whichever thread made the change or the webhook", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const service = await serveThreads(t, 4, { configuration: { webhooks: { allow: ["127.0.0.0/8"] } } });
  const clients = service.clients(32);
  const [one, ...others] = clients;
  const hook = { url: receiver.url, collections: ["things"] };
  assert.equal((await one?.send("POST", "_webhooks", { content: hook }))?.status, 201);
  await Promise.all(others.map((client, n) => client.send("POST", "things", { content: { n } })));
  await until("all are delivered", () => receiver.received.length >= others.length);
  await stop(service);
  assert.deepEqual(
    receiver.received.map(({ event }) => Number(event.data.n)).sort((a, b) => a - b),
    others.map((_, n) => n),
  );
});

test("the token for the first key works in every thread, and once in all of them", async (t) => {
  const url = await databaseFor(t);
  const cwd = makeFolder({ "holdfast.config.json": JSON.stringify({ ...guarded, store: url }) });
  const config = await loadConfig({ flags: { port: "0", threads: "3" }, env: {}, cwd });
  const server = await startServer({ ...config, drainDelayMs: 0 });
  assert.equal(server.threads, 3);
  assert.equal(await server.needsFirstKey(), true);
  const content = { token: server.offerFirstKey(planFirstKey([{ role: "ops" }], ["reader"])) };
  const clients = Array.from({ length: 32 }, () => clientOf(t, server.origin));
  const path = "/_console/first-key";
  const wrong = clients.map((client) => client.send("POST", path, { content: { token: "wrong" } }));
  for (const { status } of await Promise.all(wrong)) assert.equal(status, 401); // each thread knows the offer
  const spent = await Promise.all(clients.map((client) => client.send("POST", path, { content })));
  assert.equal(spent.filter(({ status }) => status === 201).length, 1);
  assert.ok(spent.every(({ status }) => [201, 401, 404].includes(status)));
  for (const client of clients) assert.equal((await client.send("POST", path, { content })).status, 404);
  assert.equal(await server.needsFirstKey(), false);
  await server.stop();
});
