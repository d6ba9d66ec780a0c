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
  routes: {
    forever: { method: "POST", path: "run/forever", access: "public", timeoutMs: 1, run: forever },
    noted: { method: "POST", path: "run/noted", access: "public", run: async ({ client }) => { await client.fine.create({}); forever(); } },
  },
};
`;

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

test("the service ends in its time although a route has just begun what cannot be ended", async (t) => {
  const cwd = makeFolder();
  const limited = configuration.replace("export default {", "export default { stopTimeoutMs: 4_000,");
  writeFileSync(join(cwd, "holdfast.config.ts"), limited);
  const service = await serve(t, [], { cwd });
  const post = (to: string, body: string | null) =>
    fetch(`${service.base}/${to}`, { method: "POST", headers: { "content-type": "application/json" }, body });
  assert.equal((await post("fine", "{}")).status, 201);
  post("run/noted", null).catch(() => {}); // it gets no response
  const fine = async () => (await (await fetch(`${service.base}/fine`)).json()) as unknown[];
  await until("the route has begun", async () => (await fine()).length === 2);
  service.process.kill("SIGTERM");
  await until("the process has ended", () => hasEnded(service.process));
});

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
    // Calls of a hook that wait behind the one whose worker is lost do not run.
    const all = await Promise.all(Array.from({ length: path === "things" ? 3 : 1 }, () => send(path)));
    assert.deepEqual([...new Set(all)], [status]);
    assert.equal(await send("fine"), 201);
    service.process.kill("SIGTERM");
    await until("the process has ended", () => hasEnded(service.process));
    const { exitCode, signal, stderr } = await service.ended;
    // In a version of Node that ends the loop, the process exits as always.
    assert.ok(exitCode === 0 || signal === "SIGKILL", `${exitCode} ${signal} ${stderr}`);
    assert.ok(stderr.split("cannot be ended, and").length <= 2, stderr);
    const again = await serve(t, [], { cwd });
    assert.equal(((await (await fetch(`${again.base}/fine`)).json()) as unknown[]).length, 1);
  });
