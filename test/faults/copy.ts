/** Copies of this project with a fault, for the proofs that the tests and the explorer notice faults. */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readlink, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { copyProject } from "../project.ts";

/** Texts that occur exactly once in the sources, each with the text that replaces it. */
export type Replacements = readonly (readonly [text: string, replacement: string])[];

/** The texts of source files, by their paths in the project. */
type Sources = ReadonlyMap<string, string>;

/**
 * Puts a copy of this project into `folder`. It uses the installed packages and the built console of this checkout, but its own
 * workspaces.
 */
export async function copyRunnable(folder: string): Promise<void> {
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

/** Puts a copy of this project with a fault into `folder`. Throws as `replaceIn`. */
export async function copyWithFault(replacements: Replacements, folder: string): Promise<void> {
  const changed = replaceIn(readSources(), replacements);
  await copyRunnable(folder);
  for (const [file, text] of changed) writeFileSync(join(folder, file), text);
}

/** The sources of the service and of the packages for clients. */
export function readSources(): Sources {
  const files = globSync("{.,client,react-admin}/src/**/*.ts");
  return new Map(files.map((file) => [file, readFileSync(file, "utf8")]));
}

/** The files that change, as they become. Throws an Error if a text does not occur exactly once in all sources. */
export function replaceIn(sources: Sources, replacements: Replacements): Sources {
  const changed = new Map<string, string>();
  for (const [text, replacement] of replacements) {
    const current = new Map([...sources, ...changed]);
    const found = [...current].filter(([, content]) => content.includes(text));
    const [[file = "", content = ""] = [], ...others] = found;
    const [before = "", after, ...more] = content.split(text);
    if (after === undefined || others.length > 0 || more.length > 0) {
      const files = found.map(([name]) => name).join(", ");
      throw new Error(
        `This text must occur exactly once in the sources, but ${files === "" ? "it does not occur" : `it occurs several times (${files})`}: ${text}`,
      );
    }
    changed.set(file, before + replacement + after);
  }
  return changed;
}
