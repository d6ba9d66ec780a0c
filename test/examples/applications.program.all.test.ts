/** The example applications in a clone. `test/commands/pack` and `test/commands/binary` run them in the package and the executable. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { node } from "../node.ts";
import { followApplications } from "./applications.ts";

test("the example applications, in a clone:", async (t) => {
  const cwd = makeFolder();
  mkdirSync(join(cwd, "node_modules"));
  symlinkSync(resolve("."), join(cwd, "node_modules/holdfast"), "junction");
  await followApplications(t, { cwd, holdfast: [...node, resolve("bin/holdfast.js")] });
});
