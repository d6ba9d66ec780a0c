/**
 * Imports a configuration file that is a module. The module runs in this process. If it hangs, throws later or ends the
 * process, the user gets a message about it.
 */
import { readFileSync, realpathSync } from "node:fs";
import { registerHooks } from "node:module";
import { basename } from "node:path";
import { canBeFunction } from "../capabilities/all.ts";
import type { StartFaults } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { importFile, isSingleFile, processArguments } from "../program.ts";
import { formatOf, functionMark, importUserModule, isFunctionMark } from "../user-module.ts";

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
  const module = await importUserModule(path, onFile);
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

/** The output of a syntax check of a module, which names the place of the error `[stdin]:<line>`. The module does not run. */
function checkSyntax(source: string, format: string): string {
  const args = isSingleFile ? [processArguments.syntaxCheck, format] : [`--input-type=${format}`, "--check"];
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  return spawnSync(process.execPath, args, { encoding: "utf8", input: source }).stderr;
}

/** A character that JavaScript does not know. With it at its end, a module never runs. */
const invalid = "\n\u0000";

/** Does the work of `node --check` in the single executable, which has no such option: fails with the first syntax error. */
export async function failWithSyntaxError(format: string): Promise<void> {
  const url = "file:///[stdin]";
  const source = readFileSync(process.stdin.fd, "utf8") + invalid;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === url ? { url, shortCircuit: true } : next(specifier, context),
    load: (loaded, context, next) =>
      loaded === url ? { source, format, shortCircuit: true } : next(loaded, context),
  });
  await importFile(url);
}

/**
 * A plain copy of a configuration, with marks in place of the functions that it can have. A value whose content would be ignored, such as
 * a Map, is a fault. Any other function or a symbol is a fault too, and inside schemas every value that JSON does not have. In the copy, reading such a member throws a StartError without faults. If a
 * getter of the module throws an error, `toPlain` throws it.
 */
function toPlain(configuration: unknown, faults: StartFaults): unknown {
  const { get, value } = copyOf(configuration, { path: [], ancestors: new Set(), faults });
  return faults.valueOf(get ?? (() => value as unknown));
}

type Path = readonly string[];

interface Context {
  path: Path;
  /** The objects that contain the value. */
  ancestors: ReadonlySet<unknown>;
  faults: StartFaults;
}

/** The copy of a value as a member of an object. A value with a fault becomes a getter that throws. */
function copyOf(value: unknown, context: Context): PropertyDescriptor {
  const { path, faults } = context;
  const usual = { enumerable: true, writable: true, configurable: true };
  const isFunction = canBeFunction(path);
  if (isFunction && typeof value === "function") return { ...usual, value: functionMark(path, value) };
  const fault = isFunction && isFunctionMark(value) ? "must be a function" : faultOf(value, context);
  if (fault === undefined) return { ...usual, value: withCopiedMembers(value, context) };
  const get = faults.read(path, () => {
    throw new StartError(`${placeOf(path)} ${fault}.`);
  });
  return { get, enumerable: true };
}

function withCopiedMembers(value: unknown, { path, ancestors, faults }: Context): unknown {
  if (typeof value !== "object" || value === null) return value;
  const within = { ancestors: new Set(ancestors).add(value), faults };
  const entries: [string, unknown][] = Array.isArray(value)
    ? Array.from(value, (item: unknown, n) => [String(n), item]) // also the gaps of a sparse array
    : Object.entries(value);
  const copy = Array.isArray(value) ? [] : {};
  for (const [name, inner] of entries)
    Object.defineProperty(copy, name, copyOf(inner, { ...within, path: [...path, name] }));
  return copy;
}

const notJson = "which is not a JSON value";

/** The fault of a value itself, without its members. Outside schemas, the readers of options check the values. */
function faultOf(value: unknown, { path, ancestors }: Context): string | undefined {
  if (ancestors.has(value)) return "refers to itself";
  if (typeof value === "object" && value !== null) {
    return isPlain(value) ? undefined : `must be a plain object or list, not ${kindOf(value)}`;
  }
  if (typeof value === "function" || typeof value === "symbol") return `is a ${typeof value}, ${notJson}`;
  if (!isInSchema(path)) return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `is ${value}, ${notJson}`;
  if (value === undefined) return `is undefined, ${notJson}: leave it out`;
  return typeof value === "bigint" ? `is ${value}n, ${notJson}` : undefined;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** `a Date`, or `an object with a prototype` if the prototype has no name. */
function kindOf(value: object): string {
  const made = (value as { constructor?: unknown }).constructor;
  if (typeof made !== "function" || made === Object || made.name === "") return "an object with a prototype";
  return `${/^[AEIOU]/.test(made.name) ? "an" : "a"} ${made.name}`;
}

const schemaDepth = 3;

/** Whether the path leads to `collections.<name>.schema` or below it. */
function isInSchema(path: Path): boolean {
  return path.length >= schemaDepth && path[0] === "collections" && path[2] === "schema";
}

/** The name of a place in messages: with dots for options, and with slashes below a schema. */
function placeOf(path: Path): string {
  if (path.length === 0) return "the configuration";
  if (!isInSchema(path) || path.length === schemaDepth) return path.join(".");
  return `${path.slice(0, schemaDepth).join(".")} at ${path.slice(schemaDepth).join("/")}: the value`;
}
