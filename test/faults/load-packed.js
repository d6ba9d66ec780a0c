/**
 * Loads the sources from the one file that `packed.ts` writes, in place of the files themselves. It is JavaScript, as `bundled.js` is,
 * because Node loads it before everything else.
 */
import Module, { createRequire, registerHooks } from "node:module";

/**
 * @typedef {(module: { exports: unknown }, require: (specifier: string) => unknown) => void} Run
 * @typedef {Record<string, { names: string[], run: Run } | undefined>} Packed
 */

const project = new URL("../../", import.meta.url).href;

/** @type {Packed | undefined} */
let file;

/** Read when the first source is needed: many threads and programs need none. */
const packed = () => {
  file ??= /** @type {Packed} */ (createRequire(project)("./test-results/bundles/sources.cjs"));
  return file;
};

/**
 * Code in place of that of the file, by the path in the project.
 * @type {Readonly<Record<string, string>>}
 */
let replaced = {};

/** @type {Map<string, { exports: unknown }>} */
const loaded = new Map();

/**
 * From now on, each import of a source gets the module of the file. A source exists once, whoever imports it.
 * @param {Readonly<Record<string, string>>} code in place of that of the file, by the path in the project
 */
export function loadPacked(code) {
  replaced = code;
  registerHooks({
    load(url, context, next) {
      const path = url.startsWith(project) ? url.slice(project.length) : "";
      if (!/^(?:\w|-)*\/?src\//.test(path) || packed()[path] === undefined) return next(url, context);
      const source = `import { load } from ${JSON.stringify(import.meta.url)};
        export const { ${namesOf(path).join(", ")} } = load(${JSON.stringify(path)});`;
      return { format: "module", source, shortCircuit: true };
    },
  });
}

/**
 * What a source exports.
 * @param {string} path
 */
export function load(path) {
  const before = loaded.get(path);
  if (before !== undefined) return before.exports;
  const module = { exports: {} };
  loaded.set(path, module);
  const code = replaced[path];
  const run = code === undefined ? packed()[path]?.run : compiled(path, code);
  run?.(module, (to) => (packed()[to] === undefined ? createRequire(new URL(path, project))(to) : load(to)));
  return module.exports;
}

/**
 * The names that a source exports.
 * @param {string} path
 * @returns {string[]}
 */
function namesOf(path) {
  const names = packed()[path]?.names ?? [];
  return names.flatMap((name) => (packed()[name] === undefined ? name : namesOf(name)));
}

/**
 * @param {string} path
 * @param {string} code
 * @returns {Run}
 */
function compiled(path, code) {
  const name = new URL(`${path}.cjs`, project).pathname;
  const module = new Module(name);
  // @ts-expect-error: Node does not describe this method
  module._compile(`module.exports = (module, require) => {${code}};`, name);
  return module.exports;
}
