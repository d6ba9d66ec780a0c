/** Finds the values of options in flags, environment and file, and checks them. */
import { shortJson } from "../collection/messages.ts";
import type { StartFaults } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { withKnownNames } from "./option-names.ts";
import { longFlagOf, type Option, type OptionName, type OptionValue, options } from "./options.ts";

/** The content of a configuration file. */
export type FileContent = Readonly<Record<string, unknown>>;

/** The sources of values outside the file. */
export interface OutsideFile {
  /** The flags of the command line, by camel-case name. Flags that are no options of the configuration are ignored. */
  flags: Readonly<Record<string, unknown>>;
  env: Readonly<Record<string, string | undefined>>;
}

/** The values of options in flags and in the environment. */
type Given = ReadonlyMap<string, () => unknown>;

/** Returns the checked value of an option. Throws a StartError without faults if the value has faults. */
export type Get = <Name extends OptionName>(name: Name) => OptionValue<Name>;

/** The first part of each option name with a dot. */
const groups = new Set(
  Object.keys(options).flatMap((name) => (name.includes(".") ? [name.split(".")[0] as string] : [])),
);

/**
 * Adds the members that are not options to the faults, and returns the content. Reading a member with faults throws a
 * StartError without faults.
 */
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

/** The value as an object. Throws StartError if it is not one. */
export function requirePlainObject(value: unknown, at: string): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new StartError(`${at} must be an object.`);
}

/** The value of an option in flags or in the environment, with its flag or variable; `undefined` without one. */
export function givenValue(
  option: Option<unknown>,
  { flags, env }: OutsideFile,
): { value: unknown; at: string } | undefined {
  const flag = longFlagOf(option);
  return [
    flag === undefined ? undefined : { value: flags[camelCase(flag)], at: flag },
    option.env === undefined ? undefined : { value: env[option.env], at: option.env },
  ].find((each) => each?.value !== undefined);
}

/** Reads the options in flags and in the environment. Adds wrong values to the faults. */
export function readGiven(outside: OutsideFile, faults: StartFaults): Given {
  const given = new Map<string, () => unknown>();
  for (const [name, option] of Object.entries<Option<unknown>>(options)) {
    const found = givenValue(option, outside);
    if (found === undefined) continue;
    const read = () => readValue(option, found.value, found.at);
    given.set(name, faults.read([], read));
  }
  return given;
}

/** Reads every option. A given value wins over the file. Adds wrong values to the faults. */
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
    const given = option.isPrivate === true ? "" : `, not ${shortJson(value)}`;
    throw new StartError(`${at} ${(error as Error).message}${given}.`);
  }
}

/** `drainDelayMs` for `--drain-delay-ms`, as commander names it. */
function camelCase(flag: string): string {
  return flag.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The value of an option in the file; `undefined` without one. */
export function fromFile(content: FileContent, name: string): unknown {
  const [first = "", second] = name.split(".");
  const value = content[first];
  return second === undefined ? value : (value as Record<string, unknown> | undefined)?.[second];
}
