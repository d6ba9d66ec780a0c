/** Which packages the built files import, and which they contain. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { test } from "node:test";
import { bundleModules, bundleProgram, packagesOutside } from "../../tools/build/bundle.ts";
import { makeFolder } from "../folder.ts";
import { bundledFolders } from "./inventory.ts";

const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
  dependencies: Record<string, string>;
};

/** The packages that the files of a folder import. A text in quotes, such as the code that Ajv can write, imports nothing. */
function importedPackages(cwd: string): string[] {
  const names = new Set<string>();
  for (const file of globSync(`${cwd}/**/*.{cjs,js}`))
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(
      /(?:(?<![\w.'"`])(?:require|import)|\(__fileUrl\))\(\s*"((?:@[^"/]+\/)?[^"./][^"/]*)|\bfrom "((?:@[^"/]+\/)?[^"./][^"/]*)/g,
    ))
      if (name !== "" && !isBuiltin(name)) names.add(name);
  return [...names];
}

test("the package declares each package that its files import or contain, by its exact version, and no other", async () => {
  const cwd = makeFolder();
  await bundleProgram(cwd, packagesOutside());
  await bundleModules(cwd);
  const contained = bundledFolders(cwd).map((path) => path.replace(/^.*node_modules\//, ""));
  assert.deepEqual([...importedPackages(cwd), ...contained].sort(), Object.keys(dependencies).sort());
  for (const [name, version] of Object.entries(dependencies)) assert.match(version, /^\d+\.\d+\.\d+$/, name);
});

test("the bundle of the single executable and of the image imports no package", async () => {
  const cwd = makeFolder();
  await bundleProgram(cwd, []);
  assert.deepEqual(importedPackages(cwd), ["pg-native"]); // `pg` tries to load it only if an application asks for it
});
