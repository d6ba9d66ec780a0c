#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that an old one gets a sentence and not a stack trace.
import { existsSync } from "node:fs";

const oldestNode = 24;

if (Number.parseInt(process.versions.node, 10) < oldestNode) {
  process.stderr.write(
    `holdfast: needs Node ${oldestNode} or newer, and this is Node ${process.versions.node}.\n`,
  );
  process.exit(1);
}

// The clone runs its sources as they are; the published package holds only what was compiled.
const source = new URL("../src/cli.ts", import.meta.url);
await import(existsSync(source) ? source.href : new URL("../dist/cli.js", import.meta.url).href);
