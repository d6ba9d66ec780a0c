/** The rules of all collections, compiled once at the start. They decide what a caller can do and see. */
import { hash } from "node:crypto";
import type { Collection } from "../collection/collection.ts";
import { type AttributeRule, visibilityOf } from "../collection/visibility.ts";
import { isRelative, matches, namesRelated, type StoreFilter, timelessText } from "../query/filter.ts";
import { nameOfTarget, nextTargets, type Target, type Targets, targetIn } from "../query/targets.ts";
import { type Action, actions, scopeOf } from "./access-declaration.ts";
import type { Principal } from "./principal.ts";
import { type AdministratorRule, isAdministrator } from "./roles.ts";
import { type AllowedResources, both, defaultRules, type Rules } from "./rules.ts";

/** The permissions of a caller in a collection. */
export interface Permit {
  /** The resources that the caller can do the action with. The rules and the scopes of the credential decide this. */
  may(action: Action): AllowedResources;
  /** The resources that exist for the caller. The rules decide this, without the scopes. */
  visible(): AllowedResources;
  /** Whether a rule of the collection looks at related resources. */
  readonly looksAtOthers: boolean;
  /** The resources that the caller can list by rules without related resources, whose changes make no event. */
  followed(): AllowedResources;
}

/** The permissions of a caller who can do everything. */
export const fullPermit: Permit = {
  may: () => "everything",
  visible: () => "everything",
  followed: () => "everything",
  looksAtOthers: false,
};

/** The permissions of all callers. A caller without a credential has no principal. */
export interface Access {
  /** What a caller can do in a collection. */
  permit(collection: string, principal: Principal | undefined): Permit;
  /** The rules of a collection, as the configuration declares them. */
  rulesOf(collection: string): Rules;
  /** The collection as the caller sees it: without hidden attributes. */
  viewFor(collection: Collection, principal: Principal | undefined): Collection;
  /** Whether the caller can write to any collection. */
  mayWrite(principal: Principal | undefined): boolean;
  /** Whether the caller administers the service. */
  administers(principal: Principal | undefined): boolean;
  /** Whether any caller can administer the service. */
  readonly hasAdministrators: boolean;
  /** The filters that rules add to lists of a collection. Samples replace the values that depend on the caller. */
  listFilters(collection: string): readonly StoreFilter[];
  /** A short text. It changes when the caller can see more or less than before. */
  rights(principal: Principal | undefined): string;
}

/** Compiles the rules of the declared collections, given by their names. */
export function compileAccess(
  collections: ReadonlyMap<string, Collection>,
  rules: ReadonlyMap<string, Rules>,
  {
    openCollections,
    administrators = [],
  }: { openCollections: boolean; administrators?: readonly AdministratorRule[] },
): Access {
  const known = new Map([...rules].map(([name, each]) => [name, permitsOf(name, each)]));
  const open: PermitFor = (principal, name) => createPermit(defaultRules, name, principal);
  const permit: Access["permit"] = (name, principal) =>
    principal?.mayDoEverything === true ? fullPermit : (known.get(name) ?? open)(principal, name);
  const viewFor = createViews();
  return {
    permit,
    rulesOf: (name) => rules.get(name) ?? defaultRules,
    viewFor,
    listFilters: (name) => filtersOf(rules.get(name) ?? defaultRules),
    rights: (principal) => rightsOf(collections, { permit, viewFor }, principal),
    administers: (principal) => isAdministrator(administrators, principal),
    hasAdministrators: administrators.length > 0,
    mayWrite: (principal) =>
      (openCollections && principal !== undefined) ||
      [...known.keys()].some((name) => mayWrite(permit(name, principal))),
  };
}

/** Depends only on what the rules decide. A new token, or a role that no rule names, does not change it. */
function rightsOf(
  collections: ReadonlyMap<string, Collection>,
  { permit, viewFor }: Pick<Access, "permit" | "viewFor">,
  principal: Principal | undefined,
): string {
  const visible = [...collections.values()].map((collection) => {
    const { visibility } = viewFor(collection, principal);
    return [collection.name, permit(collection.name, principal).may("read"), [...(visibility?.hidden ?? [])]];
  });
  const inOpenCollections = principal === undefined ? null : (principal.scopes ?? "all");
  return hash("sha256", timelessText([inOpenCollections, visible]), "base64url").slice(0, 16);
}

/** One copy of a collection for each set of attributes that some caller cannot see. */
function createViews(): Access["viewFor"] {
  const views = new WeakMap<Collection, Map<string, Collection>>();
  return (collection, principal) => {
    const { attributeRules } = collection;
    if (principal === undefined || attributeRules.every(({ roles }) => roles === undefined))
      return collection;
    const visibility = visibilityOf(attributeRules, rolesFor(attributeRules, principal));
    const name = JSON.stringify([...(visibility?.restricted ?? [])]);
    const known = views.get(collection) ?? new Map<string, Collection>();
    const view = known.get(name) ?? { ...collection, visibility };
    views.set(collection, known.set(name, view));
    return view;
  };
}

