/** Copies of this project with a fault, for the proof that the explorer finds faults. */
import { writeFileSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readlink, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Replacements, readSources, replaceIn } from "../faults/replacements.ts";
import { copyProject } from "../project.ts";

/** Puts a copy of this project with a fault into `folder`. Throws as `replaceIn`. */
export async function copyWithFault(replacements: Replacements, folder: string): Promise<void> {
  const changed = replaceIn(readSources(), replacements);
  await copyRunnable(folder);
  for (const [file, text] of changed) writeFileSync(join(folder, file), text);
}

/** The copy uses the installed packages and the built console of this checkout, but its own workspaces. */
async function copyRunnable(folder: string): Promise<void> {
  await copyProject(folder);
  await chmod(folder, 0o755); // some tests run programs as another user
  await mkdir(join(folder, "node_modules"));
  for (const name of await readdir("node_modules")) {
    const installed = join("node_modules", name);
    const isWorkspace = (await lstat(installed)).isSymbolicLink();
    await symlink(isWorkspace ? await readlink(installed) : resolve(installed), join(folder, installed));
  }
  await symlink(resolve("test/node_modules"), join(folder, "test/node_modules"));
  await mkdir(join(folder, "dist"));
  await symlink(resolve("dist/console"), join(folder, "dist/console"));
}
