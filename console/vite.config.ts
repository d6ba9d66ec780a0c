/** Builds the console into the folder that the service serves and the package publishes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** The folder of the files that the page loads. */
const assetsDir = "_console";

/** Adds two compressed forms of each text that the page loads, and the list of files that the service may serve. */
const servedFiles: Plugin = {
  name: "served-files",
  apply: "build",
  generateBundle: {
    order: "post",
    handler(_options, bundle) {
      const files = Object.values(bundle).filter(({ fileName }) => fileName.startsWith(`${assetsDir}/`));
      for (const file of files) {
        if (!/\.(?:css|js)$/.test(file.fileName)) continue;
        const text = file.type === "chunk" ? file.code : file.source;
        this.emitFile({ type: "asset", fileName: `${file.fileName}.br`, source: brotliCompressSync(text) });
        this.emitFile({
          type: "asset",
          fileName: `${file.fileName}.gzip`,
          source: gzipSync(text, { level: 9 }),
        });
      }
      const names = files.map(({ fileName }) => fileName).sort();
      this.emitFile({ type: "asset", fileName: "files.json", source: `${JSON.stringify(names)}\n` });
    },
  },
};

/** Fails if a class of Mantine is in the scripts, but its styles are not in the page. */
const completeStyles: Plugin = {
  name: "complete-styles",
  apply: "build",
  generateBundle(_options, bundle) {
    const files = Object.values(bundle);
    const classesOf = (text: string) => text.match(/\bm_[0-9a-f]{5,}\b/g) ?? [];
    const loaded = files.flatMap((file) =>
      file.type === "asset" && file.fileName.endsWith(".css") ? [String(file.source)] : [],
    );
    const has = new Set(loaded.flatMap(classesOf));
    const all = readFileSync(fileURLToPath(import.meta.resolve("@mantine/core/styles.css")), "utf8");
    const exist = new Set(classesOf(all));
    const used = files.flatMap((file) => (file.type === "chunk" ? classesOf(file.code) : []));
    const missing = [...new Set(used)].filter((name) => exist.has(name) && !has.has(name));
    if (missing.length > 0)
      this.error(`console/src/mantine-styles.ts lacks the styles with the classes ${missing.join(", ")}.`);
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  plugins: [react(), completeStyles, servedFiles],
  resolve: { conditions: ["holdfast-source", "module", "browser"] },
  build: {
    outDir: "../dist/console",
    assetsDir,
    emptyOutDir: true,
    rolldownOptions: {
      input: ["index", "sign-in"].map((name) => join(import.meta.dirname, `${name}.html`)),
    },
    target: "es2022",
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000, // in kB
  },
});
