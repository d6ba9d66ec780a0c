/** Reads the rules of a configuration. A rule decides which resources a caller can do an action with. */
import type { Collection } from "../collection/collection.ts";
import { didYouMean, mustBe, shortJson, withKnownMembers } from "../collection/messages.ts";
import { readEach, readMembers, StartFaults } from "../errors/start-faults.ts";
import { StartError } from "../errors.ts";
import { isObject } from "../json/values.ts";
import { allOf, namesRelated, type StoreFilter } from "../query/filter.ts";
import type { ViewOf } from "../query/related-resources.ts";
import { type Action, actions, shorthands } from "./access-declaration.ts";
import type { Principal } from "./principal.ts";
import { type FilterFor, readWhere } from "./where.ts";

/** The resources that an action is allowed with. */
export type AllowedResources = "everything" | "nothing" | StoreFilter;

/** A compiled rule: returns the resources that it allows a caller. A caller without a credential has no principal. */
export interface CompiledRule {
  (principal: Principal | undefined): AllowedResources;
  /** The rules, as the configuration declares them. One of them is enough. @default none */
  readonly alternatives?: readonly RuleAlternative[];
  /** The resources that the rules without related resources allow. @default those of the rule */
  readonly byThemselves?: (principal: Principal | undefined) => AllowedResources;
}

/** One rule of a configuration. */
export interface RuleAlternative {
  /** Its place, such as `collections.topics.access.write[0]`; `undefined` for the rule of a collection without `access`. */
  at: string | undefined;
  /** The rule as it is declared. */
  declared: unknown;
  /** The role that a caller needs. */
  role?: string | undefined;
  /** The filter for the resources. */
  where?: FilterFor | undefined;
  /** The resources that it allows a caller. */
  allows(principal: Principal | undefined): AllowedResources;
}

/** The rule for each action. */
export type Rules = Readonly<Record<Action, CompiledRule>>;

const nobody: CompiledRule = () => "nothing";

function ifAuthenticated(principal: Principal | undefined): AllowedResources {
  return principal === undefined ? "nothing" : "everything";
}

const defaultRule = ruleOf([{ at: undefined, declared: "authenticated", allows: ifAuthenticated }]);

/** The rules of a collection without `access`. */
export const defaultRules: Rules = {
  list: defaultRule,
  read: defaultRule,
  create: defaultRule,
  update: defaultRule,
  delete: defaultRule,
};

/**
 * Reads the option `access`. Throws StartError with every fault, each with its place below `at`. Only filters use
 * `collection`. If it throws StartError, each filter does the same. The collections must have no `visibility`, because a
 * rule can use attributes that most callers do not see. `viewOf`: the collections to which relations lead.
 */
export function readRules(
  declared: unknown,
  at: string,
  collection: () => Collection,
  viewOf?: ViewOf,
): Rules {
  if (declared === undefined) return defaultRules;
  if (!isObject(declared))
    throw mustBe(at, 'an object such as { read: "public", write: "authenticated" }', declared);
  const faults = new StartFaults();
  const names = [...new Set([...actions, ...Object.keys(shorthands)])];
  const refuse = (name: string) => `${at}.${name} is not an action.`;
  const given = withKnownMembers(declared, { names, refuse }, faults);
  faults.read(["list"], () => requireListable(given, at));
  const rules = faults.read([], () =>
    readMembers(declared, (rule, name) =>
      names.includes(name) ? readAnyOf(rule, `${at}.${name}`, { collection, viewOf }) : nobody,
    ),
  );
  faults.throwIfAny();
  const read = new Map(rules());
  const ruleOf = (action: Action) => read.get(action) ?? read.get(shorthandOf(action)) ?? nobody;
  return Object.fromEntries(actions.map((action) => [action, ruleOf(action)])) as Record<
    Action,
    CompiledRule
  >;
}

/** A list contains only resources that the caller can read, so a rule for lists alone allows nothing. */
function requireListable(rules: object, at: string): void {
  if (!Object.hasOwn(rules, "list") || Object.hasOwn(rules, "read")) return;
  throw new StartError(
    `${at}.list: a list shows only what the caller can read, but "read" is missing, so every list would be empty. Declare "read" too.`,
  );
}

function shorthandOf(action: Action): string {
  return shorthands.read.some((each) => each === action) ? "read" : "write";
}

