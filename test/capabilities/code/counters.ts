/** A counter that a hook counts: `before` reads what the writes before it have stored. */
import assert from "node:assert/strict";
import type { Service } from "../../http/service.ts";

/** The declaration of the collection `counters`, for a configuration. */
export const counters = `
    counters: {
      hooks: { before: ({ resource, previous }) => ({ ...resource, count: (previous?.count ?? 0) + 1 }) },
    },`;

const clients = 64;

/** `npm run prove -- code` makes more. */
const increments = Number(process.env.HOLDFAST_TEST_INCREMENTS ?? 5);

/** Changes one counter with 64 clients at the same time, on these services in turn. No count may be lost. */
export async function requireCounts(services: readonly [Service, ...Service[]]): Promise<void> {
  const { path } = await services[0].create("counters");
  const work = Array.from({ length: clients }, async (_, client) => {
    for (let n = 0; n < increments; n++) {
      const { send } = services[(client + n) % services.length] as Service;
      const content = { last: `${client}-${n}` };
      const { status, text } = await send({ method: "PATCH", path, content });
      assert.equal(status, 200, text);
    }
  });
  await Promise.all(work);
  for (const { send } of services)
    assert.equal(((await send({ path })).json as { count: number }).count, 1 + clients * increments);
}
