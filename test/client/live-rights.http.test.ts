import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, ProblemError } from "../../client/src/index.ts";
import { claimsAt, createPair, settingsFor, tokenOf } from "../access/issuer.ts";
import { machineTime } from "../until.ts";
import type { config } from "./config.ts";
import { readAll, retry, startFixture } from "./feeds.ts";

test("a live list is read again with another token, and ends without a valid one", async (t) => {
  const pair = createPair("EdDSA");
  const read = [{ where: { state: "open" } }, { role: "hr" }] as const;
  const { proxy } = await startFixture(t, {
    auth: { keys: false, jwt: settingsFor([pair]) },
    collections: { notes: { access: { read, write: "authenticated" } } },
  });
  const tokenFor = (roles: readonly string[]) =>
    tokenOf(pair, claimsAt(machineTime(), { sub: "ann", roles: [...roles] }));
  const baseUrl = `${proxy.origin}/api/v1`;
  const direct = createClient<typeof config>({ baseUrl, token: tokenFor(["hr"]) });
  let token = tokenFor([]);
  const client = createClient<typeof config>({ baseUrl, token: () => token, retry });
  await direct.notes.create({ n: 1, state: "draft" });
  await direct.notes.create({ n: 2, state: "open" });
  const reading = readAll(t, client.notes.live({ sort: "n" }));
  await reading.until(1);
  token = tokenFor(["hr"]);
  proxy.cut();
  await reading.until(2);
  await direct.notes.create({ n: 3, state: "draft" });
  await reading.until(3);
  assert.deepEqual(
    reading.received.map((items) => items.map(({ n }) => n)),
    [[2], [1, 2], [1, 2, 3]],
  );
  token = "no.valid.token";
  proxy.cut();
  const error = await reading.ended;
  assert.ok(error instanceof ProblemError && error.status === 401, String(error));
});
