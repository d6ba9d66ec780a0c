/** Code that cannot be ended does not keep the service from ending. V8 does not end every loop that allocates memory. */
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { serve } from "../../commands/cli.ts";
import { makeFolder } from "../../folder.ts";
import { until } from "../../until.ts";

const configuration = `
const forever = () => { const all = []; for (;;) all.push(new Array(1_000).fill(0)); };
export default {
  collections: {
    fine: {},
    things: { hooks: { validate: forever } },
  },
  routes: { forever: { method: "POST", path: "run/forever", access: "public", timeoutMs: 1, run: forever } },
};
`;

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

for (const [where, path, status] of [
  ["a hook", "things", 500],
  ["a route", "run/forever", 503],
] as const)
  test(`the service ends after ${where} that cannot be ended, and keeps its data`, async (t) => {
    const cwd = makeFolder();
    writeFileSync(join(cwd, "holdfast.config.ts"), configuration);
    const service = await serve(t, [], { cwd });
    const send = async (to: string) => {
      const headers = { "content-type": "application/json", connection: "close" };
      const body = to === "run/forever" ? null : "{}";
      return (await fetch(`${service.base}/${to}`, { method: "POST", headers, body })).status;
    };
    assert.equal(await send(path), status);
    assert.equal(await send("fine"), 201);
    service.process.kill("SIGTERM");
    await until("the process has ended", () => hasEnded(service.process));
    const { exitCode, signal, stderr } = await service.ended;
    // In a version of Node that ends the loop, the process exits as always.
    assert.ok(exitCode === 0 || signal === "SIGKILL", `${exitCode} ${signal} ${stderr}`);
    const again = await serve(t, [], { cwd });
    assert.equal(((await (await fetch(`${again.base}/fine`)).json()) as unknown[]).length, 1);
  });
