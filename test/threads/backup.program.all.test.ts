/** A backup beside a service whose threads all write. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonLines, run, runProgram, stop } from "../commands/cli.ts";
import { until } from "../until.ts";
import { serveThreads } from "./served.ts";

/** How many creates are confirmed before the backup begins. */
const creates = 100;

for (const threads of [2, 4]) {
  test(`has everything that ${threads} threads confirmed before it began, and nothing else`, async (t) => {
    const service = await serveThreads(t, threads);
    const sent = new Set<string>();
    const confirmed = new Set<string>();
    let isComplete = false;
    const writing = service.clients(24).map(async (client, place) => {
      for (let n = 0; !isComplete; n++) {
        const name = `${place}-${n}`;
        sent.add(name);
        assert.equal((await client.send("POST", "things", { content: { name } })).status, 201);
        confirmed.add(name);
      }
    });
    const written = Promise.all(writing);
    await until("many creates are confirmed", () => confirmed.size >= creates);
    const before = [...confirmed];
    // In a process of its own, so that the writes go on.
    const { exitCode, stderr } = await runProgram(t, ["backup", "copy.db"], { cwd: service.cwd });
    isComplete = true;
    await written;
    assert.equal(exitCode, 0, stderr);
    assert.equal((await stop(service)).exitCode, 0);
    const { stdout } = await run(t, ["export", "things", "--store", "sqlite:copy.db"], { cwd: service.cwd });
    const found = new Set((jsonLines(stdout) as { name: string }[]).map(({ name }) => name));
    assert.deepEqual(
      before.filter((name) => !found.has(name)),
      [],
    );
    assert.deepEqual(
      [...found].filter((name) => !sent.has(name)),
      [],
    );
  });
}
