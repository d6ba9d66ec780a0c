/** The guide to `holdfast/testing`: its test passes, and fails for another configuration. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { nodeFlags } from "../node.ts";
import { blocksOf, readPage } from "./markdown.ts";

const files = Object.fromEntries(
  blocksOf(readPage("docs/how-to/test-your-configuration.md")).map(({ about, text }) => [about, text]),
);

/** Runs the test of the page with a configuration. */
function runTest(configuration: string) {
  const cwd = makeFolder({
    ...files,
    "holdfast.config.ts": configuration,
    "package.json": '{"type":"module"}',
  });
  mkdirSync(join(cwd, "node_modules"));
  symlinkSync(resolve("."), join(cwd, "node_modules/holdfast"), "junction");
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // it would make the inner test report to the outer one
  const { status, stdout } = spawnSync(process.execPath, [...nodeFlags, "--test"], {
    cwd,
    env,
    encoding: "utf8",
  });
  return { status, stdout };
}

test("the test of the page passes, and fails if the configuration breaks its promise", () => {
  const configuration = files["holdfast.config.ts"] ?? "";
  const right = runTest(configuration);
  assert.equal(right.status, 0, right.stdout);
  const wrong = runTest(configuration.replace("resource.price > previous.price", "resource.price < 0"));
  assert.equal(wrong.status, 1, wrong.stdout);
});
