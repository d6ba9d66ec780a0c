/**
 * What a caller can do and see, according to the access rules: whether a request is allowed at all, and which resources and
 * attributes of a collection it reaches. `admit.ts` has already identified the caller.
 */

import { fullPermit, includes, type Judged, type Permit } from "../../access/access.ts";
import type { Action } from "../../access/access-declaration.ts";
import { comparedIn, denied, deniedPath } from "../../access/challenges.ts";
import type { Principal } from "../../access/principal.ts";
import type { AllowedResources } from "../../access/rules.ts";
import type { Tags } from "../../access/tags.ts";
import type { Collection } from "../../collection/collection.ts";
import { visibleText } from "../../collection/visibility.ts";
import type { Problem } from "../../errors.ts";
import type { Condition } from "../../query/conditions.ts";
import {
  allOf,
  mapLeaves,
  matchNone,
  type Operand,
  type RelatedCondition,
  type RelationPath,
  type RequestedFilter,
  type RequestedLeaf,
  type StoreFilter,
  type StoreLeaf,
} from "../../query/filter.ts";
import { isInternal } from "../../store/port/record.ts";
import type { Stored } from "../../store/port/stored.ts";
import { expectsNothing, type Validators, validatorsOf } from "../protocol/conditional.ts";
import type { HttpRequest } from "../protocol/message.ts";
import {
  type CollectionRoute,
  hasPreflight,
  isAdministrative,
  isForSome,
  type OwnRoute,
  type Route,
  requireMethod,
} from "../route.ts";
import type { Callers, Data, EndpointMethod, Surface, Who } from "../service.ts";
import type { Caller } from "./admit.ts";

/**
 * The endpoint that a request uses: the one of its path and method, if the path exists for the caller. Throws METHOD_NOT_ALLOWED,
 * and UNAUTHENTICATED or INSUFFICIENT_SCOPE if the caller cannot use it for any resource. The guard checks the individual
 * resources later.
 */
export function requireUse(
  service: Callers & Pick<Surface, "endpoints">,
  route: Route,
  caller: Caller,
  request: HttpRequest,
): EndpointMethod {
  const { endpoints } = service;
  const { method } = request;
  if (route.kind === "service") return endpoints.options;
  if (route.kind === "nothing") return endpoints.absence;
  if (isForSome(route)) {
    // A preflight has no caller.
    if ((method !== "OPTIONS" || !hasPreflight(route)) && !existsFor(service, route, caller))
      return endpoints.absence;
    requireMethod(route, request);
  }
  if (method === "OPTIONS") return endpoints.options;
  const endpoint = route.endpoint.methods.get(method) as EndpointMethod; // the route has the method
  if (!isAdministrative(route)) requireRight(service, route, whoCan(endpoint, request), caller);
  return endpoint;
}

/** Who can send the request: for a create with an id, also callers who can create. */
function whoCan({ who, createsWithId }: EndpointMethod, request: HttpRequest): Who {
  const isCreate =
    createsWithId === true && typeof who === "object" && "action" in who && expectsNothing(request);
  return isCreate ? { action: ["create", ...who.action] } : who;
}

/** Whether the path exists for the caller: a relation if the caller sees its attribute, and any other path for administrators. */
export function existsFor(service: Callers, route: OwnRoute | CollectionRoute, caller: Caller): boolean {
  if (route.kind === "collection" && route.nested !== undefined) {
    const [name] = route.nested.relation.path;
    return viewFor(service, route.collection, caller).visibility?.hidden.has(name) !== true;
  }
  return administers(service, caller);
}

function requireRight(service: Callers, route: OwnRoute | CollectionRoute, who: Who, caller: Caller): void {
  const { access } = service;
  if (access === undefined || who === "public" || who === "everyone") return;
  if (who === "writers" && access.mayWrite(caller.principal)) return;
  if (typeof who === "object" && "roles" in who) {
    requireRole(who.roles, caller);
    return;
  }
  if (typeof who === "string" || route.kind !== "collection") throw denied(caller.principal);
  // A path below a resource shows whether the resource exists.
  if (route.nested !== undefined) requireAction(service, route.nested.parent, ["read"], caller);
  requireAction(service, route.collection, who.action, caller);
}

