/** Several instances on one database: a subscriber of one instance gets what another instance commits. */
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Heads, pollMs } from "../../src/store/postgres/read/reads.ts";
import { type CloudEvent, eventsOf, follow, linkOf } from "../http/follow.ts";
import { until } from "../until.ts";
import { databaseFor, query } from "./databases.ts";
import { startBouncer, whyNoBouncer } from "./pgbouncer.ts";
import { followAcross, report, startTwo } from "./two-instances.ts";

/** The documentation promises 300 ms. A poll itself takes some of them. */
const documentedMs = 300;

test("the heads are polled when a listener comes, and then after each pause of 200 ms", async () => {
  assert.ok(pollMs <= 200 && pollMs < documentedMs);
  mock.timers.enable({ apis: ["setTimeout"] });
  let polls = 0;
  const run = async () => {
    polls++;
    return { rows: [] };
  };
  const catalogue = { byName: new Map(), byNumber: new Map() };
  const heads = new Heads(run as never, { catalogue, reload: async () => {} } as never);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  try {
    heads.startPolling(() => {});
    await settle();
    assert.equal(polls, 1, "at once");
    for (let n = 2; n < 6; n++) {
      mock.timers.tick(pollMs - 1);
      await settle();
      assert.equal(polls, n - 1);
      mock.timers.tick(1);
      await settle();
      assert.equal(polls, n);
    }
    heads.stopPolling();
    mock.timers.tick(10 * pollMs);
    await settle();
    assert.equal(polls, 5, "without listeners, nothing is polled");
  } finally {
    mock.timers.reset();
  }
});

test("also through PgBouncer in transaction mode, and nothing listens to the database", {
  skip: whyNoBouncer(),
}, async (t) => {
  const url = await databaseFor(t);
  const bouncer = await startBouncer(url, 4);
  t.after(() => bouncer.stop());
  report(t, await followAcross(t, bouncer.url));
  const { rows } = await query(
    url,
    "select query from pg_stat_activity where datname = current_database() and query ~* '(listen|notify)' and pid <> pg_backend_pid()",
  );
  assert.deepEqual(rows, []);
});

test("in open mode, a collection that the other instance creates joins a stream and wakes a waiting page", async (t) => {
  const url = await databaseFor(t);
  const [one, other] = await startTwo(t, url);
  await other.create("a", { n: 0 });
  const stream = await follow(other, "/api/v1/_events");
  t.after(() => stream.close());
  await until("the stream has begun", () => stream.frames().length > 0);
  const now = linkOf(await other.send({ path: "/api/v1/_events?since=now" }), "next");
  const waiting = other.send({ path: `${now}&wait=60` });
  await one.create("b", { n: 1 });
  const types = (events: readonly CloudEvent[]) => events.map(({ type, data }) => [type, data.n]);
  const [first] = types(await stream.take(1));
  assert.deepEqual(first, ["b.created", 1]);
  assert.deepEqual(types(eventsOf(await waiting)), [["b.created", 1]]);
});
