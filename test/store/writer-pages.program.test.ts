import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { defaultHistory } from "../../src/store/port/options.ts";
import { type Cell, encodeCommit } from "../../src/store/sqlite/commit/protocol.ts";
import { createLogReader, duePages, mostWriterPages } from "../../src/store/sqlite/file/log-state.ts";
import { prepareFile } from "../../src/store/sqlite/file/open-file.ts";
import { openWriter } from "../../src/store/sqlite/writer/writer.ts";
import { makeFolder } from "../folder.ts";
import { created, declaration, topic } from "./contract/fixture.ts";

const topics = declaration("topics");

test("a write does not move the pages into the file that have waited for a long reader", () => {
  const folder = makeFolder();
  const path = join(folder, "x.db");
  prepareFile(path);
  const writer = openWriter({ path, synchronous: "FULL", groupCommit: true, history: defaultHistory });
  const other = new DatabaseSync(path, { readOnly: true });
  const readLog = createLogReader(other);
  const write = (id: string, pad: string) => {
    const cells: Cell[] = [];
    encodeCommit(cells, { changes: [created(topic(id), { pad })], at: 1 }, () => 1);
    writer.commit([[1, cells]]);
    writer.checkpointIfDue(32);
  };
  assert.ok("result" in writer.perform({ name: "migrate", args: [[topics]] }));
  for (let n = 0; n < 20; n++) write(`before${n}`, "x".repeat(1_000_000));
  assert.ok(readLog().waiting < duePages, "without a reader, the writer moves what it writes");

  other.exec("begin; select 1 from meta");
  for (let n = 0; n < 40; n++) write(`during${n}`, "x".repeat(1_000_000));
  other.exec("commit");
  const { waiting } = readLog();
  assert.ok(waiting > 2 * mostWriterPages, String(waiting));
  for (let n = 0; n < 10; n++) write(`after${n}`, "x".repeat(1_000_000));
  assert.ok(readLog().waiting > waiting);

  writer.perform({ name: "restartLog", args: [] });
  assert.ok(readLog().all < 10, "the log starts again");
  other.close();
  writer.perform({ name: "close", args: [] });
});
