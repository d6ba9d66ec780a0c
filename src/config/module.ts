/**
 * Imports a configuration file that is a module. The module runs in this process. If it hangs, throws later or ends the
 * process, the user gets a message about it.
 */
import { readFileSync, realpathSync } from "node:fs";
import { registerHooks } from "node:module";
import { basename, extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { StartFaults } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { importFile, isProgramFile, loadOwnModule, resolveOwnModule } from "../program.ts";
import { toPlain } from "./plain.ts";
import { checkSyntax } from "./syntax.ts";

/** How to import a module. */
export interface ModuleOptions {
  /** The name of the file in messages. */
  file: string;
  /** The time limit for the top level of the module, in milliseconds. */
  deadlineMs: number;
  /** Collects the faults of the default export. */
  faults: StartFaults;
  /** Called with the path of each imported file outside of packages, before it is read. */
  onFile: (path: string) => void;
}

/** The default export of the module at a path, as plain data. Throws StartError if the module has no default export. */
export async function importConfiguration(path: string, options: ModuleOptions): Promise<unknown> {
  const { file } = options;
  const real = realpathSync(path); // Node uses this path in errors
  try {
    return await watch(readExport(real, options), options);
  } catch (error) {
    if (error instanceof StartError) throw error;
    if (isCommonJs(error)) {
      throw new StartError(
        `${file} must be an ES module, not CommonJS. Replace "module.exports" with "export default { … }", and "require" with "import".`,
      );
    }
    throw new StartError(`${file} cannot be read: ${describeError(error, real)}`);
  }
}

async function readExport(path: string, { file, faults, onFile }: ModuleOptions): Promise<unknown> {
  const module = await importAs(formatOf(path), path, onFile);
  if (module.default === undefined)
    throw new StartError(`${file} has no default export. Add: export default defineConfig({ … })`);
  return toPlain(module.default, faults);
}

/**
 * Waits for a module until the deadline, or until it throws an error that it does not handle. If the module ends the
 * process, prints a line that names it.
 */
async function watch(exported: Promise<unknown>, { file, deadlineMs }: ModuleOptions): Promise<unknown> {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(
      new StartError(
        `${file} did not load within ${deadlineMs / 1_000} s. Remove what its top level waits for.`,
      ),
    );
  }, deadlineMs);
  const onExit = () => {
    process.exitCode = 1;
    process.stderr.write(`holdfast: ${file} ended the program. Remove process.exit from it.\n`);
  };
  process.once("exit", onExit).on("uncaughtException", reject);
  try {
    return await Promise.race([exported, failed]);
  } finally {
    clearTimeout(timer);
    process.off("exit", onExit).off("uncaughtException", reject);
  }
}

/** The format of a file by its name, regardless of package.json; `undefined` if Node decides. */
function formatOf(path: string): string | undefined {
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
 * Imports a file in a format. `npm init` writes `"type": "commonjs"` or no type, but the configuration file is always an ES
 * module.
 */
async function importAs(
  format: string | undefined,
  path: string,
  onFile: ModuleOptions["onFile"],
): Promise<{ default?: unknown }> {
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

function isCommonJs(error: unknown): boolean {
  return (
    error instanceof ReferenceError &&
    /^(module|exports|require|__filename|__dirname) is not defined/.test(error.message)
  );
}

/** The advice if `defineConfig` cannot be imported. It only gives editors the types. */
const withoutPackage =
  "Install holdfast in the same project (see README.md), or remove the import: export default { … } is enough.";

/** The message in one line, with the line of the file that threw the error or has the syntax error. */
function describeError(error: unknown, path: string): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? error.code : undefined;
  if (code === "ERR_UNKNOWN_FILE_EXTENSION") return "its name must end in .ts, .js, .mjs or .json.";
  const place =
    findPlace(error.stack, basename(path)) ??
    (error instanceof SyntaxError ? findSyntaxError(path) : undefined);
  const isOurs = code === "ERR_MODULE_NOT_FOUND" && /'holdfast'|dist\/index\.js'/.test(error.message);
  const advice = isOurs ? `. ${withoutPackage}` : "";
  return `${error.message.split("\n")[0]}${place === undefined ? "" : ` (${place})`}${advice}`;
}

function findPlace(text: string | undefined, name: string): string | undefined {
  const place = new RegExp(`${name.replace(/\W/g, "\\$&")}:(\\d+)(?::(\\d+))?`).exec(text ?? "");
  if (place === null) return undefined;
  return `line ${place[1]}${place[2] === undefined ? "" : `, column ${place[2]}`}`;
}

/** The place of a syntax error. `import` does not report it for JavaScript. */
function findSyntaxError(path: string): string | undefined {
  return findPlace(checkSyntax(readFileSync(path, "utf8"), formatOf(path) ?? "module"), "[stdin]");
}
