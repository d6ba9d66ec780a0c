/** Finds an option's value among flags, environment and file, and checks it. */
import { shown } from "../collection/shown.ts";
import { StartError } from "../errors.ts";
import { longFlagOf, type Option } from "./option.ts";
import { requireOptionNames } from "./option-names.ts";
import { type OptionName, type OptionValue, options } from "./options.ts";

/** A file's content. */
export type FileContent = Readonly<Record<string, unknown>>;

interface Sources {
  flags: Readonly<Record<string, unknown>>;
  env: Readonly<Record<string, string | undefined>>;
  content: FileContent;
  file: string | undefined;
}

/** The options of the file that hold others. */
const groups = new Set(
  Object.keys(options).flatMap((name) => (name.includes(".") ? [name.split(".")[0] as string] : [])),
);

/** Throws StartError when the file has a member that is no option. */
export function requireKnownOptions(content: FileContent, file: string | undefined): void {
  try {
    requireOptionNames(content, "", "top");
    for (const group of groups) {
      if (content[group] !== undefined)
        requireOptionNames(requirePlainObject(content[group], group), group, "top");
    }
  } catch (error) {
    throw inFile(error, file);
  }
}

/** The error with the name of the file that it is about, when it is a StartError. */
export function inFile(error: unknown, file: string | undefined): unknown {
  return error instanceof StartError && file !== undefined
    ? new StartError(`${file}: ${error.message}`)
    : error;
}

/** The value as an object with members. Throws StartError. */
export function requirePlainObject(value: unknown, at: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new StartError(`${at} must be an object.`);
}

/** A function from an option's name to its checked value. It throws StartError, saying where the wrong value stands. */
export function createLookup({
  flags,
  env,
  content,
  file,
}: Sources): <Name extends OptionName>(name: Name) => OptionValue<Name> {
  return <Name extends OptionName>(name: Name) => {
    const option: Option<unknown> = options[name];
    const flag = longFlagOf(option);
    const found = [
      flag === undefined ? undefined : { value: flags[camelCase(flag)], at: flag },
      option.env === undefined ? undefined : { value: env[option.env], at: option.env },
      { value: fromFile(content, name), at: file === undefined ? name : `${file}: ${name}` },
    ].find((each) => each?.value !== undefined);
    if (found === undefined) return option.fallback as OptionValue<Name>;
    try {
      return option.read(found.value) as OptionValue<Name>;
    } catch (error) {
      if (error instanceof StartError) throw inFile(error, file);
      const given = option.isPrivate === true ? "" : `, and is ${shown(found.value)}`;
      throw new StartError(`${found.at} ${(error as Error).message}${given}.`);
    }
  };
}

/** `--drain-delay-ms` is `drainDelayMs` among the flags. */
function camelCase(flag: string): string {
  return flag.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function fromFile(content: FileContent, name: string): unknown {
  const [first = "", second] = name.split(".");
  const value = content[first];
  return second === undefined ? value : (value as Record<string, unknown> | undefined)?.[second];
}
