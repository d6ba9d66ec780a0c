/** How the bench starts the programs that it measures. */
import assert from "node:assert/strict";
import { readlinkSync } from "node:fs";
import { test } from "node:test";
import { node } from "../../bench/harness/commands.ts";
import { startProgram, stopServer } from "../../bench/harness/server.ts";

const isLinux = process.platform === "linux";

test("a measured program never has the terminal of the bench, where Holdfast would log every request", {
  skip: isLinux ? false : "only Linux says which file a process writes to",
}, async () => {
  const server = await startProgram([...node, "-e", "console.log(1234); setInterval(() => {}, 1000)"]);
  try {
    assert.equal(server.port, 1234);
    const own = readlinkSync("/proc/self/fd/2");
    assert.notEqual(readlinkSync(`/proc/${server.child.pid}/fd/2`), own);
  } finally {
    await stopServer(server);
  }
});
