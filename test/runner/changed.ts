/** Which test files import a file that has changed. */
import { execFileSync } from "node:child_process";
import { build } from "esbuild";
import { threads } from "../../tools/build/bundle.ts";
import { testFiles } from "../project.ts";
import { nameOf } from "./names.ts";

/** The files that differ from a commit, and those that git does not know yet. Throws if git does not know the commit. */
export function changedFiles(commit: string): string[] {
  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).split("\n");
  return [
    ...git("diff", "--name-only", commit, "--"),
    ...git("ls-files", "--others", "--exclude-standard"),
  ].filter((file) => file !== "");
}

/**
 * The test files that import one of the files, directly or through others, and those that changed themselves. Programs and threads are
 * started by their path. So a file that starts anything counts as one that imports them.
 */
export async function importersOf(files: readonly string[]): Promise<ReadonlySet<string>> {
  const importers = await importGraph();
  const reached = new Set<string>();
  const visit = (file: string) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const importer of importers.get(file) ?? []) visit(importer);
  };
  for (const file of files) visit(file);
  const startsOne = [...threads, "cli", "server/thread"].some((name) => reached.has(`src/${name}.ts`));
  return new Set(
    testFiles().filter((file) => reached.has(file) || (startsOne && nameOf(file).kind !== undefined)),
  );
}

/** The files that import each file. */
async function importGraph(): Promise<Map<string, string[]>> {
  const entries = [
    ...testFiles(),
    "src/cli.ts",
    "src/server/thread.ts",
    ...threads.map((name) => `src/${name}.ts`),
  ];
  const { metafile } = await build({
    stdin: {
      contents: entries.map((file) => `import ${JSON.stringify(`./${file}`)};`).join("\n"),
      resolveDir: ".",
    },
    bundle: true,
    metafile: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "esnext",
    packages: "external",
    conditions: ["holdfast-source"],
    logLevel: "error",
  });
  const importers = new Map<string, string[]>();
  for (const [file, { imports }] of Object.entries(metafile.inputs))
    for (const { path } of imports) importers.set(path, [...(importers.get(path) ?? []), file]);
  return importers;
}
