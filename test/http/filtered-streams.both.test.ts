import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../until.ts";
import { type CloudEvent, eventsOf, linkOf } from "./follow.ts";
import { open, path } from "./open-streams.ts";
import { startFor } from "./service.ts";

test("the position of a stream that sees none of the changes keeps up with the log", async (t) => {
  const service = await startFor(t, { heartbeatMs: 30 });
  for (let n = 0; n < 30; n++) await service.create("topics", { n });
  const filtered = await open(t, service, "?since=start&n=never");
  const eventsAfter = async (id = ""): Promise<CloudEvent[]> =>
    eventsOf(await service.send({ path: `${path}?since=${id}` }));
  await until("its position is after the first changes", async () => {
    return (await eventsAfter(filtered.lastId())).length === 0;
  });
  for (let n = 0; n < 30; n++) await service.create("topics", { n });
  const now = linkOf(await service.send({ path: `${path}?since=now` }), "next");
  await until("its position is after the last change", () => now.endsWith(`since=${filtered.lastId()}`));
  assert.deepEqual(filtered.events(), []);
});
