/** Idempotency-Keys while the store cannot write, because another program has locked it. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { until } from "../until.ts";
import { openBelow } from "./below.ts";
import { check } from "./check.ts";
import { type Answer, type Request, startFor } from "./service.ts";

async function start(t: TestContext, limits = {}) {
  const service = await startFor(t, { limits });
  const create = (key: string, title = "one"): Request => ({
    method: "POST",
    path: "/api/v1/topics",
    headers: { "Idempotency-Key": key },
    content: { title },
  });
  const send = (request: Request): Promise<Answer> => service.send(request, { mayFail: true });
  const first = await settled(() => send(create("before")));
  const other = await openBelow(service.store);
  t.after(() => other.close());
  const total = async () => (await service.send({ path: "/api/v1/topics" })).headers["x-total-count"];
  return { create, send, first, other, total, connect: service.connect };
}

/** Sends a request again until it is known what came of it. */
async function settled(send: () => Promise<Answer>): Promise<Answer> {
  let answer: Answer | undefined;
  await until("the write is known to have happened", async () => {
    answer = await send();
    return answer.status < 400;
  });
  return answer as Answer;
}

test("a key whose write may still happen is held until that is known, and then answered with it", async (t) => {
  const { create, send, other, total } = await start(t, { handlerTimeoutMs: 500 });
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
  check(await settled(() => send(request)), { status: 201, headers: { "Idempotent-Replayed": "true" } });
  assert.equal(await total(), "2");
});

test("a key that another instance was faster with is answered with what that kept", async (t) => {
  const { create, send, other, total } = await start(t);
  const first = await send(create("raced"));
  const rename = (from: string, to: string) =>
    other.run(`update ${other.table("receipts")} set key = replace(key, '"${from}"', '"${to}"')`);
  await rename("raced", "aside");
  await other.hold();
  const both = [send(create("raced")), send(create("raced"))];
  check(await Promise.race(both), { status: 409, problem: "IDEMPOTENCY_IN_PROGRESS" });
  await rename("aside", "raced");
  await other.letGo();
  const answer = (await Promise.all(both)).find(({ status }) => status !== 409) as Answer;
  check(answer, {
    status: 201,
    headers: { "Idempotent-Replayed": "true", Location: first.headers.location as string },
  });
  assert.equal(answer.text, first.text);
  assert.equal(await total(), "2");
});

test("a client that goes away before its answer is made gets the whole answer to a retry", async (t) => {
  const { send, first, other, connect } = await start(t);
  const path = first.headers.location as string;
  const content = '{"title":"two"}';
  const head = [
    `PATCH ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${content.length}`,
  ];
  const [slow, gone] = [await connect(), await connect()];
  await other.hold();
  slow.write([...head, "", content].join("\r\n")); // the next write to the resource waits for it
  gone.write([...head, "Idempotency-Key: gone", "Expect: 100-continue", "", ""].join("\r\n"));
  await until("the content is asked for", () => gone.received !== "");
  gone.write(content);
  gone.close();
  assert.equal(gone.received, "HTTP/1.1 100 Continue\r\n\r\n");
  await other.letGo();
  assert.equal((await slow.answer()).status, 200);
  const headers = { "Idempotency-Key": "gone" };
  const retry: Request = { method: "PATCH", path, headers, content: { title: "two" } };
  const answer = await settled(() => send(retry));
  check(answer, { status: 200, headers: { "Idempotent-Replayed": "true" } });
  assert.equal((answer.json as { title: string }).title, "two");
});
