/** The backup that the guide tells of is one, also beside a service that writes. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { folder, jsonLines, type RunningService, run, serve, stop } from "./commands/cli.ts";

const guide = readFileSync("docs/how-to/operate.md", "utf8");

/** Creates one resource after the other until it is told to stop; gives how many were acknowledged. */
function keepWriting({ base }: RunningService): { acknowledged(): number; end(): Promise<void> } {
  let [n, isOver] = [0, false];
  const write = async () => {
    while (!isOver) {
      const body = JSON.stringify({ pad: "x".repeat(2_000) });
      const answer = await fetch(`${base}/topics`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      assert.equal(answer.status, 201);
      n++;
    }
  };
  const writers = Promise.all([write(), write(), write()]);
  return {
    acknowledged: () => n,
    end: async () => {
      isOver = true;
      await writers;
    },
  };
}

test("the backup of the guide holds what was acknowledged before it, and serves", async (t) => {
  const [, line = ""] = /^\$ (node -e .+)$/m.exec(guide) ?? [];
  const cwd = await folder(t);
  const service = await serve(t, [], { cwd });
  const writing = keepWriting(service);
  while (writing.acknowledged() < 200) await new Promise(setImmediate);
  const before = writing.acknowledged();
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  await promisify(execFile)("sh", ["-c", line], { cwd, env });
  await writing.end();
  await stop(service);
  const checked = await run(t, ["check", "--store", "sqlite:backup.db"], { cwd });
  assert.equal(checked.exitCode, 0, checked.stderr);
  const exported = await run(t, ["export", "topics", "--store", "sqlite:backup.db"], { cwd });
  const kept = jsonLines(exported.stdout).length;
  assert.ok(kept >= before && kept <= writing.acknowledged(), `${before} <= ${kept}`);
  const again = await serve(t, ["--store", "sqlite:backup.db"], { cwd });
  assert.equal((await fetch(`${again.base}/topics?limit=1`)).headers.get("x-total-count"), String(kept));
  await stop(again);
});
