/** Every parameter of a statement has a cast to its type, because clusters do not find the type of some without it. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const folder = join(import.meta.dirname, "../../src/store/postgres");
/** A parameter that no cast follows. In the replacement of a regular expression, a letter can follow. */
const bareParameter = /\$\d+(?![\w:])/;

test("every parameter of a statement has a type", () => {
  const files = globSync("**/*.ts", { cwd: folder });
  assert.ok(files.length > 25);
  const bare = files.flatMap((file) =>
    readFileSync(join(folder, file), "utf8")
      .split("\n")
      .flatMap((line, n) => (bareParameter.test(line) ? [`${file}:${n + 1} ${line.trim()}`] : [])),
  );
  assert.deepEqual(bare, []);
});
