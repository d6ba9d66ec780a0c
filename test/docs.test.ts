import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createCommands } from "../src/commands/run.ts";
import { longFlagOf, options } from "../src/config/options.ts";
import { problems } from "../src/errors.ts";

test("the HTTP reference lists every problem with its status, and no other", () => {
  const reference = readFileSync("docs/reference/http.md", "utf8");
  const listed = [...reference.matchAll(/^\| `([A-Z][A-Z_0-9]+)` \| (\d{3}) \| (.+) \|$/gm)].map(
    ([, code, status, meaning]) => [code, Number(status), meaning],
  );
  const known = Object.entries(problems).map(([code, { status, meaning }]) => [code, status, meaning]);
  assert.deepEqual(listed, known);
});

test("the configuration reference lists every option with flag, variable and default, and no other", () => {
  const reference = readFileSync("docs/reference/configuration.md", "utf8");
  const listed = [
    ...reference.matchAll(/^\| `([A-Za-z.]+)` \| (?:`(--[a-z-]+)`)? \| (?:`(\w+)`)? \| (.+?) \| (.+) \|$/gm),
  ].map(([, ...cells]) => cells);
  const known = Object.entries(options).map(([name, option]) => [
    name,
    longFlagOf(option),
    "env" in option ? option.env : undefined,
    option.shownDefault,
    option.about,
  ]);
  assert.deepEqual(listed, known);
});

test("the command line reference has a section for every command, and for no other", () => {
  const reference = readFileSync("docs/reference/command-line.md", "utf8");
  const sections = [...reference.matchAll(/^## `holdfast ([a-z]+)/gm)].map(([, name]) => name);
  assert.deepEqual(
    sections,
    createCommands({}).map((command) => command.name()),
  );
});
