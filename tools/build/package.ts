/**
 * `npm run build`: writes `dist/`, which is the program in the package. npm installs the packages of `dependencies` beside it. With
 * `--complete`, `dist/` contains them: an image of a container needs no `node_modules` then.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { bundleModules, bundleProgram, packagesOutside, servingThreadFile } from "./bundle.ts";
import { writeCommonPasswords } from "./common-passwords.ts";
import { buildConsole } from "./console.ts";
import { copyDocsPage } from "./docs-page.ts";
import { writeInventory } from "./inventory.ts";
import { writeTypes } from "./types.ts";

const isComplete = process.argv.includes("--complete");

rmSync("dist", { recursive: true, force: true });
writeTypes("dist");
const contents = await bundleProgram("dist", isComplete ? [] : packagesOutside());
await bundleModules("dist");
mkdirSync("dist/server", { recursive: true });
writeFileSync(`dist/${servingThreadFile}`, 'require("../holdfast.cjs").runThread();\n');
writeFileSync("dist/cli.cjs", 'require("./holdfast.cjs").runCommandLine();\n');
copyDocsPage("dist", contents);
writeCommonPasswords("dist", contents);
await buildConsole("dist", contents);
writeInventory("dist", contents);
