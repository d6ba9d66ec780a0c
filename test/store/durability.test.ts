import assert from "node:assert/strict";
import { test } from "node:test";
import { makeFolder } from "./sqlite-fixture.ts";
import { traceWriting, whyNoTrace } from "./strace.ts";

/** A system call that has ended: where in the trace it began and ended. */
interface Call {
  name: string;
  file: string;
  begin: number;
  end: number;
  text: string;
}

/** Reads the output of `strace -f -y`, in which calls of several threads may be interleaved. */
function parseTrace(trace: string): Call[] {
  const begun = new Map<string, { begin: number; text: string }>();
  const calls: Call[] = [];
  for (const [line, content] of trace.split("\n").entries()) {
    const [, thread = "", rest = ""] = /^(\d+) +(.*)$/.exec(content) ?? [];
    if (rest.endsWith("<unfinished ...>")) {
      begun.set(thread, { begin: line, text: rest });
      continue;
    }
    const first = rest.startsWith("<... ") ? begun.get(thread) : undefined;
    const text = first === undefined ? rest : first.text + rest;
    const [, name, file] = /^(\w+)\(\d+<([^>]*)>/.exec(text) ?? [];
    if (name === undefined || file === undefined) continue;
    calls.push({ name, file, begin: first?.begin ?? line, end: line, text });
  }
  return calls;
}

/** Resources that were acknowledged before a flush of the log that covers them had ended. */
function unflushed(calls: readonly Call[], ids: readonly string[]): string[] {
  const ofLog = calls.filter(({ file }) => file.endsWith("-wal"));
  return ids.filter((id) => {
    const written = ofLog.find(({ name, text }) => name === "pwrite64" && text.includes(`marker-${id}-`));
    const told = calls.find(({ name, text }) => name === "write" && text.includes(`acknowledged-${id}-`));
    assert.ok(written && told, `the trace shows resource ${id}`);
    return !ofLog.some(
      ({ name, begin, end, text }) =>
        /^f(data)?sync$/.test(name) && text.endsWith("= 0") && begin > written.end && end < told.begin,
    );
  });
}

function traceUnflushed(mode: "FULL" | "NORMAL"): { writes: number; unflushed: string[] } {
  const { folder, remove } = makeFolder();
  try {
    const strace = ["-y", "-e", "trace=pwrite64,fsync,fdatasync,write"];
    const { report, trace } = traceWriting(folder, { mode, strace });
    assert.deepEqual(report.problems, []);
    return {
      writes: report.acknowledged.length,
      unflushed: unflushed(parseTrace(trace), report.acknowledged),
    };
  } finally {
    remove();
  }
}

const skip = whyNoTrace();

test("every commit is acknowledged only after a flush of the log that covers it", { skip }, () => {
  assert.deepEqual(traceUnflushed("FULL"), { writes: 60, unflushed: [] });
});

test("the same look at a store that does not flush each commit finds them", { skip }, () => {
  const { writes, unflushed } = traceUnflushed("NORMAL");
  assert.ok(unflushed.length > writes / 2, `only ${unflushed.length} of ${writes}`);
});
