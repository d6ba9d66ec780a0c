/** What becomes of Idempotency-Keys while the store cannot write: another program lets nobody write. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openBelow } from "./below.ts";
import { check } from "./check.ts";
import { type Answer, type Request, startService } from "./service.ts";

async function start(t: TestContext, handlerTimeoutMs: number) {
  const service = await startService({ limits: { handlerTimeoutMs } });
  t.after(() => service.stop());
  const create = (key: string, title = "one"): Request => ({
    method: "POST",
    path: "/api/v1/topics",
    headers: { "Idempotency-Key": key },
    content: { title },
  });
  const send = (request: Request): Promise<Answer> => service.send(request, { mayFail: true });
  const first = await send(create("before"));
  assert.equal(first.status, 201);
  const other = await openBelow(service.store);
  t.after(() => other.close());
  const total = async () => (await service.send({ path: "/api/v1/topics" })).headers["x-total-count"];
  return { create, send, first, other, total };
}

test("a key whose write may still happen is held until that is known, and then answered with it", async (t) => {
  const { create, send, other, total } = await start(t, 500);
  await other.hold();
  const request = create("slow");
  check(await send(request), { status: 503, headers: { "Retry-After": "1" }, problem: "OUTCOME_UNKNOWN" });
  for (const again of [request, create("slow", "two")]) {
    check(await send(again), {
      status: 409,
      headers: { "Retry-After": "1" },
      problem: "IDEMPOTENCY_IN_PROGRESS",
    });
  }
  await other.letGo();
  let answer = await send(request);
  for (let tries = 0; answer.status === 409 && tries < 200; tries++) {
    await sleep(10);
    answer = await send(request);
  }
  check(answer, { status: 201, headers: { "Idempotent-Replayed": "true" } });
  assert.equal(await total(), "2");
});

test("a key that another instance was faster with is answered with what that kept", async (t) => {
  const { create, send, first, other, total } = await start(t, 10_000);
  await other.hold();
  const sent = send(create("raced"));
  for (let status = 0, tries = 0; status !== 409; tries++) {
    assert.ok(tries < 10, "the first request is not under way");
    await sleep(10);
    status = (await send(create("raced"))).status;
  }
  await other.run(
    `insert into ${other.table("receipts")} (key, fingerprint, answer, expires_at, brief)
     select replace(key, '"before"', '"raced"'), fingerprint, answer, expires_at, brief from ${other.table("receipts")}`,
  );
  await other.letGo();
  const answer = await sent;
  check(answer, {
    status: 201,
    headers: { "Idempotent-Replayed": "true", Location: first.headers.location as string },
  });
  assert.equal(answer.text, first.text);
  assert.equal(await total(), "1");
});
