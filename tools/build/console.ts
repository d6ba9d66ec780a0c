/** Builds the console, which browsers get at `/`. `console/vite.config.ts` says how. */
import { readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { build, type Plugin } from "vite";
import { addFile, type Contents } from "./bundle.ts";

/** Builds the console into a folder, and adds its parts to the contents of the bundles. Returns the paths of its files in the folder. */
export async function buildConsole(outdir: string, contents: Contents): Promise<string[]> {
  const outDir = resolve(outdir, "console");
  const parts = new Set<string>();
  await build({
    configFile: resolve("console/vite.config.ts"),
    plugins: [partsOf(parts)],
    build: { outDir },
    logLevel: "warn",
  });
  for (const part of [...parts].sort()) addFile(contents, part);
  return readdirSync(outDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(outdir, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));
}

/** Collects the files of packages that the console contains: modules, and what styles load. */
function partsOf(parts: Set<string>): Plugin {
  const add = (file: string) => {
    const path = relative(".", file.replace(/\?.*$/, "")).replaceAll("\\", "/");
    if (path.startsWith("node_modules/")) parts.add(path);
  };
  return {
    name: "parts",
    generateBundle(_options, bundle) {
      for (const output of Object.values(bundle)) {
        if (output.type === "chunk") output.moduleIds.forEach(add);
        else for (const file of output.originalFileNames) add(resolve("console", file));
      }
      for (const id of this.getModuleIds()) if (/\.css$/.test(id)) add(id);
    },
  };
}
