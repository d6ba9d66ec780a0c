/** Copies of the program with a fault in them, to see whether the tests find it. */
import { execFile } from "node:child_process";
import { cp, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

/** Puts a copy of the program into `folder` and applies a patch to it. Throws where the patch does not fit the sources any more. */
export async function copyPatched(patch: string, folder: string): Promise<void> {
  for (const part of ["bin", "src", "package.json"]) await cp(part, join(folder, part), { recursive: true });
  await symlink(resolve("node_modules"), join(folder, "node_modules"));
  await promisify(execFile)("git", ["apply", resolve(patch)], { cwd: folder });
}
