import assert from "node:assert/strict";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { run } from "./cli.ts";

const unwritable = [
  { output: "no/such/x.ndjson", says: "its folder does not exist" },
  { output: "things/x.ndjson", says: "a part of its path is not a folder" },
  { output: "folder", says: "it is a folder" },
];

for (const { output, says } of unwritable) {
  test(`an export to ${output} is one line: ${says}`, async (t) => {
    const cwd = makeFolder({ things: "{}" });
    await mkdir(join(cwd, "folder"));
    await run(t, ["import", "things", "things"], { cwd });
    const { exitCode, stderr } = await run(t, ["export", "things", "--output", output], { cwd });
    assert.deepEqual(
      { exitCode, stderr },
      { exitCode: 1, stderr: `holdfast: ${output} cannot be written: ${says}.\n` },
    );
    assert.deepEqual(
      (await readdir(cwd)).filter((name) => /unfinished|x\.ndjson/.test(name)),
      [],
    );
  });
}
