/** Members of a configuration's objects: those that have a meaning, and those that are misspelled. */
import { type StartFaults, withUnreadable } from "../errors/start-faults.ts";
import { didYouMean, nearestTo } from "./nearest.ts";

/** What an object may hold, and what is said of anything else. */
export interface KnownMembers {
  names: readonly string[];
  /** Gives the message about another member, without the advice at its end. */
  refuse: (name: string) => string;
  /** The advice where no name is near. @default all names */
  advice?: string;
}

/**
 * The object, after its unknown members were added to the faults. A member that a misspelled one may be meant for is not
 * missing: reading it throws a StartError without faults.
 */
export function withKnownMembers(
  given: Readonly<Record<string, unknown>>,
  { names, refuse, advice = `Known are ${names.join(", ")}.` }: KnownMembers,
  faults: StartFaults,
): Readonly<Record<string, unknown>> {
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  for (const name of unknown)
    faults.add([name], `${refuse(name)} ${didYouMean(name, names).trimStart() || advice}`);
  const meant = unknown.map((name) => nearestTo(name, names)).filter((name) => name !== undefined);
  return meant.length === 0 ? given : withUnreadable(given, meant);
}
