import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createCommands } from "../../src/commands/command-table.ts";
import { longFlagOf, options } from "../../src/config/options.ts";
import { makeFolder } from "../folder.ts";
import { run } from "./cli.ts";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

const commands = createCommands({}).map((command) => command.name());

test("--version prints the version and nothing else", async (t) => {
  const cwd = makeFolder();
  assert.deepEqual(await run(t, ["--version"], { cwd }), {
    exitCode: 0,
    signal: null,
    stdout: `${version}\n`,
    stderr: "",
  });
});

test("--help names every command", async (t) => {
  const { exitCode, stdout } = await run(t, ["--help"], { cwd: makeFolder() });
  assert.equal(exitCode, 0);
  for (const command of commands) assert.match(stdout, new RegExp(`^ +${command} `, "m"));
  const [, listed = ""] = /\nCommands:\n(.+?)\n\n/s.exec(stdout) ?? [];
  assert.equal(listed.split("\n").length, commands.length + 1, "one line for each command and for help");
});

for (const command of commands) {
  test(`${command} --help has an example that a reader can paste`, async (t) => {
    const { exitCode, stdout, stderr } = await run(t, [command, "--help"], { cwd: makeFolder() });
    assert.equal(exitCode, 0);
    assert.equal(stderr, "");
    assert.match(stdout, new RegExp(`\nExample:\n {2}npx holdfast ${command}[ \\n]`));
    assert.match(stdout, /--config <file>/);
    assert.match(stdout, /--store <address>/);
  });
}

test("serve --help describes every flag of the table of options", async (t) => {
  const { stdout } = await run(t, ["serve", "--help"], { cwd: makeFolder() });
  const help = stdout.replaceAll(/\s+/g, " ").replaceAll('"', "");
  for (const option of Object.values(options)) {
    if (!("flag" in option)) continue;
    assert.ok(help.includes(`${option.flag} ${option.about.replaceAll("`", "")} (default: `), option.flag);
  }
});

test("serve refuses a wrong value of each flag, and says what is right", async (t) => {
  const cwd = makeFolder();
  const wrong = {
    "--store": "xy:z",
    "--host": "",
    "--port": "x",
    "--threads": "x",
    "--public-url": "x",
    "--prefix": "x",
    "--log": "x",
    "--metrics": "x",
    "--console": "x",
  };
  const flags = Object.values(options).map((option) => longFlagOf(option));
  assert.deepEqual(
    Object.keys(wrong),
    flags.filter((flag) => flag !== undefined),
  );
  for (const [flag, value] of Object.entries(wrong)) {
    const { exitCode, stderr } = await run(t, ["serve", flag, value], { cwd });
    assert.equal(exitCode, 1);
    assert.match(
      stderr,
      flag === "--store" ? /^holdfast: store: / : new RegExp(`^holdfast: ${flag} must be `),
    );
  }
});

const refusals: readonly { args: string[]; says: RegExp }[] = [
  { args: ["imprt", "topics", "x"], says: /unknown command 'imprt'.*import/ },
  { args: ["serve", "--prot", "4000"], says: /unknown option '--prot'.*--port/ },
  {
    args: ["import", "topics"],
    says: /topics cannot be read.*name a collection: npx holdfast import <collection> topics/,
  },
  { args: ["import"], says: /missing required argument 'collection' \(see npx holdfast import --help\)/ },
  { args: ["export"], says: /missing required argument 'collection'/ },
  {
    args: ["--port", "4000"],
    says: /unknown option '--port' \(Did you mean npx holdfast serve --port …\?\)/,
  },
  {
    args: ["--output", "x"],
    says: /unknown option '--output' \(Did you mean npx holdfast init --output …\?\)/,
  },
  { args: ["check", "extra"], says: /too many arguments/ },
  { args: ["import", "topics", "x", "--skip-invalids"], says: /--skip-invalid/ },
];

for (const { args, says } of refusals) {
  test(`\`holdfast ${args.join(" ")}\` is one line on stderr and exit code 1`, async (t) => {
    const { exitCode, stdout, stderr } = await run(t, args, { cwd: makeFolder() });
    assert.equal(exitCode, 1);
    assert.equal(stdout, "");
    assert.match(stderr, says);
    assert.match(stderr, /^holdfast: [^\n]+\n$/);
  });
}
