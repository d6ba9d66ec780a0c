/** Compression under load: the memory that it takes, and clients that read slowly or go away. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { get as httpGet, type IncomingMessage } from "node:http";
import { type TestContext, test } from "node:test";
import { Compressions, compressed } from "../../src/http/wire/compression.ts";
import { until } from "../until.ts";
import { createAdmission } from "./admission.ts";
import { decoded } from "./decoded.ts";
import { type Service, type ServiceOptions, startFor } from "./service.ts";
import { openUnread } from "./unread.ts";

const path = "/api/v1/large";
const csv = { Accept: "text/csv" };

/** Ways to ask for a page of about 2 MiB that hardly becomes smaller. */
const ways: Record<string, string>[] = [
  { "Accept-Encoding": "gzip" },
  { "Accept-Encoding": "br" },
  { ...csv, "Accept-Encoding": "gzip" },
  { ...csv, "Accept-Encoding": "br" },
];

async function start(t: TestContext, options: ServiceOptions): Promise<Service> {
  const service = await startFor(t, options);
  for (let n = 0; n < 4; n++)
    await service.create("large", { text: randomBytes(380_000).toString("base64") });
  return service;
}

/** The statuses of this many simultaneous requests. Each 200 must have the content of the response without a coding. */
async function statusesOf(service: Service, count: number, plain: Record<string, string>): Promise<number[]> {
  const asked = Array.from({ length: count }, (_, n) => ways[n % ways.length] ?? {});
  const answers = await Promise.all(
    asked.map(async (headers) => {
      const { status, text } = await service.send({ path, headers }, { mayFail: true });
      if (status === 200) assert.ok(text === plain[headers.Accept ?? "json"], "the same content");
      return status;
    }),
  );
  return answers;
}

async function plainTexts(service: Service): Promise<Record<string, string>> {
  const json = await service.send({ path });
  const table = await service.send({ path, headers: csv });
  return { json: json.text, "text/csv": table.text };
}

test("texts that are compressed, or wait for that, count as held until then", async () => {
  const admission = createAdmission({ maxHeldBytes: 1 });
  const compressions = new Compressions(admission);
  const body = randomBytes(50_000).toString("base64");
  const plain = { status: 200, headers: {}, body };
  const all = Array.from({ length: 20 }, (_, n) =>
    compressed(compressions, plain, n % 2 === 0 ? "br" : "gzip"),
  );
  assert.equal(admission.held, 20 * body.length);
  for (const { body: bytes, headers } of await Promise.all(all))
    assert.ok(decoded(bytes as Buffer, headers["content-encoding"]) === body, "the same content");
  assert.equal(admission.held, 0);
});

test("with no memory left, large answers are refused while one is compressed and sent, and given again after that", async (t) => {
  // As soon as one byte is held, other large answers are refused.
  const service = await start(t, { wireBounds: { maxHeldBytes: 1 } });
  const plain = await plainTexts(service);
  await until("some are refused and others answered", async () => {
    const statuses = await statusesOf(service, 16, plain);
    return statuses.includes(503) && statuses.includes(200);
  });
  for (const headers of ways)
    await until("nothing is held any more", async () => {
      return (await service.send({ path, headers }, { mayFail: true })).status === 200;
    });
});

test("clients that go away leave nothing behind", async (t) => {
  const service = await start(t, { wireBounds: { maxHeldBytes: 1 } });
  for (const headers of ways) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join("")}\r\n`;
    const sockets = await Promise.all(Array.from({ length: 10 }, () => openUnread(service.port, request)));
    for (const socket of sockets) socket.destroy();
    await until("nothing is held any more", async () => {
      return (await service.send({ path, headers }, { mayFail: true })).status === 200;
    });
  }
});

test("fifty clients that read slowly take bounded memory, and all of their answers are whole", async (t) => {
  const service = await start(t, {
    probe: { rssBytes: 500_000_000 },
    wireBounds: { maxHeldBytes: 268_435_456 },
  });
  const plain = await plainTexts(service);
  const asked = Array.from({ length: 50 }, (_, n) => ways[n % ways.length] ?? {});
  const incoming = await Promise.all(asked.map((headers) => begin(service, headers)));
  for (const [n, answer] of incoming.entries()) {
    assert.equal(answer.statusCode, 200);
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    const text = decoded(Buffer.concat(chunks), answer.headers["content-encoding"]);
    assert.ok(text === plain[asked[n]?.Accept ?? "json"], "the same content");
  }
});

/** An answer whose content is not read yet. */
function begin(service: Service, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: service.port, path, headers, agent: false };
    httpGet(options, (incoming) => resolve(incoming.pause())).on("error", reject);
  });
}
