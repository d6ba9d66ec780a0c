/** The header `Holdfast-Hint` of a response without a result: what the path of the request may mean. */
import { collectionName } from "../../collection/collection.ts";
import { nearestTo } from "../../collection/messages.ts";
import { relationName } from "../../collection/references.ts";
import { relationAdvice, usableRelation } from "../../query/related-resources.ts";
import { Violations } from "../../query/violations.ts";
import { anonymous, type Caller, identify, isEncrypted } from "../caller/admit.ts";
import { existsFor, viewsOf } from "../caller/permission.ts";
import type { Result } from "../operations/result.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { MissingRelation, Route } from "../route.ts";
import type { Callers, Data, Surface } from "../service.ts";
import { listedNames } from "./collections.ts";

/** A request whose response can have a hint. */
interface HintRequest {
  route: Route;
  caller: Caller;
  request: HttpRequest;
}

/** Whether the collection or the relation of a request may not exist: nothing was found, or a list without a single change. */
export function mayBeMisspelled(result: Result): boolean {
  return result.kind === "not found" || (result.kind === "response" && result.isUnwritten === true);
}

/**
 * The value of the header `Holdfast-Hint`: the collection that the caller means, if the one of the request does not exist, or how to
 * declare the relation. The hint and its time depend only on the collections that the caller can list. Never rejects.
 */
export function hintFor(
  service: Data & Callers & Surface,
  asked: HintRequest,
): undefined | Promise<string | undefined> {
  const { route, caller, request } = asked;
  const missing = missingRelation(service, asked);
  if (missing !== undefined) return relationHint(service, asked, missing).catch(() => undefined);
  const name = request.method === "OPTIONS" ? undefined : undeclaredName(service, route);
  if (name === undefined || !collectionName.test(name)) return undefined;
  const isUnknown = route.kind === "nothing";
  const names = isUnknown
    ? callerOf(service, request).then((found) => (found === undefined ? [] : listedNames(service, found)))
    : listedNames(service, caller);
  return names.then(
    (known) => (known.includes(name) ? undefined : hintAt(nearestTo(name, known))),
    () => undefined, // the response is complete without it
  );
}

function undeclaredName({ collections }: Data, route: Route): string | undefined {
  if (route.kind === "nothing") return route.name;
  if (!("collection" in route) || collections().has(route.collection.name)) return undefined;
  return route.collection.name;
}

/**
 * The caller of an unknown path, which is not known yet; `undefined` if the connection must be encrypted. Rejects if the credential is
 * invalid: the status of the response stays the same.
 */
async function callerOf(service: Callers & Surface, request: HttpRequest): Promise<Caller | undefined> {
  if (service.settings.requireTls && !isEncrypted(service.settings, request)) return undefined;
  return { ...anonymous, principal: await identify(service, request) };
}

function hintAt(nearest: string | undefined): string | undefined {
  return nearest === undefined ? undefined : `did you mean "${nearest}"?`;
}

/** The relation of a nested path that does not exist, or not for this caller. Both must have the same hint. */
function missingRelation(service: Callers, { route, caller }: HintRequest): MissingRelation | undefined {
  if (route.kind === "nothing") return route.relation;
  if (route.kind !== "collection" || route.nested === undefined || existsFor(service, route, caller))
    return undefined;
  const { parent, relation } = route.nested;
  return { collection: parent, name: relation.name };
}

/** What a hint can contain: a header has no other characters. */
const headerText = /^[\x20-\x7e]{1,500}$/;

async function relationHint(
  service: Data & Callers & Surface,
  { request }: HintRequest,
  { collection, name }: MissingRelation,
): Promise<string | undefined> {
  const caller = relationName.test(name) ? await callerOf(service, request) : undefined;
  if (caller === undefined || !(await listedNames(service, caller)).includes(collection.name))
    return undefined;
  const viewOf = viewsOf(service, caller);
  const seen = viewOf(collection.name) ?? collection;
  const found = usableRelation(seen, name, viewOf);
  const hint =
    found === undefined
      ? `"${name}" is not a relation of "${collection.name}".${relationAdvice(name, seen, { viewOf, violations: new Violations() })}`
      : `"${name}" is one resource, not a list: use embed=${name}`;
  return headerText.test(hint) ? hint : undefined;
}