/** What filters are read with. */
interface FilterScope {
  collection: () => Collection;
  viewOf: ViewOf | undefined;
}

/** Reads one rule, or a list of rules of which one is enough. */
function readAnyOf(declared: unknown, at: string, scope: FilterScope): CompiledRule {
  if (!Array.isArray(declared)) return ruleOf([readRule(declared, at, scope)]);
  if (declared.length === 0)
    throw new StartError(`${at} is an empty list. If that is what you mean, write "nobody".`);
  return ruleOf(readEach(declared as unknown[], (each, n) => readRule(each, `${at}[${n}]`, scope)));
}

function ruleOf(alternatives: readonly RuleAlternative[]): CompiledRule {
  const allowedBy = (some: readonly RuleAlternative[]) => (principal: Principal | undefined) =>
    anyOf(some.map((each) => each.allows(principal)));
  const ownOnly = alternatives.filter(({ where }) => !namesRelated(where?.sample));
  const isOwn = ownOnly.length === alternatives.length;
  return Object.assign(allowedBy(alternatives), {
    alternatives,
    ...(!isOwn && { byThemselves: allowedBy(ownOnly) }),
  });
}

function anyOf(alternatives: readonly AllowedResources[]): AllowedResources {
  if (alternatives.includes("everything")) return "everything";
  const filters = alternatives.filter((each) => typeof each !== "string");
  const [first, ...others] = filters;
  if (first === undefined) return "nothing";
  return others.length === 0 ? first : { kind: "or", filters };
}

/** The resources that both contain. */
export function both(a: AllowedResources, b: AllowedResources): AllowedResources {
  if (a === "nothing" || b === "nothing") return "nothing";
  if (a === "everything" || a === b) return b;
  return b === "everything" ? a : allOf([a, b]);
}

const namedRules: Readonly<Record<string, RuleAlternative["allows"]>> = {
  public: () => "everything",
  authenticated: ifAuthenticated,
  nobody,
};

function readRule(declared: unknown, at: string, scope: FilterScope): RuleAlternative {
  if (typeof declared === "string") {
    const allows = Object.hasOwn(namedRules, declared) ? namedRules[declared] : undefined;
    if (allows !== undefined) return { at, declared, allows };
    const advice = didYouMean(declared, Object.keys(namedRules));
    throw new StartError(
      `${at}: ${shortJson(declared)} is not a rule.${advice} To name a role, write { role: ${shortJson(declared)} }.`,
    );
  }
  if (!isObject(declared) || Object.keys(declared).length === 0) throw mustBe(at, forms, declared);
  return readParts(declared, at, scope);
}

const forms = '"public", "authenticated", "nobody", { role: … } or { where: … }, or a list of these';

const parts = { names: ["role", "where"], advice: 'A rule has "role", "where" or both.' };

function readParts(
  declared: Record<string, unknown>,
  at: string,
  { collection, viewOf }: FilterScope,
): RuleAlternative {
  const faults = new StartFaults();
  const refuse = (name: string) => `${at}.${name} is not part of a rule.`;
  withKnownMembers(declared, { ...parts, refuse }, faults);
  const readRoleOf = faults.read(["role"], () =>
    Object.hasOwn(declared, "role") ? readRole(declared.role, `${at}.role`) : undefined,
  );
  const readWhereOf = faults.read(["where"], () => {
    if (!Object.hasOwn(declared, "where")) return undefined;
    const role = typeof declared.role === "string" ? declared.role : undefined;
    return readWhere(declared.where, at, { collection: collection(), viewOf, role });
  });
  faults.throwIfAny();
  const [role, where] = [readRoleOf(), readWhereOf()];
  return { at, declared, role, where, allows: (principal) => allowedBy(role, where, principal) };
}

/** A rule with a role and a filter needs both. */
function allowedBy(
  role: string | undefined,
  where: FilterFor | undefined,
  principal: Principal | undefined,
): AllowedResources {
  if (role !== undefined && principal?.roles.includes(role) !== true) return "nothing";
  return where === undefined ? "everything" : (where(principal) ?? "nothing");
}

function readRole(declared: unknown, at: string): string {
  if (typeof declared === "string" && declared !== "") return declared;
  throw mustBe(at, "the name of a role", declared);
}
