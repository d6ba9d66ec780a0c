/** Consumers of a configuration that is in the thread of the service, as in an application. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { ConsumerCall } from "../../../src/capabilities/public.ts";
import { compileConfig } from "../../../src/config.ts";
import { createInside } from "../../../src/http/inside.ts";
import { openService } from "../../../src/server/open-service.ts";
import { makeFolder } from "../../folder.ts";
import { until } from "../../until.ts";

test("a consumer runs in the thread of an application", async (t) => {
  const got: string[] = [];
  const mail = {
    as: "service",
    run: async ({ event, client }: ConsumerCall) => {
      got.push(event.type);
      await (client as never as { letters: { create(letter: object): Promise<unknown> } }).letters.create({});
    },
  };
  const folder = makeFolder();
  const config = await compileConfig(
    {
      collections: { orders: { after: { mail } }, letters: {} },
      store: `sqlite:${join(folder, "store.db")}`,
    },
    folder,
  );
  const { service, close } = await openService(config);
  t.after(close);
  const send = createInside(service)({ principal: undefined });
  const headers = { "content-type": "application/json" };
  const created = await send({ method: "POST", target: "/api/v1/orders", headers, body: "{}" });
  assert.equal(created.status, 201);
  await until("the client has written", async () => (await service.store.count("letters")) === 1);
  assert.deepEqual(got, ["orders.created"]);
});
