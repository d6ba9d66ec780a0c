/** Notices that the client of a request has gone. */
import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { onGone } from "../../src/http/admission/gone.ts";

for (const method of ["GET", "POST"])
  test(`a client that has gone before is noticed: ${method}`, async () => {
    const socket = new Socket().destroy();
    await new Promise<void>((resolve) => socket.once("close", resolve));
    await new Promise<void>((resolve) => onGone({ method, socket }, resolve));
  });

test("after its end, it notices nothing", async () => {
  const socket = new Socket().destroy();
  let calls = 0;
  onGone({ socket }, () => calls++)();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(calls, 0);
});
