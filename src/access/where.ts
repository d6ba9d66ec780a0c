/** The filters of rules. A value in them can name the caller, such as "$subject". For each caller, it becomes a normal filter. */
import type { Collection } from "../collection/collection.ts";
import { shortJson } from "../collection/messages.ts";
import { formatPath, type Path } from "../collection/paths.ts";
import { declaredFormats } from "../collection/types/declared-types.ts";
import { readEach } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { isBadString, isObject } from "../json/values.ts";
import { readDeclaredFilter, requireValidFilter } from "../query/declared-filter.ts";
import {
  allOf,
  isRelative,
  leavesOf,
  matchesAll,
  type Operand,
  type OwnLeaf,
  opposites,
  type RelatedCondition,
  type RelationPath,
  type RequestedFilter,
  type StoreFilter,
} from "../query/filter.ts";
import { typeOfReference, type ViewOf } from "../query/related-resources.ts";
import type { Violations } from "../query/violations.ts";
import { claimAt, type Principal } from "./principal.ts";

/** The filter for a caller; `undefined` if it uses a claim that the caller does not have. Then no resource matches. */
export interface FilterFor {
  (principal: Principal | undefined): StoreFilter | undefined;
  /** The filter with samples for the values that depend on the caller. */
  readonly sample: StoreFilter;
  /** The names in the filter for which the caller has no value that a filter can use. */
  missing(principal: Principal | undefined): readonly string[];
}

/** The collection of a rule, and what else its filter depends on. */
export interface RuleScope {
  /** With its relations, as far as they are known. */
  collection: Collection;
  /** The collections to which its relations lead. @default the filter cannot name related resources */
  viewOf?: ViewOf | undefined;
  /** The role that the rule asks for. @default none */
  role?: string | undefined;
}

/**
 * Reads the filter of a rule. Throws StartError with every fault, each with the place `at`. The filter is true only with related resources
 * that exist: `not` and `ne` are about what they contain.
 */
export function readWhere(declared: unknown, at: string, scope: RuleScope): FilterFor {
  const { collection, viewOf } = scope;
  const names = [...namesIn(declared)];
  requireNames(names, at);
  const read = (resolve: ResolveRef) => {
    // A claim can be about more than this collection, such as a list of all teams of the caller.
    const unjudged = new Set(names.flatMap((name) => resolve(name)));
    const { filter, violations } = readDeclaredFilter(substitute(declared, resolve), collection, {
      unjudged,
      viewOf,
    });
    return { filter: toRule(filter), violations };
  };
  const sampled = read(samplesFor(names, read));
  requireValidFilter(sampled, { at, collection, user: viewOf === undefined ? "rules" : undefined });
  const { filter } = sampled;
  requireReadable(filter, at, scope);
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

/** The filter of a rule. A negation is about what a related resource contains, so a resource without it never matches. */
function toRule(filter: RequestedFilter, isNegated = false): StoreFilter {
  switch (filter.kind) {
    case "and":
    case "or": {
      const opposite = filter.kind === "and" ? "or" : "and";
      const filters = filter.filters.map((each) => toRule(each, isNegated));
      return { kind: isNegated ? opposite : filter.kind, filters };
    }
    case "not":
      return toRule(filter.filter, !isNegated);
    case "requestedRelated":
      return { kind: "related", relation: filter.relation, filter: toRule(filter.filter, isNegated) };
    case "compares": {
      const { operator, left, right, ...others } = filter;
      return {
        ...others,
        operator: isNegated ? opposites[operator] : operator,
        left: operandOf(left),
        right: operandOf(right),
      };
    }
    default:
      return isNegated ? { kind: "not", filter } : filter;
  }
}

function operandOf({ path, through }: Operand<RelationPath>): Operand {
  const unconditional = (relation: RelationPath): RelatedCondition => ({
    kind: "related",
    relation,
    filter: allOf<OwnLeaf>([]),
  });
  return { path, ...(through && { through: through.map(unconditional) }) };
}

/** The most paths to related resources that the filter of a rule follows. */
const maxPaths = 3;

/**
 * Throws StartError unless a rule can follow the relations of its filter, and unless what it reads there is no secret: a caller could
 * otherwise find it out by trying.
 */
function requireReadable(filter: StoreFilter, at: string, { collection, viewOf, role }: RuleScope): void {
  const refuse = (problem: string): never => {
    throw new StartError(`${at}: "where" ${problem}.`);
  };
  const paths = new Set<string>();
  const requireOpen = (holder: Collection, path: Path) => {
    const rule = holder.attributeRules.find(({ name }) => name === path[0]);
    const what = `uses ${shortJson(formatPath(path))} of ${shortJson(holder.name)}`;
    if (rule?.writeOnly === true) refuse(`${what}, which is writeOnly. A rule would reveal it`);
    if (rule?.roles !== undefined && (role === undefined || !rule.roles.includes(role)))
      refuse(
        `${what}, which only some roles can read. Add "role" to the rule, with one of ${rule.roles.map((each) => shortJson(each)).join(", ")}`,
      );
  };
  const follow = (
    holder: Collection,
    { relation }: RelatedCondition,
    before: string,
  ): [Collection, string] => {
    const name = formatPath(relation.path);
    const type = relation.kind === "inverse" ? "array" : typeOfReference(holder, relation.path);
    if (type === "array")
      refuse("leads to several resources. A rule can only follow a reference that contains one id");
    if (type === "any")
      refuse(
        `follows the reference ${shortJson(name)} of ${shortJson(holder.name)}, and the schema does not say that it contains one id. Declare its type: "string", or "integer" if the ids are integers`,
      );
    requireOpen(holder, relation.path);
    const chain = `${before}/${name}`;
    paths.add(chain);
    return [viewOf?.(relation.collection) as Collection, chain]; // the relation leads to it
  };
  const look = (part: StoreFilter, holder: Collection, chain: string): void => {
    for (const leaf of leavesOf(part)) {
      if (leaf.kind === "related") {
        const [target, next] = follow(holder, leaf, chain);
        look(leaf.filter, target, next);
      } else if (leaf.kind === "compares")
        for (const { path, through = [] } of [leaf.left, leaf.right]) {
          let at: [Collection, string] = [holder, chain];
          for (const each of through) at = follow(at[0], each, at[1]);
          requireOpen(at[0], path);
        }
      else if (chain !== "") requireOpen(holder, leaf.path);
    }
  };
  look(filter, collection, "");
  const ends = [...paths].filter((each) => ![...paths].some((other) => other.startsWith(`${each}/`)));
  if (ends.length > maxPaths)
    refuse(`follows ${ends.length} paths to related resources. A rule can follow ${maxPaths} at most`);
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

const examples = Object.values(declaredFormats).flatMap(({ example }) => example ?? []);

/** Examples of each type that a claim can have. */
const samples: readonly unknown[] = [
  "a",
  1,
  true,
  ["a"],
  [1],
  ...examples,
  ...examples.map((each) => [each]),
];

/** Chooses the samples with which the filter has the fewest faults. The remaining faults are independent of the caller. */
function samplesFor(
  names: readonly string[],
  read: (resolve: ResolveRef) => { violations: Violations },
): ResolveRef {
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
