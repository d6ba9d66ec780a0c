/** Finds and reads the configuration file. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { registerHooks } from "node:module";
import { basename, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { StartError } from "../errors.ts";
import { type FileContent, requirePlainObject } from "./values.ts";

/** The names that a file may have in the working directory, in the order in which they are looked for. */
const fileNames = ["ts", "js", "mjs", "json"].map((extension) => `holdfast.config.${extension}`);

/** The file and what it says; nothing at all where there is none. Throws StartError. */
export async function readConfigFile(
  cwd: string,
  named: string | undefined,
): Promise<{ file: string | undefined; content: FileContent }> {
  const file = named ?? onlyFile(cwd);
  if (file === undefined) return { file, content: {} };
  const path = resolve(cwd, file);
  if (!existsSync(path)) throw new StartError(`There is no configuration file at ${path}.`);
  const content = extname(path) === ".json" ? readJson(path, file) : await importModule(path, file);
  return { file, content: requirePlainObject(content, `${file}: the configuration`) };
}

/** Two files would leave one of them ignored. */
function onlyFile(cwd: string): string | undefined {
  const found = fileNames.filter((name) => existsSync(resolve(cwd, name)));
  if (found.length < 2) return found[0];
  throw new StartError(`There are ${found.join(" and ")}: remove all but one, or name one with --config.`);
}

function readJson(path: string, file: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new StartError(`${file} is not JSON: ${(error as Error).message.replaceAll(/\s+/g, " ")}`);
  }
}

async function importModule(path: string, file: string): Promise<unknown> {
  const real = realpathSync(path); // as Node names the modules that it loads
  try {
    const module = await importAs(formatOf(real), real);
    if (module.default === undefined)
      throw new StartError(`${file} has no default export; write: export default defineConfig({ … })`);
    return module.default;
  } catch (error) {
    if (error instanceof StartError) throw error;
    if (isCommonJs(error)) {
      throw new StartError(
        `${file} must be an ES module, and is CommonJS: write "export default { … }" in place of "module.exports", and "import" in place of "require".`,
      );
    }
    throw new StartError(`${file} cannot be read: ${describeError(error, real)}`);
  }
}

/** How a file of this name is read, whatever the package.json around it says; `undefined` leaves it to Node. */
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

/** `npm init` writes `"type": "commonjs"`, or no type at all, of which Node warns: this one file is a module anyway. */
async function importAs(format: string | undefined, path: string): Promise<{ default?: unknown }> {
  const { href } = pathToFileURL(path);
  const hooks = registerHooks({
    load: (url, context, next) =>
      next(url, url === href && format !== undefined ? { ...context, format } : context),
  });
  try {
    return (await import(href)) as { default?: unknown };
  } finally {
    hooks.deregister();
  }
}

function isCommonJs(error: unknown): boolean {
  return (
    error instanceof ReferenceError &&
    /^(module|exports|require|__filename|__dirname) is not defined/.test(error.message)
  );
}

/** One line with the place: where in the file it was thrown, or where its syntax breaks. */
function describeError(error: unknown, path: string): string {
  if (!(error instanceof Error)) return String(error);
  const place =
    findPlace(error.stack, basename(path)) ?? (error instanceof SyntaxError ? findBreak(path) : undefined);
  return `${error.message.split("\n")[0]}${place === undefined ? "" : ` (${place})`}`;
}

function findPlace(text: string | undefined, name: string): string | undefined {
  const place = new RegExp(`${name.replace(/\W/g, "\\$&")}:(\\d+)(?::(\\d+))?`).exec(text ?? "");
  if (place === null) return undefined;
  return `line ${place[1]}${place[2] === undefined ? "" : `, column ${place[2]}`}`;
}

/** The error that `import` throws for JavaScript of broken syntax does not say where; Node tells it when it checks. */
function findBreak(path: string): string | undefined {
  // From standard input, since the package.json around a file would say how it is read.
  const args = [`--input-type=${formatOf(path) ?? "module"}`, "--check"];
  const { stderr } = spawnSync(process.execPath, args, { encoding: "utf8", input: readFileSync(path) });
  return findPlace(stderr, "[stdin]");
}
