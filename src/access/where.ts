/** The filters of rules. A value in them can name the caller, such as "$subject". For each caller, it becomes a normal filter. */
import type { Collection } from "../collection/collection.ts";
import { shortJson } from "../collection/messages.ts";
import { readEach } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { isBadString, isObject } from "../json/values.ts";
import { type DeclaredFilter, readDeclaredFilter, requireValidFilter } from "../query/declared-filter.ts";
import { type Filter, isRelative, matchesAll } from "../query/filter.ts";
import { claimAt, type Principal } from "./principal.ts";

/** The filter for a caller; `undefined` if it uses a claim that the caller does not have. Then no resource matches. */
export interface FilterFor {
  (principal: Principal | undefined): Filter | undefined;
  /** The filter with samples for the values that depend on the caller. */
  readonly sample: Filter;
  /** The names in the filter for which the caller has no value that a filter can use. */
  missing(principal: Principal | undefined): readonly string[];
}

/** Reads the filter of a rule. Throws StartError with every fault, each with the place `at`. */
export function readWhere(declared: unknown, at: string, collection: Collection): FilterFor {
  const names = [...namesIn(declared)];
  requireNames(names, at);
  const read = (resolve: ResolveRef) => {
    // A claim can be about more than this collection, such as a list of all teams of the caller.
    const unjudged = new Set(names.flatMap((name) => resolve(name)));
    return readDeclaredFilter(substitute(declared, resolve), collection, unjudged);
  };
  const sampled = read(samplesFor(names, read));
  requireValidFilter(sampled, { at, collection, user: "rules" });
  const { filter } = sampled;
  if (matchesAll(filter))
    throw new StartError(
      `${at}: "where" is true for every resource. If that is what you mean, write "public".`,
    );
  const missing = (principal: Principal | undefined) =>
    names.filter((name) => principal === undefined || valueFor(name, principal) === undefined);
  if (names.length === 0 && !isRelative(filter))
    return Object.assign(() => filter, { sample: filter, missing });
  const filterFor = (principal: Principal | undefined) => {
    if (principal === undefined && names.length > 0) return undefined;
    const values = new Map(names.map((name) => [name, principal && valueFor(name, principal)]));
    if ([...values.values()].includes(undefined)) return undefined;
    const own = read((name) => values.get(name));
    return own.violations.all.length === 0 ? own.filter : undefined;
  };
  return Object.assign(filterFor, { sample: filter, missing });
}

/** Returns the value of a name in the filter. */
type ResolveRef = (name: string) => unknown;

const subject = "$subject";
const claim = /^\$claims\.(.+)$/s;

/** The names in a filter that depend on the caller. `$$` starts a text that begins with a dollar sign. */
function namesIn(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(value)) for (const item of value) namesIn(item, found);
  else if (isObject(value)) for (const inner of Object.values(value)) namesIn(inner, found);
  else if (isName(value)) found.add(value);
  return found;
}

function requireNames(names: readonly string[], at: string): void {
  readEach(names, (name) => {
    if (name !== subject && !claim.test(name)) throw new StartError(`${at}: ${notAName(name)}`);
  });
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.startsWith("$") && !value.startsWith("$$");
}

function notAName(value: string): string {
  return `${shortJson(value)} is not known. Use "$subject" or a claim such as "$claims.tenant". For a text that begins with "$", write ${shortJson(`$${value}`)}.`;
}

function substitute(value: unknown, resolve: ResolveRef): unknown {
  if (isName(value)) return resolve(value);
  if (typeof value === "string") return value.startsWith("$$") ? value.slice(1) : value;
  if (Array.isArray(value)) return value.map((item: unknown) => substitute(item, resolve));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, substitute(inner, resolve)]));
}

/** Examples of each type that a claim can have. */
const samples: readonly unknown[] = ["a", 1, true, ["a"], [1]];

/** Chooses the samples with which the filter has the fewest faults. The remaining faults are independent of the caller. */
function samplesFor(names: readonly string[], read: (resolve: ResolveRef) => DeclaredFilter): ResolveRef {
  const chosen = new Map<string, unknown>();
  const resolve = (name: string) => (chosen.has(name) ? chosen.get(name) : "a");
  for (const name of names) {
    if (name === subject) continue;
    const counts = samples.map((sample) => {
      chosen.set(name, sample);
      return read(resolve).violations.all.length;
    });
    chosen.set(name, samples[counts.indexOf(Math.min(...counts))]);
  }
  return resolve;
}

/** The value of a name for the caller; `undefined` if the caller has no value that a filter can use. */
function valueFor(name: string, { subject: own, claims }: Principal): unknown {
  const value = name === subject ? own : claimAt(claims, claim.exec(name)?.[1] ?? "");
  if (!Array.isArray(value)) return isKnown(value) ? value : undefined;
  // An empty array would make "not in" match every resource.
  return value.length > 0 && value.every(isKnown) ? value : undefined;
}

/** Whether a resource can have the value. Null does not count: two missing values are not equal. */
function isKnown(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value === "boolean" || (typeof value === "string" && value !== "" && !isBadString(value));
}
