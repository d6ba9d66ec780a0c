/**
 * Node imports this file first. It loads the bundles of `bundles.ts` in place of the sources that begin a program or a thread. With a
 * `?fault=`, which `test/faults/run.ts` adds, all other sources come from one file, in which one can have a fault.
 */
import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";

const project = new URL("../../", import.meta.url).href;
const sources = `${project}src/`;
const bundles = `${project}test-results/bundles/`;

/** The code of the sources with the fault, by their paths in the project. Without a fault it is `undefined`. */
const faulty = readFaulty(new URL(import.meta.url).searchParams.get("fault"));

// The process of a test needs the sources: it imports some of their modules one by one.
if (!isMainThread || /[\\/](?:bin[\\/]holdfast\.js|src[\\/]cli\.ts)$/.test(process.argv[1] ?? "")) {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      if (!found.url.startsWith(sources)) return found;
      const bundle = new URL(bundles + found.url.slice(sources.length).replace(/\.ts$/, ".cjs"));
      return existsSync(bundle) && !isWithout(bundle)
        ? { url: bundle.href, format: "commonjs", shortCircuit: true }
        : found;
    },
  });
}

if (faulty !== undefined) {
  const { loadPacked } = await import("../faults/load-packed.js");
  loadPacked(faulty);
}

/**
 * @param {string | null} file
 * @returns {Record<string, string> | undefined}
 */
function readFaulty(file) {
  return file === null ? undefined : JSON.parse(readFileSync(file, "utf8"));
}

/**
 * Whether a bundle lacks the fault, because it contains a source that has it. esbuild writes the path of each source into the bundle.
 * @param {URL} bundle
 */
function isWithout(bundle) {
  const paths = Object.keys(faulty ?? {});
  if (paths.length === 0) return false;
  const text = readFileSync(bundle, "utf8");
  return paths.some((path) => text.includes(`\n// ${path}\n`));
}
