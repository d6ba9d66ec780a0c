import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, run } from "./cli.ts";

/** A folder with a backup in which one character of a resource is not the one that was written. */
async function changed(t: TestContext): Promise<string> {
  const notes = '{"id":"a","name":"Xanthippe"}\n{"id":"b","name":"Sokrates"}\n';
  const cwd = makeFolder({ "notes.ndjson": notes, ...configuration({ notes: {} }) });
  for (const args of [
    ["import", "notes", "notes.ndjson", "--store", "sqlite:shop.db"],
    ["backup", "backup.db", "--store", "sqlite:shop.db"],
  ]) {
    const { exitCode, stderr } = await run(t, args, { cwd });
    assert.equal(exitCode, 0, stderr);
  }
  const content = readFileSync(join(cwd, "backup.db"));
  content.write("Z", content.indexOf("Sokrates"));
  await writeFile(join(cwd, "backup.db"), content);
  return cwd;
}

const differs = /^holdfast: \S+backup\.db differs from the backup that was made\. [^\n]+\n$/m;

test("every command refuses a changed backup", async (t) => {
  const cwd = await changed(t);
  const before = readFileSync(join(cwd, "backup.db"));
  for (const command of [
    ["check"],
    ["export", "notes"],
    ["backup", "second.db"],
    ["import", "notes", "notes.ndjson"],
    ["erase", "notes", "a"],
    ["keys", "list"],
    ["serve", "--port", "0"],
  ] as const) {
    const { exitCode, stderr } = await run(t, [...command, "--store", "sqlite:backup.db"], { cwd });
    assert.equal(exitCode, 1, `${command[0]}: ${stderr}`);
    assert.match(stderr, differs, command.join(" "));
  }
  assert.ok(readFileSync(join(cwd, "backup.db")).equals(before));
});
