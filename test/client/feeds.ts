/** Helpers for tests of feeds: a service behind a proxy, and readers of feeds. */
import type { TestContext } from "node:test";
import { type Client, createClient } from "../../client/src/index.ts";
import { type Service, type ServiceOptions, startFor } from "../http/service.ts";
import { randomOf, seed } from "../seed.ts";
import { until } from "../until.ts";
import { config } from "./config.ts";
import { type StreamProxy, startStreamProxy } from "./stream-proxy.ts";

/** A service, a client that reaches it directly, and one that reaches it through a proxy. */
export interface Fixture {
  service: Service;
  proxy: StreamProxy;
  direct: Client<typeof config>;
  client: Client<typeof config>;
}

/** Retries that do not slow a test down. */
export const retry = { baseMs: 5, maxMs: 50 };

/** Starts a service with the tests' collections. It stops after the test. */
export async function startFixture(t: TestContext, options: ServiceOptions = {}): Promise<Fixture> {
  const service = await startFor(t, { collections: config.collections, ...options });
  const proxy = await startStreamProxy(service.port);
  t.after(() => proxy.stop());
  const direct = createClient<typeof config>({ baseUrl: `${service.origin}/api/v1` });
  const client = createClient<typeof config>({ baseUrl: `${proxy.origin}/api/v1`, retry });
  return { service, proxy, direct, client };
}

/** The events that a loop has received. */
export interface Reading<T> {
  readonly received: readonly T[];
  /** Waits until the loop has received this number. */
  until(count: number): Promise<readonly T[]>;
  /** The error that ended the loop; `undefined` if it ended without one. */
  readonly ended: Promise<unknown>;
}

/** Reads an iterable in the background until the test ends. */
export function readAll<T>(t: TestContext, iterable: AsyncIterable<T>): Reading<T> {
  const received: T[] = [];
  const iterator = iterable[Symbol.asyncIterator]();
  t.after(() => iterator.return?.());
  const read = async () => {
    for (;;) {
      const { value, done } = await iterator.next();
      if (done) return;
      received.push(value);
    }
  };
  const ended = read().catch((error: unknown) => error);
  return {
    received,
    ended,
    async until(count) {
      let hasEnded = false;
      void ended.then(() => {
        hasEnded = true;
      });
      await until(
        `${count} were received, not ${received.length}`,
        () => hasEnded || received.length >= count,
      );
      return received;
    },
  };
}

/** A function that returns random whole numbers below its argument. The seed is printed; HOLDFAST_TEST_SEED repeats a run. */
export function randomBelow(t: TestContext): (limit: number) => number {
  t.diagnostic(`HOLDFAST_TEST_SEED=${seed}`);
  const random = randomOf(seed);
  return (limit) => Math.floor(random() * limit);
}
