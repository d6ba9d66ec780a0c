/** Node imports this file first: it loads the bundles of `bundles.ts` in place of the sources that begin a program or a thread. */
import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";

const sources = new URL("../../src/", import.meta.url).href;
const bundles = new URL("../../test-results/bundles/", import.meta.url).href;

// The process of a test needs the sources: it imports some of their modules one by one.
if (!isMainThread || /[\\/](?:bin[\\/]holdfast\.js|src[\\/]cli\.ts)$/.test(process.argv[1] ?? "")) {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      if (!found.url.startsWith(sources)) return found;
      const bundle = new URL(bundles + found.url.slice(sources.length).replace(/\.ts$/, ".cjs"));
      return existsSync(bundle) ? { url: bundle.href, format: "commonjs", shortCircuit: true } : found;
    },
  });
}