/** Throws UNAUTHENTICATED or INSUFFICIENT_SCOPE unless the caller has one of the roles, or any credential. */
function requireRole(roles: readonly string[] | "any", { principal }: Caller): void {
  if (principal?.mayDoEverything === true) return;
  if (principal !== undefined && (roles === "any" || roles.some((role) => principal.roles.includes(role))))
    return;
  throw deniedPath(principal);
}

/** Throws UNAUTHENTICATED or INSUFFICIENT_SCOPE unless the caller can do one of the actions with any resource. */
export function requireAction(
  { access }: Callers,
  { name }: Collection,
  actions: readonly Action[],
  { principal }: Caller,
): void {
  if (access === undefined) return;
  const permit = access.permit(name, principal);
  if (actions.some((action) => permit.may(action) !== "nothing")) return;
  throw denied(principal, { collection: name, action: actions[0] ?? "update" });
}

/** Whether the caller administers the service. Without `auth`, every caller does. */
export function administers({ access }: Pick<Callers, "access">, { principal }: Caller): boolean {
  return access === undefined || access.administers(principal);
}

/** The collection as the caller sees it, without the attributes that are hidden from the caller. */
export function viewFor(
  { access }: Callers,
  collection: Collection,
  { principal }: Pick<Caller, "principal">,
): Collection {
  return access === undefined ? collection : access.viewFor(collection, principal);
}

/**
 * The collection as the caller sees its earlier states and its events. There, resources have no mirrored attributes (`Participant`),
 * because these can have shown something else then, such as another address. Administrators see them.
 */
export function pastViewFor(
  service: Pick<Callers, "access"> & Pick<Data, "participants">,
  collection: Collection,
  caller: Caller,
): Collection {
  const { mirrored } = service.participants.get(collection.name) ?? {};
  if (mirrored === undefined || administers(service, caller)) return collection;
  const { readOnly = [], restricted = [], hidden = [] } = collection.visibility ?? {};
  const visibility = {
    readOnly: new Set(readOnly),
    restricted: new Set([...restricted, ...mirrored.attributes]),
    hidden: new Set([...hidden, ...mirrored.attributes]),
  };
  return { ...collection, visibility };
}

/** The same place for its earlier states (`pastViewFor`). */
export function inPast<Place extends { collection: Collection; guard: Guard; caller: Caller }>(
  service: Callers & Pick<Data, "participants">,
  place: Place,
): Place {
  const collection = pastViewFor(service, place.collection, place.caller);
  if (collection === place.collection) return place;
  return { ...place, collection, guard: guardOf(service, collection, place.caller) };
}

/** Returns each declared collection as the caller sees it. */
export function viewsOf(service: Data & Callers, caller: Caller): (name: string) => Collection | undefined {
  return (name) => {
    const declared = service.collections().get(name);
    return declared && viewFor(service, declared, caller);
  };
}

/** What one caller can see and do in one collection. An operation has one guard, made when the request is parsed. */
export class Guard {
  readonly #permit: Permit;
  readonly #collection: Pick<Collection, "name" | "visibility">;
  readonly #principal: Principal | undefined;
  readonly #tags: Pick<Tags, "view">;

  /** `collection` is the collection as the caller sees it (`viewFor`). */
  constructor(
    permit: Permit,
    collection: Pick<Collection, "name" | "visibility">,
    principal: Principal | undefined,
    tags: Pick<Tags, "view">,
  ) {
    this.#permit = permit;
    this.#collection = collection;
    this.#principal = principal;
    this.#tags = tags;
  }

  /** Which resources exist for the caller, whatever the scopes of the credential. */
  get visible(): AllowedResources {
    return this.#permit.visible();
  }

  /** Which resources the caller can list. */
  get listed(): AllowedResources {
    return this.#permit.may("list");
  }

  /** Which resources the caller can follow: those that rules without related resources allow to list. */
  get followed(): AllowedResources {
    return this.#permit.followed();
  }

  /** Whether a rule of the collection looks at related resources. */
  get looksAtOthers(): boolean {
    return this.#permit.looksAtOthers;
  }

  /** Which resources the caller can do this with. */
  allowed(action: Action): AllowedResources {
    return this.#permit.may(action);
  }

  /** Whether the caller can read any resource. A credential with only write scopes cannot. */
  get canRead(): boolean {
    return this.can("read");
  }

  /** Whether the caller can do this with any resource. */
  can(action: Action): boolean {
    return this.#permit.may(action) !== "nothing";
  }

