import assert from "node:assert/strict";
import { test } from "node:test";
import { ceilingMs, until } from "../until.ts";
import { type Answer, countOf, create, serveFaulty } from "./served.ts";

function requireUnavailable(answer: Answer): void {
  assert.deepEqual([answer.status, answer.code], [503, "UNAVAILABLE"]);
  assert.ok(answer.ms < ceilingMs, `${answer.ms} ms`);
}

test("connections that an administrator ends as soon as they are ready cost answers, not the service", async (t) => {
  const service = await serveFaulty(t);
  const id = await create(service, 0);
  service.proxy.terminate();
  service.proxy.cutAll();
  for (let round = 0; round < 5; round++) {
    const asked = [
      service.ask("GET", `things/${id}`),
      service.ask("GET", "things?sort=n"),
      service.ask("POST", "things", { n: round }),
      service.ask("GET", "things/_events"),
    ];
    for (const answer of await Promise.all(asked)) requireUnavailable(answer);
  }
  assert.ok(service.proxy.terminated > 5, `${service.proxy.terminated} connections were ended`);
  service.proxy.heal();
  await until("it works again", async () => (await service.ask("GET", `things/${id}`)).status === 200);
  await create(service, 1);
  assert.equal(await countOf(service, "things"), 2);
});
