/** Finds the configuration file, and reads its content as JSON or as a module. It does not check the options. */
import { existsSync, readFileSync } from "node:fs";
import { extname, resolve } from "node:path";
import { StartFaults } from "../errors/start-faults.ts";
import { Problem, StartError } from "../errors.ts";
import { wholeBody } from "../json/explain.ts";
import { parseJson } from "../json/parse.ts";
import type { JsonLimits } from "../json/values.ts";
import { importConfiguration } from "./module.ts";
import { type FileContent, type OutsideFile, requirePlainObject } from "./option-values.ts";

/** The names that a configuration file can have. */
const fileNames = ["ts", "js", "mjs", "json"].map((extension) => `holdfast.config.${extension}`);

/** Called with the path of a file. */
export type OnFile = (path: string) => void;

/** Which file to read, and how. */
export interface FileChoice {
  /** The path from a flag or the environment; `undefined` for one of the usual names. */
  named: string | undefined;
  /** The time limit for the top level of a module, in milliseconds. */
  deadlineMs: number;
  /** Called with the path of each file before it is read, also if it does not exist. */
  onFile: OnFile;
}

/** A file and its content. Without a file, both are absent. */
export interface FoundFile {
  /** The name of the file in messages. */
  file: string | undefined;
  content: FileContent;
  /** The faults found so far. Reading a member of the content that has faults throws a StartError without faults. */
  faults: StartFaults;
}

/** Finds and reads the file. Throws StartError if nothing in it can be read. */
export async function readConfigFile(
  cwd: string,
  { named, deadlineMs, onFile }: FileChoice,
): Promise<FoundFile> {
  for (const path of possibleFiles(cwd, named)) onFile(path);
  const file = named ?? onlyFile(cwd);
  const faults = new StartFaults(file);
  if (file === undefined) return { file, content: {}, faults };
  const path = resolve(cwd, file);
  if (!existsSync(path)) throw new StartError(`The configuration file ${path} does not exist.`);
  const content =
    extname(path) === ".json"
      ? readJson(path, file)
      : await importConfiguration(path, { file, deadlineMs, faults, onFile });
  return { file, content: requirePlainObject(content, `${file}: the configuration`), faults };
}

/** The path of the configuration file from a flag or the environment; `undefined` without one. */
export function namedFile({ flags, env }: OutsideFile): string | undefined {
  const path = flags.config ?? env.HOLDFAST_CONFIG;
  return path === undefined ? undefined : String(path);
}

/** The paths at which the configuration file can be: `named`, or the usual names. */
export function possibleFiles(cwd: string, named: string | undefined): string[] {
  return (named === undefined ? fileNames : [named]).map((name) => resolve(cwd, name));
}

/** Throws StartError if there are several files, because all but one would be ignored. */
function onlyFile(cwd: string): string | undefined {
  const found = fileNames.filter((name) => existsSync(resolve(cwd, name)));
  if (found.length < 2) return found[0];
  throw new StartError(
    `There are several configuration files: ${found.join(" and ")}. Remove all but one, or choose one with --config.`,
  );
}

/** No real configuration reaches these limits. */
const jsonLimits: JsonLimits = { depth: 128, members: 100_000 };

/** Parses JSON as strictly as the body of a request. If a name occurred twice, one member would be ignored. */
function readJson(path: string, file: string): unknown {
  try {
    return parseJson(readFileSync(path), jsonLimits);
  } catch (error) {
    if (!(error instanceof Problem))
      throw new StartError(`${file} cannot be read: ${(error as Error).message}`);
    const { message } = error;
    throw new StartError(
      `${file}${message.startsWith(wholeBody) ? message.slice(wholeBody.length) : `: ${message}`}`,
    );
  }
}
