/** Refusals that every path of the administration shares with all others. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { check } from "../check.ts";
import { type Request, startFor } from "../service.ts";

/** Without TLS, a request gets 403. A second one within the limit of the rate gets 429. */
export async function refusesWithoutTlsAndTooOften(t: TestContext, request: Request): Promise<void> {
  const limited = await startFor(t, {
    rate: { requests: 1, perSeconds: 60 },
    requireTls: true,
    trustProxy: ["127.0.0.1"],
  });
  check(await limited.send(request), { status: 403, problem: "TLS_REQUIRED" });
  const headers = { ...request.headers, "X-Forwarded-Proto": "https" };
  await limited.send({ ...request, headers });
  assert.equal((await limited.send({ ...request, headers })).status, 429);
}
