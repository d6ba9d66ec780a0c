/** The client calls routes, with the types of the configuration. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, ProblemError } from "holdfast-client";
import { defineConfig, respond, route } from "../../src/index.ts";
import { startFor } from "../http/service.ts";

const checkout = route({
  method: "POST",
  path: "checkout/{orderId}",
  access: "public",
  body: { type: "object", properties: { card: { type: "string" } }, required: ["card"] },
  response: {
    type: "object",
    properties: { paid: { type: "boolean" }, id: { type: "string" } },
    required: ["paid"],
  },
  run: ({ params, body }) => ({ paid: body.card !== "", id: params.orderId }),
});
const sums = route({
  path: "sums",
  access: "public",
  query: { type: "object", properties: { of: { type: "array", items: { type: "integer" } } } },
  response: { type: "integer" },
  run: ({ query }) => (query.of ?? []).reduce((sum, each) => sum + each, 0),
});
const echo = route({
  method: "POST",
  path: "echo",
  access: "public",
  body: "text",
  run: ({ body, request }) => respond(200, { body, key: request.idempotencyKey ?? null }),
});
const nothing = route({ method: "DELETE", path: "nothing", access: "public", run: () => undefined });
const config = defineConfig({ routes: { checkout, sums, echo, nothing } });

/** The same routes as the source of a module, because functions run in a thread of their own. */
const source = () => {
  const texts = Object.entries({ checkout, sums, echo, nothing }).map(
    ([name, { run, ...others }]) => `${name}: { ...${JSON.stringify(others)}, run: ${run} }`,
  );
  return `import { respond } from "holdfast";\nexport default { routes: { ${texts.join(", ")} } };`;
};

test("a client calls the routes in its table", async (t) => {
  const { origin } = await startFor(t, { module: source(), isWatched: false });
  const { $call } = createClient<typeof config>({
    baseUrl: `${origin}/api/v1`,
    routes: {
      checkout: "POST checkout/{orderId}",
      sums: "GET sums",
      echo: "POST echo",
      nothing: "DELETE nothing",
    },
  });
  const paid = await $call.checkout({ orderId: "a/b" }, { card: "1" });
  const isPaid: boolean = paid.paid;
  assert.deepEqual([isPaid, paid.id], [true, "a/b"]);
  const sum: number = await $call.sums({}, undefined, { query: { of: [1, 2] } });
  assert.equal(sum, 3);
  const headers = { "Idempotency-Key": "k" };
  assert.deepEqual(await $call.echo({}, "text", { headers }), { body: "text", key: "k" });
  assert.equal(await $call.nothing(), undefined);
  // @ts-expect-error: the body is missing
  await assert.rejects($call.checkout({ orderId: "1" }), ProblemError);
  // @ts-expect-error: the parameter has another name
  await assert.rejects($call.checkout({ id: "1" }, { card: "1" }), /needs the parameter orderId/);
  // @ts-expect-error: the path is another one
  createClient<typeof config>({ baseUrl: origin, routes: { sums: "GET sum" } });
});
