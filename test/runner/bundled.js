/**
 * Node imports this file first. It loads the bundles of `bundles.ts` in place of the sources that begin a program or a thread. With a
 * `?fault=`, which `test/faults/run.ts` adds, it also puts a fault into the sources.
 */
import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";

const project = new URL("../../", import.meta.url).href;
const sources = `${project}src/`;
const bundles = `${project}test-results/bundles/`;

/** The sources with the fault, by their paths in the project. */
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

if (faulty.size > 0) {
  registerHooks({
    load(url, context, next) {
      const source = url.startsWith(project) ? faulty.get(url.slice(project.length)) : undefined;
      return source === undefined ? next(url, context) : { ...next(url, context), source };
    },
  });
}

/** @param {string | null} file */
function readFaulty(file) {
  return new Map(file === null ? [] : Object.entries(JSON.parse(readFileSync(file, "utf8"))));
}

/**
 * Whether a bundle lacks the fault, because it contains a source that has it. esbuild writes the path of each source into the bundle.
 * @param {URL} bundle
 */
function isWithout(bundle) {
  if (faulty.size === 0) return false;
  const text = readFileSync(bundle, "utf8");
  return [...faulty.keys()].some((path) => text.includes(`\n// ${path}\n`));
}
