/** A consumer that calls a route, which makes the change that the consumer handles next. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startFor } from "../../http/service.ts";
import { until } from "../../until.ts";

const module = `
import { defineConfig, route } from "holdfast";

export default defineConfig({
  collections: {
    things: {
      after: { next: { as: "service", run: ({ event, client }) => client.make.create({ n: event.data.n + 1 }) } },
    },
  },
  routes: {
    make: route({
      method: "POST",
      path: "make",
      access: "public",
      body: { type: "object", properties: { n: { type: "integer" } } },
      as: "service",
      run: async ({ body, service }) => (await service.things.create(body)).id,
    }),
  },
});
`;

test("the chain ends although a route makes each change", async (t) => {
  const { send, create } = await startFor(t, { module, isWatched: false });
  await create("things", { n: 1 });
  const list = async (path: string) => (await send({ path: `/api/v1/${path}` })).json;
  await until("the last call is refused", async () => {
    const { consumers } = (await list("_consumers")) as { consumers: { dead: number }[] };
    return consumers[0]?.dead === 1;
  });
  assert.equal(((await list("things")) as unknown[]).length, 11);
});
