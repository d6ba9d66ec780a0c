/** Configuration files that would take the program down with them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeFolder } from "../folder.ts";
import { run } from "./cli.ts";

// Side by side, since some take as long as such a file is given: ten seconds.
describe("a configuration file", { concurrency: 3 }, () => {
  for (const code of [0, 7]) {
    test(`a file that calls process.exit(${code}) is told in one line, and the exit code is 1`, async (t) => {
      const cwd = makeFolder({ "holdfast.config.ts": `process.exit(${code});` });
      assert.deepEqual(await run(t, ["check"], { cwd }), {
        exitCode: 1,
        signal: null,
        stdout: "",
        stderr: "holdfast: holdfast.config.ts ended the program. Remove process.exit from it.\n",
      });
    });
  }

  test("a file that calls process.exit in a getter is told in one line too", async (t) => {
    const text = "export default { get port() { process.exit(0); } };";
    const cwd = makeFolder({ "holdfast.config.ts": text });
    const { exitCode, stderr } = await run(t, ["check"], { cwd });
    assert.equal(exitCode, 1);
    assert.match(stderr, /^holdfast: holdfast\.config\.ts ended the program[^\n]*\n$/);
  });

  for (const failure of ['throw new Error("no luck")', 'Promise.reject(new Error("no luck"))']) {
    test(`a file with a ${failure} that nobody waits for is told in one line`, async (t) => {
      const text = `setTimeout(() => {\n  ${failure};\n});\nawait new Promise(() => {});`;
      const cwd = makeFolder({ "holdfast.config.ts": text });
      const { exitCode, stderr } = await run(t, ["check"], { cwd });
      assert.equal(exitCode, 1);
      assert.match(stderr, /^holdfast: holdfast\.config\.ts cannot be read: no luck \(line 2[^\n]*\n$/);
    });
  }

  for (const [what, before] of [
    ["nothing", ""],
    ["a timer", "setInterval(() => {}, 1_000);"],
  ] as const) {
    test(`a file that waits for ever, with ${what} to keep it, is told in one line`, async (t) => {
      const cwd = makeFolder({ "holdfast.config.ts": `${before}\nawait new Promise(() => {});` });
      const { exitCode, stderr } = await run(t, ["check"], { cwd });
      assert.equal(exitCode, 1);
      assert.equal(
        stderr,
        "holdfast: holdfast.config.ts did not load within 10 s. Remove what its top level waits for.\n",
      );
    });
  }

  test("a timer that a file has left running does not keep a command that is done", async (t) => {
    const cwd = makeFolder({
      "holdfast.config.ts": "setInterval(() => {}, 1_000);\nexport default {};",
    });
    const { exitCode, stderr } = await run(t, ["check"], { cwd });
    assert.deepEqual({ exitCode, stderr }, { exitCode: 0, stderr: "" });
  });
});

test("an address with a password in the wrong place is told without the password", async (t) => {
  const cwd = makeFolder();
  const address = "postgres://ada:canary@db.example.org/x";
  for (const args of [
    [address],
    ["serve", address],
    ["export", address],
    ["serve", "--port", address],
    ["serve", "--prefix", address],
    ["check", "--config", address],
    ["keys", "list", "--store", address.replace("postgres", "postgress")],
  ]) {
    const { exitCode, stderr, stdout } = await run(t, args, { cwd });
    assert.equal(exitCode, 1, stderr);
    assert.match(stderr, /^holdfast: .+\n$/);
    assert.doesNotMatch(stderr + stdout, /canary/);
  }
});
