/** What npm runs before it publishes a package. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { makeFolder } from "../folder.ts";

/** Runs the check in a folder with this `package.json`. */
const check = async (cwd: string) =>
  promisify(execFile)(process.execPath, [join(process.cwd(), "tools/check-metadata.js")], { cwd }).then(
    () => "",
    (error) => error.stderr as string,
  );

test("a package is not published while it does not name its repository", async () => {
  for (const path of ["package.json", "client/package.json", "react-admin/package.json"]) {
    const { repository, bugs, ...metadata } = JSON.parse(await readFile(path, "utf8"));
    assert.match(metadata.scripts.prepublishOnly, /^node (\.\.\/)?tools\/check-metadata\.js$/);
    assert.match(
      await check(makeFolder({ "package.json": JSON.stringify(metadata) })),
      /^holdfast.* cannot be published yet\. Add to its package\.json: "repository": .+ and "bugs": .+\.\n$/,
    );
    const complete = {
      ...metadata,
      repository: { url: "https://example.org/r" },
      bugs: { url: "https://example.org/b" },
    };
    assert.equal(await check(makeFolder({ "package.json": JSON.stringify(complete) })), "");
  }
});
