/** A stop while the start still computes what access rules name. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { serve, start } from "../../commands/cli.ts";
import { makeFolder } from "../../folder.ts";
import { until } from "../../until.ts";
import { awaitedTotal } from "./recompute/awaited.ts";

test("SIGTERM ends the service at once, before it has served anything", async (t) => {
  const cwd = makeFolder();
  const file = join(cwd, "holdfast.config.ts");
  writeFileSync(file, awaitedTotal({ value: "({ n }) => n" }));
  const first = await serve(t, [], { cwd });
  const headers = { "content-type": "application/json" };
  const { status } = await fetch(`${first.base}/orders`, { method: "POST", headers, body: '{"n":1}' });
  assert.equal(status, 201);
  first.process.kill("SIGTERM");
  await first.ended;
  writeFileSync(
    file,
    awaitedTotal({ version: 2, value: "() => { for (;;) Atomics.wait(pause, 0, 0, 100); }" }),
  );
  const second = start(t, ["serve", "--port", "0"], { cwd });
  const said = () => Object.values(second.output()).join();
  await until("the start waits", () => said().includes("The start waits for computed attributes"));
  second.process.kill("SIGTERM");
  const { exitCode, signal, stderr } = await second.ended;
  assert.deepEqual([exitCode, signal], [0, null], stderr);
});
