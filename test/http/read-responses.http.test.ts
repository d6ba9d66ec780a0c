import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../until.ts";
import { client, get, readAll, start, statusOf } from "./slow-clients.ts";
import { createPage } from "./unread.ts";

test("the memory of responses that were read slowly is free once, and not again when their connection closes", async (t) => {
  const service = await start(t, { wireBounds: { maxHeldBytes: 1_000_000 } });
  const page = await createPage(service);
  const whole = (await service.send({ path: page })).text.length;
  // A page in progress also uses the memory, but only for a moment.
  const isUsedUp = async () => {
    for (let n = 0; n < 20; n++) if ((await statusOf(service, page)) !== 503) return false;
    return true;
  };
  const first = await client(t, service, get(page).repeat(9));
  await until("the memory is used up", isUsedUp);
  assert.ok((await readAll(first, 9 * whole)) >= 9 * whole);
  first.destroy();
  await until("the memory is free", async () => (await statusOf(service, page)) === 200);
  await client(t, service, get(page).repeat(9));
  await until("the memory is used up again", isUsedUp);
});
