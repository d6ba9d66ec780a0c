/** The faults that a test must notice. Each is a patch whose first lines describe it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = "test/faults/patches";

/** A fault that a developer could make. */
export interface Fault {
  name: string;
  /** The path of the patch. */
  patch: string;
  /** The text of the patch. */
  text: string;
  /** What is wrong, in one sentence. The fault can be made again from it when the code has changed. */
  sentence: string;
  /** The test file that must notice it. */
  test: string;
}

/** All faults, by name. Throws if the first lines of a patch are not a sentence and the name of a test file. */
export function readFaults(): Fault[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(".patch"));
  return files.sort().map((file) => {
    const patch = join(folder, file);
    const text = readFileSync(patch, "utf8");
    const [, sentence, test] =
      /^(\S.+\.)\nTest: (test\/\S+\.test\.ts)\n\n(?:diff --git|---) /.exec(text) ?? [];
    if (sentence === undefined || test === undefined)
      throw new Error(
        `${patch} must begin with a sentence, a line such as "Test: test/a.test.ts", and a blank line.`,
      );
    return { name: file.replace(/\.patch$/, ""), patch, text, sentence, test };
  });
}
