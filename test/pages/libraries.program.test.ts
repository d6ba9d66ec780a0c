/** The guide to the single executable names every library that it needs. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { readPage } from "./markdown.ts";

// The single executable is a copy of the Node that runs the tests.
test("the guide to the single executable names every library that it needs", {
  skip: process.platform !== "linux" && "the libraries differ",
}, () => {
  const { text } = readPage("docs/how-to/install.md");
  const loaded = execFileSync("ldd", [process.execPath], { encoding: "utf8" });
  const names = Array.from(loaded.matchAll(/^\s*(lib\S+) => /gm), ([, name = ""]) => name);
  assert.ok(names.length > 0, loaded);
  const ofGlibc = /^lib(?:c|m|dl|pthread|rt)\.so/;
  for (const name of names.filter((each) => !ofGlibc.test(each)))
    assert.ok(text.includes(`\`${name}\``), name);
});
