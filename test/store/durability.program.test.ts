import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { type Call, isFlushBetween, parseTrace, whyNoTrace } from "../strace.ts";
import { traceWriting } from "./strace.ts";

/** Resources that were acknowledged before a flush of the log that covers them had ended. */
function unflushed(calls: readonly Call[], ids: readonly string[]): string[] {
  const ofLog = calls.filter(({ file }) => file.endsWith("-wal"));
  return ids.filter((id) => {
    const written = ofLog.find(({ name, text }) => name === "pwrite64" && text.includes(`marker-${id}-`));
    const told = calls.find(({ name, text }) => name === "write" && text.includes(`acknowledged-${id}-`));
    assert.ok(written && told, `the trace shows resource ${id}`);
    return !ofLog.some((call) => isFlushBetween(call, written, told));
  });
}

function traceUnflushed(mode: "FULL" | "NORMAL"): { writes: number; unflushed: string[] } {
  const folder = makeFolder();
  const strace = ["-y", "-e", "trace=pwrite64,fsync,fdatasync,write"];
  const { report, trace } = traceWriting(folder, { mode, strace });
  assert.deepEqual(report.problems, []);
  return {
    writes: report.acknowledged.length,
    unflushed: unflushed(parseTrace(trace), report.acknowledged),
  };
}

const skip = whyNoTrace();

test("every commit is acknowledged only after a flush of the log that covers it", { skip }, () => {
  assert.deepEqual(traceUnflushed("FULL"), { writes: 60, unflushed: [] });
});

test("the same look at a store that does not flush each commit finds them", { skip }, () => {
  const { writes, unflushed } = traceUnflushed("NORMAL");
  assert.ok(unflushed.length > writes / 2, `only ${unflushed.length} of ${writes}`);
});
