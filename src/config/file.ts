/** Finds and reads the configuration file. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
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
    throw new StartError(`${file} is not JSON: ${(error as Error).message}`);
  }
}

async function importModule(path: string, file: string): Promise<unknown> {
  try {
    const module = (await import(pathToFileURL(path).href)) as { default?: unknown };
    if (module.default === undefined)
      throw new StartError(`${file} has no default export; write: export default defineConfig({ … })`);
    return module.default;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${file} cannot be read: ${describeError(error, path)}`);
  }
}

/** One line with the place: where in the file it was thrown, or where its syntax breaks. */
function describeError(error: unknown, path: string): string {
  if (!(error instanceof Error)) return String(error);
  const place = findPlace(error.stack, path) ?? (error instanceof SyntaxError ? findBreak(path) : undefined);
  return `${error.message.split("\n")[0]}${place === undefined ? "" : ` (${place})`}`;
}

function findPlace(text: string | undefined, path: string): string | undefined {
  const place = new RegExp(`${basename(path).replace(/\W/g, "\\$&")}:(\\d+)(?::(\\d+))?`).exec(text ?? "");
  if (place === null) return undefined;
  return `line ${place[1]}${place[2] === undefined ? "" : `, column ${place[2]}`}`;
}

/** The error that `import` throws for JavaScript of broken syntax does not say where; Node tells it when it checks. */
function findBreak(path: string): string | undefined {
  return findPlace(spawnSync(process.execPath, ["--check", path], { encoding: "utf8" }).stderr, path);
}
