/**
 * All sources in one file, for the runs with a fault. Node loads it much faster than the files one by one, and each run can have its own
 * code in place of one module. `load-packed.js` loads it.
 */
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, posix } from "node:path";
import { pathToFileURL } from "node:url";
import { transform } from "esbuild";
import type { Sources } from "./replacements.ts";

const file = "test-results/bundles/sources.cjs";

/** Writes the file: by its path in the project, the code of each module and the names that it exports. */
export async function packSources(sources: Sources): Promise<void> {
  const modules = [...sources].map(async ([path, source]) => {
    const code = await commonJsOf(path, source);
    const names = JSON.stringify(namesIn(code));
    return `${JSON.stringify(path)}: { names: ${names}, run(module, require) {${code}} }`;
  });
  const text = `module.exports = {${(await Promise.all(modules)).join(",\n")}};`;
  const own = `${file}-${process.pid}`; // another run can load the file at the same time
  await mkdir(dirname(file), { recursive: true });
  await writeFile(own, text);
  await rename(own, file);
}

/** A module as CommonJS. It requires other sources by their paths in the project. Throws if the source has an error. */
export async function commonJsOf(path: string, source: string): Promise<string> {
  const url = pathToFileURL(path);
  const { code } = await transform(source, {
    format: "cjs",
    platform: "node",
    target: "esnext",
    loader: "ts",
    sourcefile: path.replace(/\.ts$/, ".mts"), // it imports packages as a module of Node does
    define: { "import.meta.url": JSON.stringify(url.href) },
  });
  return code
    .replaceAll(/\bimport\("(\.[^"]+)"\)/g, (_, to) => `import("${new URL(to, url).href}")`)
    .replaceAll(/\brequire\("(\.[^"]+)"\)/g, (_, to) => `require("${posix.join(posix.dirname(path), to)}")`);
}

/** The names that the code exports. If it exports everything of another source, this has the path of that source. */
function namesIn(code: string): string[] {
  const [, list = ""] = /^0 && \(module\.exports = \{([^}]*)\}\);/m.exec(code) ?? []; // esbuild writes it for Node
  return list
    .split(",")
    .map((each) => each.trim().replace(/^\.\.\.require\("(.*)"\)$/, "$1"))
    .filter((each) => each !== "");
}
