/** The rules of all collections, compiled once: for whoever asks, what they may. */
import { hash } from "node:crypto";
import type { Collection } from "../collection/collection.ts";
import { visibilityOf } from "../collection/visibility.ts";
import type { Filter } from "../query/filter.ts";
import { createPermit, type Permit } from "./permit.ts";
import type { Principal } from "./principal.ts";
import { defaultRules, type Rules } from "./rules.ts";

/** Who may do what. */
export interface Access {
  /** What a caller may do in a collection, `undefined` being somebody without a credential. */
  permit(collection: string, principal: Principal | undefined): Permit;
  /** The collection as the caller sees it. */
  seen(collection: Collection, principal: Principal | undefined): Collection;
  /** Whether a caller may write anything anywhere. */
  mayWrite(principal: Principal | undefined): boolean;
  /** What lists of a collection may be narrowed down to by its rules, with samples for what names the caller. */
  listFilters(collection: string): readonly Filter[];
  /** A short text that is the same for as long as the caller may be told the same. */
  rights(principal: Principal | undefined): string;
}

/** Makes one of the rules of all collections, by their names. */
export function compileAccess(
  collections: ReadonlyMap<string, Collection>,
  rules: ReadonlyMap<string, Rules>,
  { openCollections }: { openCollections: boolean },
): Access {
  const known = new Map([...rules].map(([name, each]) => [name, guard(name, each)]));
  const open: PermitFor = (principal, name) => createPermit(defaultRules, name, principal);
  const permit: Access["permit"] = (name, principal) => (known.get(name) ?? open)(principal, name);
  const seen = createViews();
  return {
    permit,
    seen,
    listFilters: (name) => filtersOf(rules.get(name) ?? defaultRules),
    rights: (principal) => rightsOf(collections, { permit, seen }, principal),
    mayWrite: (principal) =>
      (openCollections && principal !== undefined) ||
      [...known.keys()].some((name) => mayWrite(permit(name, principal))),
  };
}

/** By what comes of the rules for the caller, so that neither a new token nor a role that matters nowhere makes a difference. */
function rightsOf(
  collections: ReadonlyMap<string, Collection>,
  { permit, seen }: Pick<Access, "permit" | "seen">,
  principal: Principal | undefined,
): string {
  const told = [...collections.values()].map((collection) => {
    const { visibility } = seen(collection, principal);
    return [collection.name, permit(collection.name, principal).may("read"), [...(visibility?.hidden ?? [])]];
  });
  const inOpenOnes = principal === undefined ? null : (principal.scopes ?? "all");
  return hash("sha256", JSON.stringify([inOpenOnes, told]), "base64url").slice(0, 16);
}

/** Collections as callers see them, one for each set of roles that makes a difference. */
function createViews(): Access["seen"] {
  const views = new WeakMap<Collection, Map<string, Collection>>();
  return (collection, principal) => {
    const { attributeRules } = collection;
    if (principal === undefined || attributeRules.every(({ roles }) => roles === undefined))
      return collection;
    const visibility = visibilityOf(attributeRules, principal.roles);
    const name = JSON.stringify([...(visibility?.restricted ?? [])]);
    const known = views.get(collection) ?? new Map<string, Collection>();
    const view = known.get(name) ?? { ...collection, visibility };
    views.set(collection, known.set(name, view));
    return view;
  };
}

type PermitFor = (principal: Principal | undefined, collection: string) => Permit;

/** Permits of a declared collection. The same principal asks again and again. */
function guard(name: string, rules: Rules): PermitFor {
  const anybody = createPermit(rules, name, undefined);
  const kept = new WeakMap<Principal, Permit>();
  return (principal) => {
    if (principal === undefined) return anybody;
    const permit = kept.get(principal) ?? createPermit(rules, name, principal);
    kept.set(principal, permit);
    return permit;
  };
}

/** Lists leave out what could not be read. */
function filtersOf({ list, read }: Rules): readonly Filter[] {
  return [...new Set([list, read])].flatMap(({ filters = [] }) => filters);
}

function mayWrite(permit: Permit): boolean {
  return (["create", "update", "delete"] as const).some((action) => permit.may(action) !== "nothing");
}
