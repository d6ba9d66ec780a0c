/**
 * Finds the values of options in flags, environment and file, and checks them. Unknown options and environment variables are faults, so
 * that a misspelled name is never ignored.
 */
import type { GuardedDeclaration } from "../access/access-declaration.ts";
import { isSecretVariable, membersOfCollections, secretVariables } from "../capabilities/all.ts";
import { didYouMean, nearestTo, shortJson } from "../collection/messages.ts";
import { type StartFaults, withUnreadable } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import type { Effective, Option } from "../option.ts";
import { longFlagOf, type OptionName, type OptionValue, options } from "./options.ts";

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

const ofCollections = [
  "id",
  "schema",
  "indexes",
  "search",
  "unique",
  "references",
  "requirePreconditions",
  "defaults",
  "timestamps",
  "expires",
  "access",
  "attributes",
] as const satisfies readonly (keyof GuardedDeclaration)[];

const knownOptions = {
  top: [...Object.keys(options), "collections"],
  collection: [...ofCollections, ...membersOfCollections],
} as const;

/** An object in the file. */
interface Place {
  /** Its path, for the faults. */
  path: readonly string[];
  /** Its name in messages. @default the path with dots */
  at?: string;
  level: keyof typeof knownOptions;
}

/**
 * Adds each member that is not an option to the faults, with the nearest known option, and returns the object. An option
 * whose name is misspelled does not count as missing: reading it throws a StartError without faults.
 */
export function withKnownNames(
  given: Readonly<Record<string, unknown>>,
  { path, at = path.join("."), level }: Place,
  faults: StartFaults,
): Readonly<Record<string, unknown>> {
  const group = level === "collection" ? "" : path.map((each) => `${each}.`).join("");
  const known: readonly string[] = knownOptions[level];
  const isKnown = (name: string) =>
    known.includes(group + name) || known.some((each) => each.startsWith(`${group}${name}.`));
  const unknown = Object.keys(given).filter((name) => !isKnown(name));
  for (const name of unknown) {
    const place = at === "" ? name : `${at}.${name}`;
    faults.add([...path, name], `${place} is not an option. ${advise(name, group + name, level)}`);
  }
  if (unknown.length === 0) return given;
  const meant = unknown.map((name) => nearestTo(group + name, candidatesOf(level)) ?? "");
  return withUnreadable(
    given,
    meant.filter((name) => name.startsWith(group)).map((name) => firstOf(name.slice(group.length))),
  );
}

function advise(name: string, path: string, level: keyof typeof knownOptions): string {
  const [elsewhere, place] =
    level === "collection"
      ? (["top", "belongs at the top level of the file"] as const)
      : (["collection", "belongs to a collection"] as const);
  if (name === "secret")
    return "Set the environment variable HOLDFAST_SECRET, because files are copied and shared.";
  if ((knownOptions[elsewhere] as readonly string[]).includes(name)) return `"${name}" ${place}.`;
  const known: readonly string[] = knownOptions[level];
  const misplaced = known.find((each) => each.endsWith(`.${name}`));
  if (misplaced !== undefined) return `Did you mean "${misplaced}"?`;
  return nearestOr(path, candidatesOf(level), known);
}

/** The names that a misspelled name can mean: options, and groups of options. */
function candidatesOf(level: keyof typeof knownOptions): readonly string[] {
  const known: readonly string[] = knownOptions[level];
  return [...new Set([...known, ...known.map(firstOf)])];
}

function firstOf(name: string): string {
  return name.split(".", 1).join("");
}

/** Suggests the nearest name, or lists all names. */
function nearestOr(name: string, candidates: readonly string[], known = candidates): string {
  return didYouMean(name, candidates).trimStart() || `Known names: ${known.join(", ")}.`;
}

const ofOptions = Object.values(options).flatMap(({ env }) => (env === undefined ? [] : [env]));

/** Variables with secrets that a configuration needs, and that its file must not contain. */
const secret = ["HOLDFAST_SECRET", ...secretVariables];

const variables = [...ofOptions, ...secret, "HOLDFAST_CONFIG", "HOLDFAST_TOKEN"];

/** The start of the names of the variables of our own tests. */
const ofTests = "HOLDFAST_TEST_";

/** The variables of options and of their secrets among all environment variables. */
export function variablesOfOptions(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  const ofFile = Object.entries(env).filter(([name]) => ofOptions.includes(name));
  return { ...Object.fromEntries(ofFile), ...secretsOf(env) };
}

/** The variables with secrets among all environment variables. */
export function secretsOf(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => secret.includes(name) || isSecretVariable(name)),
  );
}

/** Throws StartError with every unknown environment variable whose name begins with `HOLDFAST_`. */
export function requireKnownVariables(env: Readonly<Record<string, string | undefined>>): void {
  const unknown = Object.keys(env).filter(
    (name) =>
      name.startsWith("HOLDFAST_") &&
      !variables.includes(name) &&
      !isSecretVariable(name) &&
      !name.startsWith(ofTests),
  );
  const faults = unknown.map((name) => ({
    path: [],
    text: `${name} is not an environment variable of Holdfast. ${nearestOr(name, variables)}`,
  }));
  if (faults.length > 0) throw new StartError(faults);
}

/** Where a value comes from. `application`: from the program that the service is part of. */
export type OptionSource = "default" | "file" | "application" | "environment" | "flag";

/** An option as administrators see it. */
export interface ShownOption {
  name: string;
  /** `null` if it is not set and has no default. */
  value: unknown;
  source: OptionSource;
  /** The flag or the environment variable. */
  from?: string;
}

/** All options, in the order of the table of options. */
export function shownOptions(
  { file, content, outside }: { file: string | undefined; content: FileContent; outside: OutsideFile },
  get: Get,
  effective: Effective,
): readonly ShownOption[] {
  return Object.entries<Option<unknown>>(options).map(([name, option]) => ({
    name,
    value: shownValue(option, get(name as OptionName), effective) ?? null,
    ...sourceOf(name, option, { file, content, outside }),
  }));
}

function sourceOf(
  name: string,
  option: Option<unknown>,
  { file, content, outside }: { file: string | undefined; content: FileContent; outside: OutsideFile },
): Pick<ShownOption, "source" | "from"> {
  // This flag takes no value, so the table of options does not have it.
  if (name === "readOnly" && outside.flags.readOnly === true) return { source: "flag", from: "--read-only" };
  const given = givenValue(option, outside);
  if (given !== undefined)
    return { source: given.at.startsWith("--") ? "flag" : "environment", from: given.at };
  if (fromFile(content, name) === undefined) return { source: "default" };
  return { source: file === undefined ? "application" : "file" };
}

function shownValue(option: Option<unknown>, value: unknown, effective: Effective): unknown {
  if (option.show !== undefined) return option.show(value, effective);
  return option.isPrivate === true ? "(hidden)" : value;
}
