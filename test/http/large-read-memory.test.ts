import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { describe, test } from "node:test";
import type { Connected } from "../../src/http/admission/gone.ts";
import { type Admission, Ticket } from "../../src/http/admission/ticket.ts";
import { createAdmission } from "./admission.ts";

/** The ticket of a request for which nothing was done yet, and its connection. */
function ticketOf(
  admission: Admission,
  { hasGone = false, caller = "" } = {},
): { ticket: Ticket; socket: EventEmitter } {
  const socket = Object.assign(new EventEmitter(), { destroyed: hasGone, readableEnded: false });
  const ticket = new Ticket(admission, { method: "GET", socket } as unknown as Connected);
  ticket.identify(() => caller);
  return { ticket, socket };
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

  test("of another caller waits for at most one more read, however many one caller has, and is not refused for them", async () => {
    const admission = createAdmission();
    const under = ticketOf(admission).ticket;
    void under.read(() => 4 * megabyte);
    const order: string[] = [];
    const readAs = (caller: string) => {
      const { ticket } = ticketOf(admission, { caller });
      return Promise.resolve(ticket.read(() => 4 * megabyte)).then(
        () => {
          order.push(caller);
          ticket.endRead();
        },
        ({ code }: { code: string }) => order.push(`${caller} ${code}`),
      );
    };
    const all = Array.from({ length: 500 }, () => readAs("busy"));
    all.push(readAs("other"));
    under.endRead();
    await Promise.all(all);
    assert.deepEqual(order.slice(0, 3), ["busy UNAVAILABLE", "busy", "other"]);
    assert.equal(order.length, 501);
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
