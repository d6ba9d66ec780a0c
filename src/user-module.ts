/** The modules of the user: importing one, and the marks in place of its functions where only plain data can be. */
import { registerHooks } from "node:module";
import { extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { types } from "node:util";
import { importFile, isProgramFile, loadOwnModule, resolveOwnModule } from "./program.ts";

/** The format of a file by its name, regardless of package.json; `undefined` if Node decides. */
export function formatOf(path: string): string | undefined {
  switch (extname(path)) {
    case ".ts":
      return "module-typescript";
    case ".js":
    case ".mjs":
      return "module";
    default:
      return undefined;
  }
}

/**
 * Imports a module of the user. `npm init` writes `"type": "commonjs"` or no type, but the configuration file is always an ES module.
 * `onFile` gets the path of each imported file outside of packages, before it is read.
 */
export async function importUserModule(
  path: string,
  onFile: (path: string) => void = () => {},
): Promise<{ default?: unknown }> {
  const format = formatOf(path);
  const { href } = pathToFileURL(path);
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const nameFile = (url: URL | null) => url !== null && isLocal(url) && onFile(fileURLToPath(url));
      if (/^(?:\.{0,2}\/|file:)/.test(specifier)) nameFile(URL.parse(specifier, context.parentURL)); // even if the file does not exist
      const own = resolveOwnModule(specifier);
      if (own !== undefined) return { url: own, shortCircuit: true };
      const resolved = next(specifier, context);
      nameFile(URL.parse(resolved.url));
      return resolved;
    },
    load: (url, context, next) => {
      const source = loadOwnModule(url);
      if (source !== undefined) return { source, format: "module", shortCircuit: true };
      return next(url, url === href && format !== undefined ? { ...context, format } : context);
    },
  });
  try {
    return (await importFile(href)) as { default?: unknown };
  } finally {
    hooks.deregister();
  }
}

/** Whether a module is a file outside packages. A configuration can import the modules of this program. */
function isLocal({ protocol, href }: URL): boolean {
  return protocol === "file:" && !isProgramFile(href) && !href.includes("/node_modules/");
}

/** What a configuration has in place of a function, where it must be plain data. */
const mark = "$function";

/** The mark of the function at a place, such as `["jobs", "digest", "run"]`. */
export function functionMark(place: readonly string[], value: unknown): object {
  return { [mark]: place.join("."), ...(types.isAsyncFunction(value) && { isAsync: true }) };
}

/** Whether a value is an `async` function, or the mark of one. */
export function isAsyncFunction(value: unknown): boolean {
  return (
    types.isAsyncFunction(value) || (isFunctionMark(value) && (value as { isAsync?: true }).isAsync === true)
  );
}

/** Whether a plain value has the mark of a function in it. */
export function hasFunctionMark(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isFunctionMark(value) || Object.values(value).some(hasFunctionMark);
}

/** Whether a value has the form of a mark. */
export function isFunctionMark(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, mark);
}
