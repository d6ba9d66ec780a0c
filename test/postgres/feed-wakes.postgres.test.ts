import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { eventsOf, follow, linkOf } from "../http/follow.ts";
import { type Service, startService } from "../http/service.ts";
import { until } from "../until.ts";
import { databaseFor } from "./databases.ts";

async function startTwo(t: TestContext, url: string): Promise<readonly [Service, Service]> {
  const services: Service[] = [];
  t.after(async () => {
    for (const service of services) await service.stop();
  });
  const store = { kind: "postgres", url } as const;
  services.push(await startService({ store, heartbeatMs: 600_000 }));
  services.push(await startService({ store, heartbeatMs: 600_000 }));
  return services as unknown as readonly [Service, Service];
}

/** Both instances are followed while the other one writes. Returns how long each event took, in milliseconds. */
async function followAcross(t: TestContext, url: string): Promise<number[]> {
  const [one, other] = await startTwo(t, url);
  await one.create("topics", { n: 0 });
  const times: number[] = [];
  for (const [writer, reader] of [
    [one, other],
    [other, one],
  ] as const) {
    const stream = await follow(reader, "/api/v1/topics/_events");
    t.after(() => stream.close());
    await until("the stream has begun", () => stream.frames().length > 0);
    for (let n = 1; n <= 10; n++) {
      await writer.create("topics", { n });
      const committed = performance.now();
      await stream.take(n);
      times.push(performance.now() - committed);
    }
    assert.deepEqual(
      stream.events().map(({ data }) => data.n),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
  }
  return times.sort((a, b) => a - b);
}

function report(t: TestContext, times: readonly number[]): void {
  const [middle = 0, last = 0] = [times[times.length >> 1], times.at(-1)];
  t.diagnostic(
    `commit to event on the other instance: median ${Math.round(middle)}, most ${Math.round(last)} ms`,
  );
}

test("a commit of one instance wakes the streams of the other", async (t) => {
  const url = await databaseFor(t);
  report(t, await followAcross(t, url));
});

test("now is after the last change, also of a collection that the other instance has just created", async (t) => {
  const url = await databaseFor(t);
  const [one, other] = await startTwo(t, url);
  for (const name of ["a", "b", "c"]) {
    await one.create(name, { n: 0 });
    const path = linkOf(await other.send({ path: "/api/v1/_events?since=now" }), "next");
    await one.create(name, { n: 1 });
    const events = eventsOf(await other.send({ path }));
    assert.deepEqual(
      events.map(({ type, data }) => [type, data.n]),
      [[`${name}.created`, 1]],
    );
  }
  // The position of one instance has a collection that the other one does not know yet.
  for (const name of ["d", "e", "f"]) {
    await one.create(name, { n: 0 });
    const path = linkOf(await one.send({ path: "/api/v1/_events?since=now" }), "next");
    assert.deepEqual(eventsOf(await other.send({ path })), []);
  }
});
