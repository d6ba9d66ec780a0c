/** The quota that a response states is the caller's, whatever the status. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Answer, startServiceForFile } from "../service.ts";
import { auth, type Caller, sendAs } from "./callers.ts";

const rate = { requests: 5, perSeconds: 600 };
const service = await startServiceForFile({ collections: { things: {} }, auth, rate });

const list = "/api/v1/things";

/** The status, and how many requests the caller has left. */
function told({ status, headers }: Answer): [status: number, remaining: number] {
  return [status, Number(/;r=(\d+);/.exec(headers.ratelimit ?? "")?.[1])];
}

const send = async (who: Caller | undefined, path: string) => told(await sendAs(service, who, { path }));

test("successes and refusals count for the principal, and state what it has left", async () => {
  assert.deepEqual(await send("ada", list), [200, 4]);
  assert.deepEqual(await send("ada", `${list}?limit=0`), [400, 3]);
  assert.deepEqual(await send("ada", `${list}/none`), [404, 2]);
  assert.deepEqual(await send("adaReads", list), [403, 1]);
  assert.deepEqual(await send("bob", list), [200, 4]);
});

test("a 429 states the quota of its principal, not that of the address", async () => {
  for (const left of [4, 3, 2, 1, 0]) assert.deepEqual(await send("eve", list), [200, left]);
  assert.deepEqual(await send("eve", list), [429, 0]);
  assert.deepEqual(await send(undefined, list), [401, 4]);
  assert.deepEqual(await send("hans", list), [200, 4]);
});
