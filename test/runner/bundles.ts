/**
 * Bundles of the program, for the programs and threads that tests start. Node loads one file several times as fast as hundreds of
 * modules. `bundled.js` loads them in place of the sources.
 */
import { globSync, renameSync, statSync } from "node:fs";
import { mkdir, readFile, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { threads } from "../../tools/build/bundle.ts";

/** The folder of the bundles. Each has the name of its source. */
const folder = "test-results/bundles";

/** The sources that begin a program or a thread. */
const entries = ["cli", "server/thread", ...threads];

/** Each module keeps the address of its source. */
const ownAddress: Plugin = {
  name: "own-address",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => ({
      loader: "ts",
      contents: (await readFile(path, "utf8")).replaceAll(
        "import.meta.url",
        JSON.stringify(pathToFileURL(path).href),
      ),
    }));
  },
};

let writing: Promise<void> | undefined;

/** Writes the bundles, unless they are there already. Returns the option of Node with which programs and threads load them. */
export async function bundlePrograms(): Promise<string> {
  // Two modules ask while this program loads: they must not write the same files.
  writing ??= isCurrent() ? Promise.resolve() : writeBundles();
  await writing;
  return `--import=${pathToFileURL(join(import.meta.dirname, "bundled.js")).href}`;
}

/** Whether no source has changed since the bundles were written. */
function isCurrent(): boolean {
  const written = entries.map((name) => timeOf(join(folder, `${name}.cjs`)));
  const changed = [...globSync("src/**"), import.meta.filename].map(timeOf);
  return Math.max(...changed) < Math.min(...written);
}

const timeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

async function writeBundles(): Promise<void> {
  const begun = new Date();
  const { outputFiles } = await build({
    bundle: true,
    format: "cjs", // a package is loaded when it is needed first
    platform: "node",
    target: "esnext",
    packages: "external",
    conditions: ["holdfast-source"],
    write: false,
    logLevel: "warning",
    entryPoints: entries.map((name) => `src/${name}.ts`),
    outbase: "src",
    outdir: folder,
    outExtension: { ".js": ".cjs" },
    plugins: [ownAddress],
  });
  for (const { path, contents } of outputFiles) {
    const own = `${path}-${process.pid}`; // another run can load the file at the same time
    await mkdir(dirname(path), { recursive: true });
    await writeFile(own, contents);
    await utimes(own, begun, begun); // a source can have changed since
    renameSync(own, path);
  }
}
