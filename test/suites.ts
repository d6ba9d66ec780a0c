/** Public test suites, as data: read from the folder that HOLDFAST_TEST_SUITES names, and never a part of this project. */
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The path of a suite, or the reason why its tests are skipped. */
export function findSuite(name: string): { folder: string; skip: string | false } {
  const root = process.env.HOLDFAST_TEST_SUITES;
  if (root === undefined)
    return {
      folder: "",
      skip: `needs the public suite ${name}: name the folder that has it in HOLDFAST_TEST_SUITES (see CONTRIBUTING.md)`,
    };
  const folder = join(root, name);
  return {
    folder,
    skip: existsSync(folder)
      ? false
      : `needs the public suite ${name} in ${folder}, which HOLDFAST_TEST_SUITES names (see CONTRIBUTING.md)`,
  };
}
