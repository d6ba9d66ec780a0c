import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { slowlyFlushing, whyNoTrace } from "../strace.ts";
import { createClient, end, startProgram } from "./program.ts";

test("a write that the disk holds up for too long is 503 OUTCOME_UNKNOWN", {
  skip: whyNoTrace(),
}, async () => {
  const folder = makeFolder();
  const config = join(folder, "slow.json");
  writeFileSync(config, JSON.stringify({ collections: { things: {} }, limits: { handlerTimeoutMs: 300 } }));
  const program = await startProgram(join(folder, "slow.db"), slowlyFlushing("delay_enter=1500000"), [
    "--config",
    config,
  ]);
  const client = createClient(program.port);
  try {
    const answer = await client.send("POST", "/things", { a: 1 });
    assert.ok(answer !== undefined);
    assert.equal(answer.status, 503, answer.text);
    assert.equal((JSON.parse(answer.text) as { code: string }).code, "OUTCOME_UNKNOWN");
    assert.equal(answer.headers["retry-after"], "1");
  } finally {
    client.close();
    await end(program, "SIGKILL");
  }
});
