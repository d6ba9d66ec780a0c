/** The files of this project, without other files in a checkout. */
import { globSync } from "node:fs";
import { cp } from "node:fs/promises";
import { basename, join, resolve } from "node:path";

const notOfTheProject =
  /^(?:node_modules|dist|coverage|test-results|\.git)$|\.(?:db|db-wal|db-shm|db\.lock|lock-journal|tgz)$/;

/** Copies the files of this project, committed or not, into `folder`. */
export async function copyProject(folder: string): Promise<void> {
  const filter = (file: string) => !notOfTheProject.test(basename(file)) || file === resolve(".");
  await cp(resolve("."), folder, { recursive: true, filter });
}

/** The paths of all files and folders below a folder, without installed packages. */
export function pathsBelow(folder: string): string[] {
  const isPackages = (path: string) => basename(path) === "node_modules";
  return globSync("**", { cwd: folder, exclude: isPackages })
    .filter((path) => path !== ".")
    .map((path) => join(folder, path))
    .sort();
}

/** The paths of all test files. */
export function testFiles(): string[] {
  return pathsBelow("test").filter((path) => path.endsWith(".test.ts"));
}
