/** Two instances on one database, of which each follows what the other writes. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { follow } from "../http/follow.ts";
import { type Service, startFor } from "../http/service.ts";
import { until } from "../until.ts";

export async function startTwo(t: TestContext, url: string): Promise<readonly [Service, Service]> {
  const store = { kind: "postgres", url } as const;
  const start = () => startFor(t, { store, heartbeatMs: 600_000 });
  return [await start(), await start()];
}

/** Both instances are followed while the other one writes. Returns how long each event took, in milliseconds. */
export async function followAcross(t: TestContext, url: string): Promise<number[]> {
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

export function report(t: TestContext, times: readonly number[]): void {
  const [middle = 0, last = 0] = [times[times.length >> 1], times.at(-1)];
  t.diagnostic(
    `commit to event on the other instance: median ${Math.round(middle)}, most ${Math.round(last)} ms`,
  );
}
