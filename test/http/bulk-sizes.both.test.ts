import assert from "node:assert/strict";
import { test } from "node:test";
import { seeds, send } from "./bulk-fixture.ts";
import { check } from "./check.ts";
import { startFor } from "./service.ts";

test("more than 4 MiB after the change is a 413 and changes nothing", async (t) => {
  const service = await startFor(t, {
    collections: { things: {} },
    seeds: { things: seeds(1_000, 100_000) },
    probe: { rssBytes: 400_000_000 },
  });
  const patch = (length: number) => ({ all: true, patch: { long: "x".repeat(length) }, max: 1_000 });
  check(await send(service, "things", patch(4_300)), { status: 413, problem: "CONTENT_TOO_LARGE" });
  const first = await service.send({ path: "/api/v1/things/id0000" });
  assert.equal(first.headers.etag, '"1"');
  check(await send(service, "things", patch(4_000)), { status: 200 });
});
