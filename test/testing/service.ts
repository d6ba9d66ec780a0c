/** Services of `holdfast/testing`, for tests. */
import { type start as Start, start, type TestOptions } from "../../src/testing.ts";

type Started = Awaited<ReturnType<typeof Start>>;

/** Starts a service in memory that stops when the test ends. */
export async function startInMemoryFor<const C extends Parameters<typeof Start>[0]>(
  t: { after(hook: () => Promise<void>): void },
  config: C,
  options?: TestOptions,
): Promise<Awaited<ReturnType<typeof start<C>>>> {
  const service = await start(config, options);
  t.after(() => service.stop());
  return service;
}

/** A service whose collections a test does not know. */
export type AnyService = Started;
