#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that an old one gets a sentence and not a stack trace. It is a CommonJS module
// (`package.json` in this folder), because the package then starts without Node's loader of ES modules.
const { existsSync } = require("node:fs");
const nodeModule = require("node:module");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");

const oldestNode = 24;
const root = join(__dirname, "../");
const source = join(root, "src/cli.ts");
const isClone = existsSync(source);

/** @param {string} message */
function refuse(message) {
  process.stderr.write(`holdfast: ${message}\n`);
  process.exit(1);
}

if (isClone && !existsSync(join(root, "node_modules"))) refuse(`run "npm ci" in ${root} first.`);

if (Number.parseInt(process.versions.node, 10) < oldestNode) {
  const tools = join(root, "node_modules/.bin");
  const command =
    process.platform === "win32" ? `$env:PATH = "${tools};$env:PATH"` : `export PATH="${tools}:$PATH"`;
  const advice = isClone ? ` To use the Node of the clone, run: ${command}` : "";
  refuse(`Node ${oldestNode} or newer is required, but this is Node ${process.versions.node}.${advice}`);
}

// The next start is faster: it does not strip types and compile again. It must be here, because otherwise every start of the
// clone loads Node's TypeScript parser for the first file. Threads find the cache in the environment.
if (process.env.NODE_COMPILE_CACHE === undefined) {
  const { directory } = nodeModule.enableCompileCache();
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE = directory;
}

// The clone runs its sources as they are; the published package holds only a bundle of them.
if (isClone) void import(pathToFileURL(source).href);
else require("../dist/cli.cjs");
