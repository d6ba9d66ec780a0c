import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { parseTrace, tracing, whyNoTrace } from "../strace.ts";
import { createMarked } from "./marked.ts";
import { end, startProgram } from "./program.ts";

const skip = whyNoTrace();

test("a start flushes the log of a killed process before it serves what is in it", { skip }, async () => {
  const folder = makeFolder();
  const store = join(folder, "x.db");
  const killed = await startProgram(store);
  await createMarked(killed.port);
  await end(killed, "SIGKILL");
  // While another program reads the file, SQLite does not move the log into it, which would flush the log too.
  const reader = new DatabaseSync(store, { readOnly: true });
  reader.prepare("select count(*) from sqlite_schema").get();
  const file = join(folder, "trace");
  const more = ["-y", "-s", "200"];
  const started = await startProgram(store, tracing("pwrite64,fdatasync,fsync,write,writev", { file, more }));
  await end(started, "SIGTERM");
  reader.close();
  const calls = parseTrace(readFileSync(file, "latin1"));
  const first = calls.find((call) => call.file === `${store}-wal` || call.text.includes(" listens on "));
  assert.match(first?.text ?? "no call", /^f(?:data)?sync\(/);
});
