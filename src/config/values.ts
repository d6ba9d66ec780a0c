/** Finds the options' values among flags, environment and file, and checks them. */
import { shown } from "../collection/shown.ts";
import type { StartFaults } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { longFlagOf, type Option } from "./option.ts";
import { withKnownNames } from "./option-names.ts";
import { type OptionName, type OptionValue, options } from "./options.ts";

/** A file's content. */
export type FileContent = Readonly<Record<string, unknown>>;

/** The sources of values outside the file. */
export interface OutsideFile {
  /** The command line's flags by camel-case name; those of commands that mean no option are ignored. */
  flags: Readonly<Record<string, unknown>>;
  env: Readonly<Record<string, string | undefined>>;
}

/** The values of options in flags and in the environment. */
type Given = ReadonlyMap<string, () => unknown>;

/** Returns the checked value of an option. Throws a StartError without faults if the value has faults. */
export type Get = <Name extends OptionName>(name: Name) => OptionValue<Name>;

/** The options of the file that hold others. */
const groups = new Set(
  Object.keys(options).flatMap((name) => (name.includes(".") ? [name.split(".")[0] as string] : [])),
);

/** Adds the members that are not options to the faults, and returns the content. Reading a member with faults throws a StartError without faults. */
export function withKnownOptions(content: FileContent, faults: StartFaults): FileContent {
  const known = withKnownNames(content, { path: [], level: "top" }, faults);
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(known));
  for (const group of groups) {
    if (!Object.hasOwn(content, group)) continue;
    const get = faults.read([group], () => {
      const members = content[group];
      if (members === undefined) return undefined;
      return withKnownNames(requirePlainObject(members, group), { path: [group], level: "top" }, faults);
    });
    Object.defineProperty(copy, group, { get, enumerable: true });
  }
  return copy;
}

/** The value as an object with members. Throws StartError. */
export function requirePlainObject(value: unknown, at: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new StartError(`${at} must be an object.`);
}

/** Reads flags and the environment. Adds wrong values to the faults. */
export function readGiven({ flags, env }: OutsideFile, faults: StartFaults): Given {
  const given = new Map<string, () => unknown>();
  for (const [name, option] of Object.entries<Option<unknown>>(options)) {
    const flag = longFlagOf(option);
    const found = [
      flag === undefined ? undefined : { value: flags[camelCase(flag)], at: flag },
      option.env === undefined ? undefined : { value: env[option.env], at: option.env },
    ].find((each) => each?.value !== undefined);
    if (found === undefined) continue;
    given.set(
      name,
      faults.read([], () => readValue(option, found.value, found.at)),
    );
  }
  return given;
}

/** Reads every option; a value outside the file wins. Adds wrong values to the faults, each with its place. */
export function readOptions(given: Given, content: FileContent, faults: StartFaults): Get {
  const values = new Map(given);
  for (const [name, option] of Object.entries<Option<unknown>>(options)) {
    if (given.has(name)) continue;
    const read = () => {
      const value = fromFile(content, name);
      return value === undefined ? option.fallback : readValue(option, value, name);
    };
    values.set(name, faults.read(name.split("."), read));
  }
  return <Name extends OptionName>(name: Name) => values.get(name)?.() as OptionValue<Name>;
}

function readValue(option: Option<unknown>, value: unknown, at: string): unknown {
  try {
    return option.read(value);
  } catch (error) {
    if (error instanceof StartError) throw error;
    const given = option.isPrivate === true ? "" : `, not ${shown(value)}`;
    throw new StartError(`${at} ${(error as Error).message}${given}.`);
  }
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
