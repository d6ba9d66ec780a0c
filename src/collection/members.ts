/** Finds unknown members of a configuration's objects. */
import { type StartFaults, withUnreadable } from "../errors/start-faults.ts";
import { didYouMean, nearestTo } from "./nearest.ts";

/** The members that an object may have, and the message about any other. */
export interface KnownMembers {
  names: readonly string[];
  /** The message about an unknown member, without the advice at the end. */
  refuse: (name: string) => string;
  /** The advice if no known name is near. @default all names */
  advice?: string;
}

/**
 * Adds the object's unknown members to the faults, and returns the object. A known member whose name is misspelled does not
 * count as missing: reading it throws a StartError without faults.
 */
export function withKnownMembers(
  given: Readonly<Record<string, unknown>>,
  { names, refuse, advice = `Known names: ${names.join(", ")}.` }: KnownMembers,
  faults: StartFaults,
): Readonly<Record<string, unknown>> {
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  for (const name of unknown)
    faults.add([name], `${refuse(name)} ${didYouMean(name, names).trimStart() || advice}`);
  const meant = unknown.map((name) => nearestTo(name, names)).filter((name) => name !== undefined);
  return meant.length === 0 ? given : withUnreadable(given, meant);
}
