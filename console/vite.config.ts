/** Builds the console into the folder that the service serves and the package publishes. */
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

export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  plugins: [react(), servedFiles],
  resolve: { conditions: ["holdfast-source", "module", "browser"] },
  build: {
    outDir: "../dist/console",
    assetsDir,
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000, // in kB
  },
});
