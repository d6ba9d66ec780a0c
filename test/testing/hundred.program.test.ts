import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { nodeFlags } from "../node.ts";

test("100 services in one process share nothing, and need no thread, no socket and no file", {
  skip: process.platform !== "linux" && "only Linux names the open files of a process",
}, () => {
  const [cwd, temporary] = [makeFolder(), makeFolder()];
  const program = resolve("test/testing/programs/hundred.ts");
  const { stdout, stderr } = spawnSync(process.execPath, [...nodeFlags, program], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, TMPDIR: temporary, SQLITE_TMPDIR: temporary },
  });
  assert.equal(stderr, "");
  assert.deepEqual(JSON.parse(stdout), {
    own: 100,
    opened: [],
    threads: 0,
    kinds: ["Timeout"],
    left: [],
    inFolders: [],
  });
});
