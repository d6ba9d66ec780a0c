/** The store has a bounded number of tickets. A network that asks for more ends its own oldest ones, never those of others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openCollection } from "../../src/collection/collection.ts";
import { Problem } from "../../src/errors.ts";
import { put } from "../../src/records.ts";
import { recordOf } from "../../src/store/port/record.ts";
import { GuessLimits } from "../../src/users/guess-limits.ts";
import { Tickets, ticketId } from "../../src/users/tickets.ts";
import { ticketsName, UserRecords } from "../../src/users/user-records.ts";
import { openSqliteFixture } from "../store/sqlite-fixture.ts";

test("above the bound, a network loses its oldest tickets, and one without tickets has to wait", async (t) => {
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
    publicUrl: () => "https://shop.example",
    now: () => now,
    most: 30,
  });
  const take = async (network: string) => {
    now++;
    await tickets.count({ network });
    const to = { address: `a${now}@example.org`, key: `a${now}@example.org`, domain: "example.org" };
    return tickets.give({ kind: "signIn", to, template: "signIn", visitor: { network } });
  };
  const [oldest, other] = [await take("a"), await take("b")];
  for (let n = 0; n < 14; n++) for (const network of ["a", "b"]) await take(network);
  assert.equal(await store.count(ticketsName), 30);
  await take("a");
  assert.equal(await records.ticket(ticketId(oldest.ticket)), undefined);
  assert.notEqual(await records.ticket(ticketId(other.ticket)), undefined);
  while ((await store.count(ticketsName)) < 30) await take("d");
  await assert.rejects(
    tickets.count({ network: "e" }),
    (error) => error instanceof Problem && error.code === "UNAVAILABLE",
  );
});
