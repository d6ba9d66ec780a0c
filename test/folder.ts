/** The folders of tests. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atEndOfFile } from "./runner/ends.ts";

const folders = new Set<string>();

/**
 * Makes a folder with these files in it, below the parent, and returns its path. It is removed after the test file, when every program that
 * the tests started has ended. Before that, a program can still write into it, and then the removal fails.
 */
export function makeFolder(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  parent: string = tmpdir(),
): string {
  const folder = mkdtempSync(join(parent, "holdfast-test-"));
  folders.add(folder);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

function removeFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}

atEndOfFile(removeFolders);
process.once("exit", removeFolders); // without the runner, or after a file that did not end
