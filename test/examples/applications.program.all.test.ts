/**
 * The example applications, and the guide to code of your own, in a clone. `test/commands/pack` and `test/commands/binary` run the
 * applications in the package and in the executable.
 */
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { follow } from "../first-hour/tutorial.ts";
import { makeFolder } from "../folder.ts";
import { node } from "../node.ts";
import { followApplications, withNpx } from "./applications.ts";

const holdfast = [...node, resolve("bin/holdfast.js")];

/** A folder in which configurations find the sources as the package. */
function makeProject(): string {
  const cwd = makeFolder();
  mkdirSync(join(cwd, "node_modules"));
  symlinkSync(resolve("."), join(cwd, "node_modules/holdfast"), "junction");
  return cwd;
}

test("the example applications, in a clone:", (t) => followApplications(t, { cwd: makeProject(), holdfast }));

test("the guide builds its application step by step, with the outputs that it prints", async (t) => {
  const guide = readFileSync("docs/how-to/add-your-own-logic.md", "utf8");
  const withoutInstallation = guide.replaceAll(/^```sh\n.*?^```$/gms, "");
  const project = makeProject();
  await follow(t, withoutInstallation, { clone: project, project, preparations: [withNpx(holdfast)] });
});
