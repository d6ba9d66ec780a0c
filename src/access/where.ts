/** Filters of rules: their values may name the caller, and become a filter like any other with each one. */
import type { Collection } from "../collection/collection.ts";
import { shown } from "../collection/shown.ts";
import { readEach } from "../errors/start-faults.ts";
import { StartError, toSentence } from "../errors.ts";
import { isBadString } from "../json/explain.ts";
import { isObject } from "../json/gate.ts";
import { Faults, inBody } from "../query/faults.ts";
import type { Filter } from "../query/filter.ts";
import { isEverything, readFilter } from "../query/filter-json.ts";
import type { Principal } from "./principal.ts";

/** The filter for a caller; `undefined` where it names what the caller lacks, or cannot be: then it is true of nothing. */
export interface FilterFor {
  (principal: Principal | undefined): Filter | undefined;
  /** What it is like, with samples for what it names of a caller. */
  readonly sample: Filter;
}

/** Reads the filter of a rule. Throws StartError with every fault, each with the place `at`. */
export function readWhere(declared: unknown, at: string, collection: Collection): FilterFor {
  const names = [...namesIn(declared)];
  requireNames(names, at);
  const read = (resolve: Resolve) => readAs(substitute(declared, resolve), collection);
  const { filter, faults } = read(samplesFor(names, read));
  requireSense(filter, faults, at);
  if (names.length === 0) return Object.assign(() => filter, { sample: filter });
  const filterFor = (principal: Principal | undefined) => {
    if (principal === undefined) return undefined;
    const values = new Map(names.map((name) => [name, valueFor(name, principal)]));
    if ([...values.values()].includes(undefined)) return undefined;
    const own = read((name) => values.get(name));
    return own.faults.violations.length === 0 ? own.filter : undefined;
  };
  return Object.assign(filterFor, { sample: filter });
}

/** What stands for a name in the filter. */
type Resolve = (name: string) => unknown;

interface Read {
  filter: Filter;
  faults: Faults;
}

function readAs(value: unknown, collection: Collection): Read {
  const faults = new Faults();
  const reading = { collection, faults, used: { conditions: 0, values: 0 } };
  return { filter: readFilter(value, inBody("where"), reading), faults };
}

function requireSense(filter: Filter, faults: Faults, at: string): void {
  const texts = faults.violations.map(({ detail }) => `${at}: ${toSentence(detail)}`);
  if (texts.length > 0) throw new StartError(texts.map((text) => ({ path: [], text })));
  if (isEverything(filter))
    throw new StartError(
      `${at}: "where" is true for every resource. If that is what you mean, write "public".`,
    );
}

const subject = "$subject";
const claim = /^\$claims\.(.+)$/s;

/** Every name of the caller's in a filter. `$$` begins a text that begins with a dollar sign. */
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
  return `${shown(value)} is not known. Use "$subject" or a claim such as "$claims.tenant". For a text that begins with "$", write ${shown(`$${value}`)}.`;
}

function substitute(value: unknown, resolve: Resolve): unknown {
  if (isName(value)) return resolve(value);
  if (typeof value === "string") return value.startsWith("$$") ? value.slice(1) : value;
  if (Array.isArray(value)) return value.map((item: unknown) => substitute(item, resolve));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, substitute(inner, resolve)]));
}

/** What a claim may be. */
const samples: readonly unknown[] = ["a", 1, true, ["a"], [1]];

/** Values with which the filter has the fewest faults: those that are left are the filter's own. */
function samplesFor(names: readonly string[], read: (resolve: Resolve) => Read): Resolve {
  const chosen = new Map<string, unknown>();
  const resolve = (name: string) => (chosen.has(name) ? chosen.get(name) : "a");
  for (const name of names) {
    if (name === subject) continue;
    const counts = samples.map((sample) => {
      chosen.set(name, sample);
      return read(resolve).faults.violations.length;
    });
    chosen.set(name, samples[counts.indexOf(Math.min(...counts))]);
  }
  return resolve;
}

/** What the caller has by this name, as a filter can take it; `undefined` where there is no such thing. */
function valueFor(name: string, { subject: own, claims }: Principal): unknown {
  const value = name === subject ? own : claimAt(claims, claim.exec(name)?.[1] ?? "");
  if (!Array.isArray(value)) return isKnown(value) ? value : undefined;
  // "None of nothing" would be true of every resource.
  return value.length > 0 && value.every(isKnown) ? value : undefined;
}

/** A claim may have dots in its name, as those with a URL for a name have; else they lead inwards. */
function claimAt(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const step of name.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

/** Whether a resource could have the value. Null is none: nobody shares a lack. */
function isKnown(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  return typeof value === "boolean" || (typeof value === "string" && value !== "" && !isBadString(value));
}
