import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "holdfast-client";
import { reservedIds } from "../../src/collection/ids.ts";

test("an id that would lead to another path is refused before a request", async () => {
  const client = createClient({
    baseUrl: "http://127.0.0.1:1/api/v1",
    fetch: () => assert.fail("a request was sent"),
  });
  for (const id of ["", ".", "..", ...reservedIds]) {
    await assert.rejects(async () => client.orders?.get(id), /is not an id of a resource/, id);
    await assert.rejects(async () => client.orders?.delete(id), /is not an id of a resource/, id);
  }
});