  /** Whether the caller can do this with every resource. */
  canWithAll(action: Action): boolean {
    return this.#permit.may(action) === "everything";
  }

  /** Whether a resource in this state exists for the caller. */
  sees(state: Judged): boolean {
    return includes(this.#permit.visible(), state);
  }

  /** Whether the caller can do this with a resource in this state. */
  may(action: Action, state: Judged): boolean {
    return includes(this.#permit.may(action), state);
  }

  /**
   * Throws UNAUTHENTICATED or INSUFFICIENT_SCOPE unless the caller can do this with a resource in this state. `resource` says which
   * one this is.
   */
  require(action: Action, state: Judged, resource = "this resource"): void {
    const allowed = this.#permit.may(action);
    if (includes(allowed, state)) return;
    const needed = { collection: this.#collection.name, action };
    if (allowed === "nothing" || this.#principal === undefined) throw denied(this.#principal, needed);
    const hidden = this.#collection.visibility?.hidden;
    const advice = comparedIn(allowed, this.#principal, ([name]) => hidden?.has(name) !== true);
    throw denied(this.#principal, { ...needed, resource }, advice);
  }

  /** The error for a caller who cannot do this. */
  denied(action: Action, advice?: string): Problem {
    return denied(this.#principal, { collection: this.#collection.name, action }, advice);
  }

  /** The resource without the attributes that are hidden from the caller. */
  visiblePart(stored: Stored): Stored {
    const { visibility } = this.#collection;
    return visibility === undefined ? stored : { ...stored, text: visibleText(stored.text, visibility) };
  }

  /** The validators of the caller's view of a resource. */
  validators(stored: Stored): Validators {
    return validatorsOf(stored, this.#tags.view(this.#collection.visibility));
  }
}

const openGuard = new Guard(fullPermit, { name: "" }, undefined, { view: () => "" });

/** The guard of a collection as the caller sees it. If every caller can do everything, all requests share one guard. */
export function guardOf({ access, tags }: Callers, collection: Collection, { principal }: Caller): Guard {
  if (access === undefined && collection.visibility === undefined) return openGuard;
  const isFull = access === undefined || isInternal(collection.name); // only administrators come here
  const permit = isFull ? fullPermit : access.permit(collection.name, principal);
  return new Guard(permit, collection, principal, tags);
}

/** The filter for the store. It treats a related resource that the caller cannot list as one that does not exist. */
export function storeFilter(service: Data & Callers, caller: Caller, filter: RequestedFilter): StoreFilter {
  const through = ({ through: relations, ...operand }: Operand<RelationPath>): Operand => ({
    ...operand,
    ...(relations && { through: relations.map((each) => listedThrough(service, caller, each)) }),
  });
  return mapLeaves<RequestedLeaf, StoreLeaf>(filter, (leaf): StoreFilter => {
    if (leaf.kind === "compares") return { ...leaf, left: through(leaf.left), right: through(leaf.right) };
    if (leaf.kind !== "requestedRelated") return leaf;
    const { relation, filter: listed } = listedThrough(service, caller, leaf.relation);
    if (listed === matchNone) return matchNone;
    const inner = storeFilter(service, caller, leaf.filter);
    return { kind: "related", relation, filter: allOf([inner, listed]) };
  });
}

/** Sort keys or group keys for the store. A related resource that the caller cannot list counts as absent. */
export function storeKeys<Key extends { through?: RelationPath }>(
  service: Data & Callers,
  caller: Caller,
  keys: readonly Key[],
): (Omit<Key, "through"> & { through?: RelatedCondition })[] {
  type StoreKey = Omit<Key, "through"> & { through?: RelatedCondition };
  return keys.map((key) =>
    key.through === undefined
      ? (key as Omit<Key, "through">)
      : ({ ...key, through: listedThrough(service, caller, key.through) } as StoreKey),
  );
}

/** The related resources that the caller can list. */
function listedThrough(service: Data & Callers, caller: Caller, relation: RelationPath): RelatedCondition {
  const target = viewsOf(service, caller)(relation.collection);
  const listed = target === undefined ? "nothing" : guardOf(service, target, caller).listed;
  const filter = listed === "nothing" ? matchNone : listed === "everything" ? allOf<Condition>([]) : listed;
  return { kind: "related", relation, filter };
}
