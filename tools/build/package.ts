/** `npm run build`: writes `dist/`, which is the program in the package. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { bundleModule, bundleProgram, servingThreadFile } from "./bundle.ts";
import { buildConsole } from "./console.ts";
import { copyDocsPage } from "./docs-page.ts";
import { writeInventory } from "./inventory.ts";
import { writeTypes } from "./types.ts";

const { dependencies = {} } = JSON.parse(readFileSync("package.json", "utf8"));

rmSync("dist", { recursive: true, force: true });
writeTypes("dist");
const contents = await bundleProgram("dist", Object.keys(dependencies)); // npm installs the dependencies
await bundleModule("dist");
mkdirSync("dist/server", { recursive: true });
writeFileSync(`dist/${servingThreadFile}`, 'require("../holdfast.cjs").runThread();\n');
writeFileSync("dist/cli.cjs", 'require("./holdfast.cjs").runCommandLine();\n');
copyDocsPage("dist", contents);
await buildConsole("dist", contents);
writeInventory("dist", contents);
