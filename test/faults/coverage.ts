/** Which places of the sources a test file runs. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Message } from "../runner/process.ts";

/** A part of a source, in UTF-16 units from its start, and how often it ran. A later part lies within an earlier one, and decides there. */
interface Part {
  startOffset: number;
  endOffset: number;
  count: number;
}

/** The parts of each source, by its path in the project: one list for each process and thread that loaded it. */
export type Coverage = Readonly<Record<string, readonly (readonly Part[])[]>>;

const project = `${pathToFileURL(resolve("."))}/`;
const sources = `${project}src/`;

/** Runs a test file, or those of its tests that the flags of Node choose, and returns what it covers. Throws an Error if a test fails. */
export async function coverageOf(
  file: string,
  env: NodeJS.ProcessEnv = {},
  flags: readonly string[] = [],
): Promise<Coverage> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-coverage-"));
  try {
    const child = fork(join(import.meta.dirname, "../runner/process.ts"), {
      execArgv: [...process.execArgv, "--test-timeout=600000", ...flags],
      env: { ...process.env, ...env, NODE_V8_COVERAGE: folder },
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    let failed: string | undefined;
    child.on("message", (message: Message) => {
      if (message.kind === "ended") child.send({ file: undefined });
      else if (message.line?.kind === "failed") failed ??= `${message.line.name}: ${message.line.error}`;
    });
    child.send({ file: resolve(file) });
    await once(child, "close");
    if (failed !== undefined) throw new Error(`${file} fails: ${failed}`);
    return read(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads what the processes wrote: https://nodejs.org/api/cli.html#node_v8_coveragedir */
function read(folder: string): Coverage {
  const found: Record<string, Part[][]> = {};
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), "utf8"));
    for (const { url, functions } of result as { url: string; functions: { ranges: Part[] }[] }[]) {
      if (!url.startsWith(sources)) continue;
      const path = url.slice(project.length);
      found[path] ??= [];
      found[path].push(functions.flatMap(({ ranges }) => ranges));
    }
  }
  return found;
}

/** Whether a place ran. */
export function covers(coverage: Coverage, file: string, place: number): boolean {
  return (coverage[file] ?? []).some((parts) => {
    const last = parts.findLast(({ startOffset, endOffset }) => startOffset <= place && place < endOffset);
    return last !== undefined && last.count > 0;
  });
}
