/** Writes what is published: the licences of all packages in it, and a list of them for tools (an SBOM in the format CycloneDX). */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Contents } from "./bundle.ts";
import { licencesOf, partsOf } from "./licences.ts";

export const licencesFile = "LICENCES.txt";
export const sbomFile = "sbom.json";

/** Writes both files to a folder. Throws an Error if a package has no licence, or the SBOM does not follow its schema. */
export function writeInventory(outdir: string, contents: Contents): void {
  writeFileSync(join(outdir, licencesFile), licencesOf(partsOf(contents)));
  const folder = mkdtempSync(join(tmpdir(), "holdfast-build-"));
  try {
    const metafile = join(folder, "contents.json");
    writeFileSync(metafile, JSON.stringify(contents));
    runCycloneDx(metafile, join(outdir, sbomFile));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function runCycloneDx(metafile: string, output: string): void {
  const program = resolve("node_modules/@cyclonedx/cyclonedx-esbuild/bin/cyclonedx-esbuild-cli.js");
  const args = ["--output-reproducible", "--validate", "--output-file", output, metafile];
  execFileSync(process.execPath, [program, ...args], { stdio: ["ignore", "ignore", "pipe"] });
}
