import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { type Call, isFlushBetween, parseTrace, tracing, whyNoTrace } from "../strace.ts";
import { createMarked, markerOf, writes } from "./marked.ts";
import { end, type Program, startProgram, startRelaxedProgram } from "./program.ts";

/** Markers whose 201 began to leave before a flush that covers their bytes in the log had ended. */
function unflushed(calls: readonly Call[]): string[] {
  const markers = Array.from({ length: writes }, (_, n) => markerOf(n));
  return markers.filter((marker) => {
    const written = calls.find(({ name, text }) => name === "pwrite64" && text.includes(marker));
    const answered = calls.find(
      ({ name, text }) => /^(write|writev|sendto|sendmsg)$/.test(name) && text.includes(marker),
    );
    assert.ok(written && answered, `the trace holds no write and answer of ${marker}`);
    return !calls.some((call) => isFlushBetween(call, written, answered));
  });
}

async function trace(
  start: (store: string, wrapper: readonly string[]) => Promise<Program>,
): Promise<Call[]> {
  const folder = makeFolder();
  const file = join(folder, "trace");
  const wrapper = tracing("pwrite64,fdatasync,fsync,write,writev,sendto,sendmsg", {
    file,
    more: ["-s", "6000"],
  });
  const program = await start(join(folder, "x.db"), wrapper);
  await createMarked(program.port);
  await end(program, "SIGTERM");
  return parseTrace(readFileSync(file, "latin1"));
}

const skip = whyNoTrace();

test("no 201 leaves before the flush that covers its resource has ended", { skip }, async (t) => {
  const calls = await trace(startProgram);
  t.diagnostic(`${writes} creates, ${calls.filter(({ name }) => name.endsWith("sync")).length} flushes`);
  assert.deepEqual(unflushed(calls), []);
});

test("the same test sees the missing flushes of synchronous=NORMAL", { skip }, async () => {
  const missing = unflushed(await trace(startRelaxedProgram));
  assert.ok(missing.length > writes / 2, `only ${missing.length} of ${writes} were found unflushed`);
});
