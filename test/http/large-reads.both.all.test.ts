/** Many large reads at once: other requests get their turns in between, and memory stays bounded. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { type Service, type ServiceOptions, startFor } from "./service.ts";

const clients = 60;
const page = "/api/v1/large?limit=300";

/** 300 resources of 9.5 kB: more than one page holds. */
async function start(t: TestContext, options: ServiceOptions = {}): Promise<Service> {
  const service = await startFor(t, options);
  for (let n = 0; n < 3; n++) {
    const operations = Array.from({ length: 100 }, () => ({
      method: "POST",
      path: "/large",
      body: { text: "x".repeat(9_400) },
    }));
    const { status } = await service.send({
      method: "POST",
      path: "/api/v1/_batch",
      content: { operations },
    });
    assert.equal(status, 200);
  }
  return service;
}

interface Got {
  status: number;
  bytes: number;
}

/** A connection that reads as fast as it can, and keeps nothing. */
async function open(port: number): Promise<{ send: (request: string) => void; got: Promise<Got> }> {
  const socket = connect(port, "127.0.0.1");
  let bytes = 0;
  let begin = "";
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (begin.length < 20) begin += chunk.toString("latin1", 0, 20);
  });
  const got = once(socket, "close").then(() => ({ status: Number(begin.slice(9, 12)), bytes }));
  await once(socket, "connect");
  return { send: (request) => socket.write(request), got };
}

interface Crowd {
  answers: readonly Got[];
  /** Requests of each kind that were answered while large reads were not. */
  meanwhile: Readonly<Record<string, number>>;
}

/** Sends this many large reads at once. During this time, one client for each of `others` repeats its request. */
async function crowd(
  service: Service,
  { paths, headers = "" }: { paths: readonly string[]; headers?: string },
  others: readonly string[],
): Promise<Crowd> {
  let isOver = false;
  const meanwhile: Record<string, number> = {};
  const ask = async (path: string) => {
    while (!isOver) {
      assert.equal((await service.send({ path }, { mayFail: true })).status, 200, path);
      meanwhile[path] = (meanwhile[path] ?? 0) + 1;
    }
  };
  // All are connected before the first one asks, so that the service receives all requests at once.
  const all = await Promise.all(Array.from({ length: clients }, () => open(service.port)));
  const asking = others.map(ask);
  for (const [n, { send }] of all.entries())
    send(`GET ${paths[n % paths.length]} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`);
  const answers = await Promise.all(all.map(({ got }) => got));
  isOver = true;
  await Promise.all(asking);
  return { answers, meanwhile };
}

function count(answers: readonly Got[], status: number): number {
  return answers.filter((answer) => answer.status === status).length;
}

function isAnsweredInBetween({ answers, meanwhile }: Crowd, others: readonly string[]): void {
  const whole = count(answers, 200);
  assert.equal(whole + count(answers, 503), clients, "each is answered in full, or refused");
  assert.ok(whole >= 20, `${whole} are answered`);
  for (const other of others)
    assert.ok(
      (meanwhile[other] ?? 0) >= whole / 4,
      `${other}: ${meanwhile[other]} beside ${whole} large reads`,
    );
}

for (const [what, headers] of [
  ["large pages", ""],
  ["large pages as CSV", "Accept: text/csv\r\n"],
  ["large pages, compressed", "Accept-Encoding: gzip\r\n"],
] as const) {
  test(`${what} take turns: health and small reads are answered in between`, async (t) => {
    const service = await start(t, { probe: { rssBytes: 500_000_000 } });
    const small = await service.create("topics", { n: 1 });
    const others = ["/livez", "/readyz", small.path];
    isAnsweredInBetween(await crowd(service, { paths: [page], headers }, others), others);
  });
}

test("large resources take turns too", async (t) => {
  const service = await startFor(t, { probe: { rssBytes: 500_000_000 } });
  const paths: string[] = [];
  for (let n = 0; n < 20; n++)
    paths.push((await service.create("large", { text: "x".repeat(900_000) })).path);
  const others = ["/livez", "/readyz"];
  isAnsweredInBetween(await crowd(service, { paths }, others), others);
});
