import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { folder, run } from "./cli.ts";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

test("--version prints the version and nothing else", async (t) => {
  const cwd = await folder(t);
  assert.deepEqual(await run(t, ["--version"], { cwd }), {
    exitCode: 0,
    signal: null,
    stdout: `${version}\n`,
    stderr: "",
  });
});

test("--help names every command", async (t) => {
  const { exitCode, stdout } = await run(t, ["--help"], { cwd: await folder(t) });
  assert.equal(exitCode, 0);
  for (const command of ["serve", "import", "export", "check"])
    assert.match(stdout, new RegExp(`^ +${command} `, "m"));
});

for (const command of ["serve", "import", "export", "check"]) {
  test(`${command} --help has an example that begins with the command`, async (t) => {
    const { exitCode, stdout, stderr } = await run(t, [command, "--help"], { cwd: await folder(t) });
    assert.equal(exitCode, 0);
    assert.equal(stderr, "");
    assert.match(stdout, new RegExp(`\nExample:\n {2}holdfast ${command} `));
    assert.match(stdout, /--config <file>/);
    assert.match(stdout, /--store <address>/);
  });
}

const mistakes: readonly { args: string[]; says: RegExp }[] = [
  { args: ["imprt", "topics", "x"], says: /unknown command 'imprt'.*import/ },
  { args: ["serve", "--prot", "4000"], says: /unknown option '--prot'.*--port/ },
  { args: ["import", "topics"], says: /missing required argument 'file'/ },
  { args: ["export"], says: /missing required argument 'collection'/ },
  { args: ["check", "extra"], says: /too many arguments/ },
  { args: ["import", "topics", "x", "--skip-invalids"], says: /--skip-invalid/ },
];

for (const { args, says } of mistakes) {
  test(`\`holdfast ${args.join(" ")}\` is one line on stderr and exit code 1`, async (t) => {
    const { exitCode, stdout, stderr } = await run(t, args, { cwd: await folder(t) });
    assert.equal(exitCode, 1);
    assert.equal(stdout, "");
    assert.match(stderr, says);
    assert.match(stderr, /^holdfast: [^\n]+\n$/);
  });
}
