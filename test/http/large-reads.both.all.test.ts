/** Many large reads at once: other requests get their turns in between, and memory stays bounded. */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { connect } from "node:net";
import { describe, type TestContext, test } from "node:test";
import type { Connected } from "../../src/http/admission/gone.ts";
import { type Admission, Ticket } from "../../src/http/admission/ticket.ts";
import { createAdmission } from "./admission.ts";
import { type Service, type ServiceOptions, startService } from "./service.ts";

const clients = 60;
const page = "/api/v1/large?limit=300";

/** 300 resources of 9.5 kB: more than one page holds. */
async function start(t: TestContext, options: ServiceOptions = {}): Promise<Service> {
  const service = await startService(options);
  t.after(() => service.stop());
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
  const service = await startService({ probe: { rssBytes: 500_000_000 } });
  t.after(() => service.stop());
  const paths: string[] = [];
  for (let n = 0; n < 20; n++)
    paths.push((await service.create("large", { text: "x".repeat(900_000) })).path);
  const others = ["/livez", "/readyz"];
  isAnsweredInBetween(await crowd(service, { paths }, others), others);
});

/** The ticket of a request for which nothing was done yet, and its connection. */
function ticketOf(admission: Admission, { hasGone = false } = {}): { ticket: Ticket; socket: EventEmitter } {
  const socket = Object.assign(new EventEmitter(), { destroyed: hasGone, readableEnded: false });
  return { ticket: new Ticket(admission, { method: "GET", socket } as unknown as Connected), socket };
}

function ticketsOf(admission: Admission, count: number): Ticket[] {
  return Array.from({ length: count }, () => ticketOf(admission).ticket);
}

const megabyte = 1_000_000;

describe("a large read", () => {
  test("counts as held before it is made, and is refused before it is made if too much is held", () => {
    const admission = createAdmission({ maxHeldBytes: 2 * megabyte });
    const [first, second, third] = ticketsOf(admission, 3) as [Ticket, Ticket, Ticket];
    void first.read(() => megabyte);
    void second.read(() => megabyte);
    assert.equal(admission.held, 2 * megabyte);
    assert.throws(() => third.read(() => megabyte), { code: "UNAVAILABLE" });
    assert.ok(third.read(() => 1_000) === undefined, "a small one is always read");
    assert.equal(admission.held, 2 * megabyte);
  });

  test("gives back what it holds when it ends, so that other ones can begin", async () => {
    const admission = createAdmission({ maxHeldBytes: 2 * megabyte });
    for (let n = 0; n < 3; n++) {
      const both = ticketsOf(admission, 2);
      for (const ticket of both) await ticket.read(() => megabyte);
      assert.equal(admission.held, 2 * megabyte);
      for (const ticket of both) ticket.endRead();
      assert.equal(admission.held, 0);
    }
  });

  test("waits while others take the bytes of a turn, and holds nothing", async () => {
    const admission = createAdmission();
    const [first, ...others] = ticketsOf(admission, 4) as [Ticket, ...Ticket[]];
    for (const ticket of [first, ...others]) assert.ok(ticket.read(() => megabyte) === undefined);
    const { ticket: last } = ticketOf(admission);
    const turn = last.read(() => megabyte);
    assert.ok(turn instanceof Promise);
    assert.equal(last.heldBytes, 0);
    first.endRead();
    await turn;
    assert.equal(last.heldBytes, megabyte);
  });

  test("is refused if too many others wait", () => {
    const admission = createAdmission();
    const readAnother = () => ticketOf(admission).ticket.read(() => undefined);
    void readAnother();
    void readAnother();
    for (let n = 0; n < 500; n++) assert.ok(readAnother() instanceof Promise);
    assert.throws(readAnother, { code: "UNAVAILABLE" });
  });

  test("is not made for a client that went away while it waited", async () => {
    const admission = createAdmission();
    const [first, second] = ticketsOf(admission, 2) as [Ticket, Ticket];
    void first.read(() => undefined);
    void second.read(() => undefined);
    const turn = ticketOf(admission, { hasGone: true }).ticket.read(() => undefined);
    first.endRead();
    await assert.rejects(async () => turn, { code: "INVALID_REQUEST" });
    assert.equal(admission.held, 0);
  });

  test("leaves the queue at once if its client goes away, and the next one takes its turn", async () => {
    const admission = createAdmission();
    void ticketOf(admission).ticket.read(() => 3 * megabyte);
    const [gone, next] = [ticketOf(admission), ticketOf(admission)];
    const turn = gone.ticket.read(() => 2 * megabyte);
    const nextTurn = next.ticket.read(() => megabyte);
    gone.socket.emit("close");
    await assert.rejects(async () => turn, { code: "INVALID_REQUEST" });
    await nextTurn;
    assert.equal(next.ticket.heldBytes, megabyte);
  });

  test("that is larger than expected waits for another turn", async () => {
    const admission = createAdmission();
    const [first, second] = ticketsOf(admission, 2) as [Ticket, Ticket];
    void first.read(() => 4 * megabyte);
    assert.equal(void second.read(() => 1_000), undefined);
    const turn = second.correct(megabyte);
    assert.ok(turn instanceof Promise);
    assert.equal(second.heldBytes, megabyte);
    first.endRead();
    await turn;
  });
});

describe("a ticket", () => {
  test("gives back everything when it ends, and only once", async () => {
    const admission = createAdmission();
    const { ticket } = ticketOf(admission);
    assert.ok(ticket.enter(false));
    ticket.addContent(100_000);
    await ticket.arrive(100_000);
    await ticket.work(100_000);
    await ticket.read(() => megabyte);
    const leave = await ticket.stream("caller");
    const { counts } = admission.parts;
    const numbers = () => [counts.requests.all, counts.held.all, counts.streams.all];
    assert.deepEqual(numbers(), [0, megabyte, 1], "a stream is no request in progress");
    for (let n = 0; n < 2; n++) {
      ticket.end();
      leave();
      assert.deepEqual(numbers(), [0, 0, 0]);
    }
    for (const queue of [admission.reads, admission.arriving, admission.atWork])
      assert.equal(queue.bytesOf(ticket), 0);
  });

  test("counts a page that waits again as a request in progress after its wait", async () => {
    const admission = createAdmission({ maxRequests: 1 });
    const [first, second] = ticketsOf(admission, 2) as [Ticket, Ticket];
    assert.ok(first.enter(false));
    assert.ok(!second.enter(false));
    const leave = await first.stream("caller");
    assert.ok(second.enter(false));
    second.end();
    leave();
    assert.ok(!second.enter(false));
    assert.ok(second.enter(true), "a health check");
  });

  test("of a part of a batch is bounded by the turns only, and its memory does not count", async () => {
    const admission = createAdmission({ maxHeldBytes: megabyte });
    const { ticket } = ticketOf(admission);
    await ticket.read(() => megabyte);
    const part = ticket.part();
    await part.read(() => megabyte);
    part.hold(2 * megabyte);
    assert.equal(part.heldBytes, 2 * megabyte);
    assert.equal(admission.held, megabyte);
    part.endRead();
    assert.equal(admission.held, megabyte);
  });
});
