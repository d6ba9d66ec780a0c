/** The messages of the program in a clone that cannot run it yet. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { environmentOfTheMachine } from "./stranger.ts";

test("a clone that was not set up says that npm ci must run first, and where", async () => {
  const clone = makeFolder({ "package.json": '{"type":"module"}' });
  cpSync("bin", join(clone, "bin"), { recursive: true });
  mkdirSync(join(clone, "src"));
  writeFileSync(join(clone, "src/cli.ts"), "");
  const { status, stderr } = spawnSync(process.execPath, [join(clone, "bin/holdfast.js")], {
    encoding: "utf8",
  });
  assert.equal(stderr, `holdfast: run "npm ci" in ${clone}/ first.\n`);
  assert.equal(status, 1);
});

test("with an older Node, the message has a command that puts the Node of the clone on the path", (t) => {
  const env = environmentOfTheMachine();
  const versionOf = (line: string) =>
    Number.parseInt(spawnSync("bash", ["-c", line], { env, encoding: "utf8" }).stdout.slice(1), 10);
  const machine = versionOf("node --version");
  if (!(machine < 24)) return t.skip(`the Node of this machine is ${machine}, and not older than 24`);
  const { status, stderr } = spawnSync("node", [resolve("bin/holdfast.js")], { env, encoding: "utf8" });
  assert.equal(status, 1);
  const [, command = ""] = /this is Node \d+\S+\. .+: (export .+)\n$/.exec(stderr) ?? [];
  assert.equal(versionOf(`${command}; node --version`), 26, stderr);
});
