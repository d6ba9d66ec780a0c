/** The store has a bounded number of tickets. A network that asks for more ends its own oldest ones, never those of others. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { GuessLimits } from "../../../src/capabilities/users/guess-limits.ts";
import { Tickets, ticketId } from "../../../src/capabilities/users/tickets.ts";
import { ticketsName, UserRecords } from "../../../src/capabilities/users/user-records.ts";
import { openCollection } from "../../../src/collection/collection.ts";
import { Problem } from "../../../src/errors.ts";
import { put } from "../../../src/records.ts";
import { recordOf } from "../../../src/store/port/record.ts";
import { openSqliteFixture } from "../../store/sqlite-fixture.ts";

/** The tickets of a new store, whose clock moves with each ticket. */
async function open(t: TestContext, more: Partial<ConstructorParameters<typeof Tickets>[0]> = {}) {
  const { store, cleanup } = await openSqliteFixture();
  t.after(cleanup);
  await store.migrate([recordOf(openCollection("users"))]);
  const records = new UserRecords(store, "users");
  let now = 1_000;
  const vault = { seal: () => "", open: () => "", mac: (_purpose: string, text: string) => text };
  const tickets = new Tickets({
    records,
    vault,
    audit: { count: async () => {} },
    limits: new GuessLimits({ store, mac: (text) => text }),
    mailChange: async () => put("_mail", `m${now}`, undefined, {}),
    onMail: () => {},
    mailsPerHour: 1_000,
    pagesUrl: () => "https://shop.example",
    now: () => now,
    ...more,
  });
  const take = async (network: string, { isOwner = false } = {}) => {
    now++;
    await tickets.count({ network });
    const to = { address: `a${now}@example.org`, key: `a${now}@example.org`, domain: "example.org" };
    return tickets.give({ kind: "signIn", to, template: "signIn", visitor: { network }, isOwner });
  };
  return { store, records, tickets, take };
}

const isUnavailable = (error: unknown) => error instanceof Problem && error.code === "UNAVAILABLE";

test("the owner of an address gets a mail when strangers have used up those of the service", async (t) => {
  const { take } = await open(t, { mailsPerHour: 3 });
  for (let n = 0; n < 3; n++) await take("a");
  await assert.rejects(take("b"), isUnavailable);
  await take("b", { isOwner: true });
  await assert.rejects(take("b"), isUnavailable);
});

test("above the bound, a network loses its oldest tickets, and one without tickets has to wait", async (t) => {
  const { store, records, tickets, take } = await open(t, { most: 30 });
  const [oldest, other] = [await take("a"), await take("b")];
  for (let n = 0; n < 14; n++) for (const network of ["a", "b"]) await take(network);
  assert.equal(await store.count(ticketsName), 30);
  await take("a");
  assert.equal(await records.ticket(ticketId(oldest.ticket)), undefined);
  assert.notEqual(await records.ticket(ticketId(other.ticket)), undefined);
  while ((await store.count(ticketsName)) < 30) await take("d");
  await assert.rejects(tickets.count({ network: "e" }), isUnavailable);
});
