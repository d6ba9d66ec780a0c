/** Without the option, nothing of the metrics is loaded or run. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { startService } from "../http/service.ts";

const isLoaded = () =>
  Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes("prom-client"));

test("prom-client is loaded only if metrics are on", async () => {
  const off = await startService();
  await off.create("topics");
  assert.equal((await off.send({ path: "/metrics" })).status, 404);
  await off.stop();
  assert.equal(isLoaded(), false);
  const on = await startService({ metrics: { host: "127.0.0.1", port: 0 } });
  await on.stop();
  assert.equal(isLoaded(), true);
});
