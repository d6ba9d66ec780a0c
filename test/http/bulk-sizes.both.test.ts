import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { check } from "./check.ts";
import { type Answer, type Service, type ServiceOptions, startService } from "./service.ts";

async function start(t: TestContext, options: ServiceOptions): Promise<Service> {
  const service = await startService(options);
  t.after(() => service.stop());
  return service;
}

/** Resources whose texts have this many bytes in total, and half as many characters. */
function seeds(
  count: number,
  bytes: number,
  more: object = {},
): ({ id: string } & Record<string, unknown>)[] {
  return Array.from({ length: count }, (_, n) => {
    const size = Math.floor(bytes / count) + (n < bytes % count ? 1 : 0);
    const bare = { id: `id${String(n).padStart(4, "0")}`, ...more, odd: "", even: "" };
    const left = size - Buffer.byteLength(JSON.stringify(bare));
    return { ...bare, odd: "x".repeat(left % 2), even: "é".repeat(Math.floor(left / 2)) };
  });
}

const send = (service: Service, collection: string, content: unknown): Promise<Answer> =>
  service.send({ method: "POST", path: `/api/v1/${collection}/_bulk`, content }, { mayFail: true });

test("more than 4 MiB after the change is a 413 and changes nothing", async (t) => {
  const service = await start(t, {
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
