/** Copies of this project with a fault in them, to see whether the tests find it. */
import { execFile } from "node:child_process";
import { lstat, mkdir, readdir, readlink, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { copyProject } from "../project.ts";

const run = promisify(execFile);

/** Puts a copy of this project into `folder`, ready to run, and applies a patch to it. Throws if the patch does not apply. */
export async function copyPatched(patch: string, folder: string): Promise<void> {
  await copyRunnable(folder);
  await applyPatch(patch, folder);
}

/** Puts a copy of this project into `folder`. It uses the installed packages of this checkout, but its own workspaces. */
export async function copyRunnable(folder: string): Promise<void> {
  await copyProject(folder);
  await mkdir(join(folder, "node_modules"));
  for (const name of await readdir("node_modules")) {
    const installed = join("node_modules", name);
    const isWorkspace = (await lstat(installed)).isSymbolicLink();
    await symlink(isWorkspace ? await readlink(installed) : resolve(installed), join(folder, installed));
  }
}

/** Throws, with the reason that git gives, if a patch does not apply to this checkout. */
export async function requireApplicable(patch: string): Promise<void> {
  await run("git", ["apply", "--check", resolve(patch)]);
}

async function applyPatch(patch: string, folder: string): Promise<void> {
  await run("git", ["apply", resolve(patch)], { cwd: folder });
}
