/** The files of this project, without other files in a checkout. */
import { cp } from "node:fs/promises";
import { basename, resolve } from "node:path";

const notOfTheProject =
  /^(?:node_modules|dist|coverage|test-results|\.git)$|\.(?:db|db-wal|db-shm|db\.lock|lock-journal|tgz)$/;

/** Copies the files of this project, committed or not, into `folder`. */
export async function copyProject(folder: string): Promise<void> {
  const filter = (file: string) => !notOfTheProject.test(basename(file)) || file === resolve(".");
  await cp(resolve("."), folder, { recursive: true, filter });
}
