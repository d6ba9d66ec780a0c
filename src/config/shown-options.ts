/** The effective options for administrators: each with its value, without secrets, and the place that it comes from. */
import type { FileContent, Get, OutsideFile } from "./option-values.ts";
import { fromFile, givenValue } from "./option-values.ts";
import { type Effective, type Option, type OptionName, options } from "./options.ts";

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
