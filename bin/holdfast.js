#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that an old one gets a sentence and not a stack trace.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const oldestNode = 24;
const source = new URL("../src/cli.ts", import.meta.url);
const isClone = existsSync(source);

/** @param {string} message */
function refuse(message) {
  process.stderr.write(`holdfast: ${message}\n`);
  process.exit(1);
}

if (isClone && !existsSync(new URL("../node_modules", import.meta.url)))
  refuse(`run "npm ci" in ${fileURLToPath(new URL("..", import.meta.url))} first.`);

if (Number.parseInt(process.versions.node, 10) < oldestNode) {
  const tools = fileURLToPath(new URL("../node_modules/.bin", import.meta.url));
  const command =
    process.platform === "win32" ? `$env:PATH = "${tools};$env:PATH"` : `export PATH="${tools}:$PATH"`;
  const advice = isClone ? ` To use the Node of the clone, run: ${command}` : "";
  refuse(`Node ${oldestNode} or newer is required, but this is Node ${process.versions.node}.${advice}`);
}

// The clone runs its sources as they are; the published package holds only what was compiled.
await import(isClone ? source.href : new URL("../dist/cli.js", import.meta.url).href);