/** The roles that count for the attributes of a collection. */
function rolesFor(rules: readonly AttributeRule[], principal: Principal): readonly string[] {
  return principal.mayDoEverything === true ? rules.flatMap(({ roles = [] }) => roles) : principal.roles;
}

type PermitFor = (principal: Principal | undefined, collection: string) => Permit;

/** The permits of a declared collection. Each principal has one permit for all its requests. */
function permitsOf(name: string, rules: Rules): PermitFor {
  const withoutCredential = createPermit(rules, name, undefined);
  const kept = new WeakMap<Principal, Permit>();
  return (principal) => {
    if (principal === undefined) return withoutCredential;
    const permit = kept.get(principal) ?? createPermit(rules, name, principal);
    kept.set(principal, permit);
    return permit;
  };
}

/** A list contains only resources that the caller can also read one by one. */
function filtersOf({ list, read }: Rules): readonly StoreFilter[] {
  const rules = [...new Set([list, read])].flatMap(({ alternatives = [] }) => alternatives);
  return rules.flatMap(({ where }) => where?.sample ?? []);
}

function mayWrite(permit: Permit): boolean {
  return (["create", "update", "delete"] as const).some((action) => permit.may(action) !== "nothing");
}

/** Creates a permit. A caller without a credential has no principal. */
function createPermit(rules: Rules, collection: string, principal: Principal | undefined): Permit {
  const allowedByAction = new Map<Action, AllowedResources>();
  const allowedFor = (action: Action): AllowedResources => {
    const known = allowedByAction.get(action);
    if (known !== undefined) return known;
    const allowed = ruleOf(rules, action, principal);
    if (typeof allowed === "string" || !isRelative(allowed)) allowedByAction.set(action, allowed);
    return allowed;
  };
  return {
    may: (action) => (isInScope(principal, collection, action) ? allowedFor(action) : "nothing"),
    visible: () => allowedFor("read"),
    looksAtOthers: actions.some((action) => rules[action].byThemselves !== undefined),
    followed: () => (isInScope(principal, collection, "list") ? followedFor(rules, principal) : "nothing"),
  };
}

/** A list contains only resources that the caller can also read one by one. */
function ruleOf(rules: Rules, action: Action, principal: Principal | undefined): AllowedResources {
  const allowed = rules[action](principal);
  return action === "list" && rules.list !== rules.read ? both(allowed, rules.read(principal)) : allowed;
}

/** As `ruleOf` for lists, by rules without related resources. */
function followedFor({ list, read }: Rules, principal: Principal | undefined): AllowedResources {
  const [listed, readable] = [list, read].map((rule) => (rule.byThemselves ?? rule)(principal)) as [
    AllowedResources,
    AllowedResources,
  ];
  return list === read ? listed : both(listed, readable);
}

/** Whether the scopes of a credential include an action. Scopes never add a permission. Without scopes, only the rules decide. */
export function isInScope(principal: Principal | undefined, collection: string, action: Action): boolean {
  if (principal?.scopes === undefined) return true;
  const needed = scopeOf(action);
  return principal.scopes.some((scope) => scope.collection === collection && scope.action === needed);
}

/** A state of a resource, with the related resources that rules look at. `judged` and `currentOf` make it. */
export interface Judged {
  readonly text: string;
  /** @default none were needed */
  readonly targets?: Targets;
}

/** Whether the allowed resources include a resource in this state. Throws an Error if it lacks a related resource. */
export function includes(allowed: AllowedResources, { text, targets }: Judged): boolean {
  if (typeof allowed === "string") return allowed === "everything";
  return matches(allowed, JSON.parse(text) as Record<string, unknown>, targets && targetIn(targets));
}

/** Whether rules look at related resources. */
export function looksAtOthers(allowed: AllowedResources): allowed is StoreFilter {
  return typeof allowed !== "string" && namesRelated(allowed);
}

/** Reads the related resources that filters look at for a resource. `read` finds one, or `undefined` if it does not exist. */
export async function readTargets(
  filters: readonly StoreFilter[],
  resource: Record<string, unknown>,
  read: (target: Target) => { text: string } | undefined | Promise<{ text: string } | undefined>,
): Promise<Targets> {
  const known = new Map<string, Record<string, unknown> | undefined>();
  for (;;) {
    const next = filters.flatMap((filter) => nextTargets(filter, resource, known));
    if (next.length === 0) return known;
    await Promise.all(
      next.map(async (target) => {
        const found = await read(target);
        known.set(nameOfTarget(target), found && JSON.parse(found.text));
      }),
    );
  }
}
