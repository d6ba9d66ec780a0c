/** Output that cannot be written, as a shell makes it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { describe, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { node } from "../node.ts";
import { ceilingMs } from "../until.ts";
import { run } from "./cli.ts";

const noRoom = "holdfast: standard output cannot be written: the disk is full.\n";
const lines = Array.from({ length: 20_000 }, (_, n) => `{"id":"${String(n).padStart(6, "0")}"}\n`);

/** Runs a shell script in which `holdfast` is the program. */
function shell(cwd: string, script: string) {
  const program = `holdfast() { ${[...node, resolve("bin/holdfast.js")].map((word) => `"${word}"`).join(" ")} "$@"; }`;
  const options = { cwd, encoding: "utf8", timeout: 5 * ceilingMs } as const;
  const { status, stdout, stderr } = spawnSync("sh", ["-c", `${program}\n${script}`], options);
  return { status, stdout, stderr };
}

describe("on a full disk", {
  skip: !existsSync("/dev/full") && "needs /dev/full: run the tests on Linux",
}, () => {
  test("every command that writes to standard output says so in one line", async (t) => {
    const cwd = makeFolder({ things: lines.join(""), few: "{}" });
    for (const name of ["things", "few"]) await run(t, ["import", name, name], { cwd });
    for (const command of ["export things", "export few", "check", "--help", "import others few"])
      assert.deepEqual(
        shell(cwd, `holdfast ${command} > /dev/full`),
        { status: 1, stdout: "", stderr: noRoom },
        command,
      );
  });

  test("an exit code is all that is left when standard error has none either", async () => {
    const cwd = makeFolder();
    assert.equal(shell(cwd, "holdfast --help > /dev/full 2> /dev/full").status, 1);
    assert.equal(shell(cwd, "holdfast export things 2> /dev/full").status, 1);
  });
});

describe("a reader that has seen enough", () => {
  const first = lines[0];

  test("ends an export quietly", async (t) => {
    const cwd = makeFolder({ things: lines.join("") });
    await run(t, ["import", "things", "things"], { cwd });
    const exported = shell(cwd, "{ holdfast export things; echo $? >&2; } | head -1");
    assert.deepEqual(exported, { status: 0, stdout: first, stderr: "0\n" });
  });

  for (const command of ["check", "--help"]) {
    test(`ends holdfast ${command} quietly`, async () => {
      // The pipe has lost its reader before anything is written.
      const ended = shell(makeFolder(), `{ sleep 0.5; holdfast ${command}; echo $? >&2; } | true`);
      assert.deepEqual(ended, { status: 0, stdout: "", stderr: "0\n" });
    });
  }
});
