/** Subscribers on all threads get each change once and in order, while all threads write. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { followToEnd } from "../changes/follower.ts";
import { stop } from "../commands/cli.ts";
import type { CloudEvent } from "../http/follow.ts";
import { randomOf, seed } from "../seed.ts";
import { threadsToTry } from "./count.ts";
import { type Client, requestsByThread, serveThreads } from "./served.ts";

/** A short form. `npm run prove -- threads` writes more. */
const changesOfWriter = Math.ceil(Number(process.env.HOLDFAST_TEST_RUNS ?? 40) / 4);
const writers = 8;
const subscribers = 16;
console.log(`HOLDFAST_TEST_SEED=${seed}, ${writers} writers with ${changesOfWriter} resources each`);

/** Creates resources and changes each of them through another connection. Returns the versions that were confirmed, by id. */
async function write(clients: readonly Client[], writer: number): Promise<Map<string, number>> {
  const confirmed = new Map<string, number>();
  let turn = writer;
  const next = () => clients[turn++ % clients.length] as Client;
  for (let n = 0; n < changesOfWriter; n++) {
    const created = await next().send("POST", "things", { content: { writer, n } });
    assert.equal(created.status, 201, created.text);
    const { id } = JSON.parse(created.text) as { id: string };
    const content = { id, writer, n, changed: true };
    const changed = await next().send("PUT", `things/${id}`, { content });
    assert.equal(changed.status, 200, changed.text);
    confirmed.set(id, 2);
    if (n % 4 !== 0) continue;
    assert.equal((await next().send("DELETE", `things/${id}`)).status, 205);
    confirmed.set(id, 3);
  }
  return confirmed;
}

/** The events are exactly the confirmed changes, and those of each resource are in the order of its versions. */
function requireAll(events: readonly CloudEvent[], confirmed: ReadonlyMap<string, number>): void {
  const seen = new Map<string, number>();
  for (const { subject = "", version } of events) {
    assert.equal(Number(version), (seen.get(subject) ?? 0) + 1, `the versions of ${subject}`);
    seen.set(subject, Number(version));
  }
  assert.deepEqual(new Map([...seen].toSorted()), new Map([...confirmed].toSorted()));
}

for (const threads of threadsToTry(2, 4)) {
  test(`${subscribers} subscribers of ${threads} threads miss nothing while all threads write, and reconnect to any thread`, async (t) => {
    const service = await serveThreads(t, threads);
    const clients = service.clients(writers * 2);
    const [one] = clients as [Client];
    const first = await one.send("POST", "things", { content: { first: true } });
    const { id: firstId } = JSON.parse(first.text) as { id: string };
    let expected = Number.POSITIVE_INFINITY;
    const isOver = (events: ReadonlyMap<string, CloudEvent>) => events.size >= expected;
    const followers = Array.from({ length: subscribers }, (_, n) => {
      const random = randomOf(seed + n);
      return followToEnd({
        origins: [service.origin],
        headers: { connection: "close" }, // each connection belongs to some thread
        path: "/api/v1/things/_events",
        since: "start",
        form: n % 3 === 0 ? "pages" : "stream",
        limit: 5 + n,
        eventsPerConnection: changesOfWriter * 4,
        choose: (below) => Math.floor(random() * below),
        isOver,
      });
    });
    const written = await Promise.all(Array.from({ length: writers }, (_, n) => write(clients, n)));
    const confirmed = new Map(written.flatMap((each) => [...each])).set(firstId, 1);
    const changes = [...confirmed.values()].reduce((sum, versions) => sum + versions, 0);
    // The last event comes after the number is known, so that nobody waits for an event that was already there.
    expected = changes + 1;
    const last = await one.send("PATCH", `things/${firstId}`, {
      content: { first: false },
      headers: { "content-type": "application/merge-patch+json" },
    });
    assert.equal(last.status, 200, last.text);
    confirmed.set(firstId, 2);
    const all = await Promise.all(followers);
    for (const events of all) requireAll(events, confirmed);
    const order = (all[0] ?? []).map(({ id }) => id);
    for (const events of all)
      assert.deepEqual(
        events.map(({ id }) => id),
        order,
        "every subscriber has the same order",
      );
    const used = [...(await requestsByThread(service)).values()].filter((count) => count > 0);
    assert.equal(used.length, threads);
    t.diagnostic(`${expected} changes, ${subscribers} subscribers`);
    assert.equal((await stop(service)).exitCode, 0);
  });
}
