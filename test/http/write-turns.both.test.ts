/** What one caller writes does not keep others from their turn: bulk changes, large batches and imports. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../until.ts";
import { type Request, startServiceForFile } from "./service.ts";

const service = await startServiceForFile({ trustProxy: ["127.0.0.1"], limits: { batch: 1_000 } });

const many = 12;

const callers = { busy: "10.0.0.1", other: "10.0.0.2" };

const json = { "content-type": "application/json" };
const ndjson = { "content-type": "application/x-ndjson" };

function linesOf(count: number, length: number, first = 0): string {
  const text = "x".repeat(length);
  return Array.from({ length: count }, (_, n) => JSON.stringify({ n: first + n, text })).join("\n");
}

/**
 * One caller sends many requests at once. As soon as one is answered, another caller sends one. Returns how many of the first caller are
 * answered before this one.
 */
async function answeredBefore(requestOf: (n: number) => Request): Promise<number> {
  const from = (caller: string, { headers, ...request }: Request) =>
    service.send({ ...request, headers: { ...headers, "x-forwarded-for": caller } });
  let answered = 0;
  const sent = Array.from({ length: many }, async (_, n) => {
    const { status, text } = await from(callers.busy, requestOf(n));
    assert.equal(status, 200, text);
    answered += 1;
  });
  const all = Promise.all(sent);
  await Promise.race([until("one is answered", () => answered > 0), all]);
  const before = answered;
  const { status, text } = await from(callers.other, requestOf(many));
  assert.equal(status, 200, text);
  const meanwhile = answered - before;
  await all;
  return meanwhile;
}

for (const [what, requestOf] of [
  [
    "bulk changes",
    (n: number) => ({
      method: "POST",
      path: "/api/v1/many/_bulk",
      headers: json,
      body: JSON.stringify({ filter: { n: { lt: 400 } }, update: { round: { $set: n } }, max: 400 }),
    }),
  ],
  [
    "large batches",
    (n: number) => ({
      method: "POST",
      path: "/api/v1/_batch",
      headers: json,
      body: JSON.stringify({
        operations: Array.from({ length: 300 }, (_, k) => ({
          method: "POST",
          path: "/batched",
          body: { n, k },
        })),
      }),
    }),
  ],
  [
    "imports",
    (n: number) => ({
      method: "POST",
      path: "/api/v1/imported/_import",
      headers: ndjson,
      body: linesOf(500, 20, 500 * n),
    }),
  ],
] as const)
  test(`${many} ${what} of one caller do not keep another one from its turn`, async () => {
    const filled = await service.send({
      method: "POST",
      path: "/api/v1/many/_import",
      headers: ndjson,
      body: linesOf(1_000, 900),
    });
    assert.equal(filled.status, 200, filled.text);
    const meanwhile = await answeredBefore(requestOf);
    assert.ok(meanwhile < many / 2, `${meanwhile} of the other caller came first`);
  });
