/**
 * `npm run build:binary [folder]`: writes a single executable of Node and Holdfast to a folder, by default `build/`. It is for
 * the platform of the Node that runs this file.
 */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import {
  addFile,
  bundleModules,
  bundleProgram,
  moduleFile,
  programFile,
  servingThreadFile,
  threadFiles,
} from "./bundle.ts";
import { commonPasswordsFile, writeCommonPasswords } from "./common-passwords.ts";
import { buildConsole } from "./console.ts";
import { copyDocsPage, docsPageFile } from "./docs-page.ts";
import { licencesFile, writeInventory } from "./inventory.ts";

const [target = "build"] = process.argv.slice(2);
const output = resolve(target, process.platform === "win32" ? "holdfast.exe" : "holdfast");

const temporary = mkdtempSync(join(tmpdir(), "holdfast-binary-"));
/** The files of the executable, as in `dist/` of a package. */
const parts = join(temporary, "dist");
try {
  mkdirSync(target, { recursive: true });
  await build();
} finally {
  rmSync(temporary, { recursive: true });
}

async function build(): Promise<void> {
  const contents = await bundleProgram(parts, []);
  await bundleModules(parts);
  copyDocsPage(parts, contents);
  writeCommonPasswords(parts, contents);
  const consoleFiles = await buildConsole(parts, contents);
  copyFileSync("package.json", join(temporary, "package.json"));
  addFile(contents, nodeLicence());
  writeInventory(target, contents);
  compile();
  makeExecutable([...threadFiles, moduleFile, docsPageFile, commonPasswordsFile, ...consoleFiles]);
}

/** Writes the program as a function, and the code that V8 compiles for it while it serves. */
function compile(): void {
  const program = readFileSync(join(parts, programFile), "latin1");
  writeFileSync(join(parts, "program"), `(function (exports, require, module, __filename) {${program}\n})`);
  const args = ["program", programFile, "compiled"].map((file) => join(parts, file));
  execFileSync(process.execPath, [resolve("tools/build/compiled.cjs"), ...args], {
    cwd: parts,
    env: {},
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** The licence of the Node in the executable, and of everything in Node. The package of this Node contains it. */
function nodeLicence(): string {
  const file = relative(".", resolve(process.execPath, "../../LICENSE"));
  if (existsSync(file) && file.startsWith("node_modules")) return file;
  throw new Error(`${process.execPath} is not the Node of the clone. Run: npm run build:binary`);
}

/** Puts the files into a copy of Node (https://nodejs.org/api/single-executable-applications.html). */
function makeExecutable(files: readonly string[]): void {
  const assets = Object.fromEntries(
    ["program", "compiled", ...files].map((file) => [file, join(parts, file)]),
  );
  const loader = resolve("tools/build/load.cjs");
  const configuration = join(parts, "executable.json");
  writeFileSync(
    configuration,
    JSON.stringify({
      main: loader,
      output,
      disableExperimentalSEAWarning: true,
      useCodeCache: true,
      assets: {
        ...assets,
        [servingThreadFile]: loader,
        [licencesFile]: resolve(target, licencesFile),
        "../package.json": resolve("package.json"),
      },
    }),
  );
  execFileSync(process.execPath, ["--build-sea", configuration], { stdio: ["ignore", "ignore", "inherit"] });
}
