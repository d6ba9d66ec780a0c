/** Public test suites, as data: read from the folder that HOLDFAST_SUITES names, and never a part of this project. */
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Where a suite is, or the reason why its tests are skipped. */
export function findSuite(name: string): { folder: string; skip: string | false } {
  const root = process.env.HOLDFAST_SUITES;
  if (root === undefined)
    return { folder: "", skip: `HOLDFAST_SUITES names no folder, so ${name} is NOT RUN` };
  const folder = join(root, name);
  return { folder, skip: existsSync(folder) ? false : `${folder} is not there, so ${name} is NOT RUN` };
}
