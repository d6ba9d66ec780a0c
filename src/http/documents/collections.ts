/** The list of collections, at the prefix, and the hint about a misspelled collection. */
import { collectionName } from "../../collection/collection.ts";
import { nearestTo } from "../../collection/messages.ts";
import { type Caller, identify, isEncrypted } from "../caller/admit.ts";
import type { Document, Result } from "../operations/result.ts";
import { type HttpRequest, jsonType } from "../protocol/message.ts";
import { type Route, serviceDescription } from "../route.ts";
import { type Service, servedNames } from "../service.ts";

/** The sorted names of the collections that the caller can list. */
export async function listedNames(
  service: Service,
  { principal }: Pick<Caller, "principal">,
): Promise<string[]> {
  const { access } = service;
  const mayList = (name: string) => access?.permit(name, principal).may("list") !== "nothing";
  return (await servedNames(service)).filter(mayList);
}

/** The list of collections as JSON: the name and the path of each. */
export async function collectionsDocument(
  service: Service,
  caller: Pick<Caller, "principal">,
): Promise<Document> {
  const { docs, prefix } = service.settings;
  const names = await listedNames(service, caller);
  const collections = names.map((name) => ({ name, href: `${prefix}/${name}` }));
  return {
    status: 200,
    type: jsonType,
    body: JSON.stringify({ collections }),
    ...(docs ? { headers: { link: serviceDescription } } : {}),
  };
}

/** A request whose response can have a hint. */
interface HintRequest {
  route: Route;
  caller: Caller;
  request: HttpRequest;
}

/** Whether the collection of a request may not exist: nothing was found, or a list without a single change. */
export function mayBeMisspelled(result: Result): boolean {
  return result.kind === "not found" || (result.kind === "page" && result.page.sequence === 0);
}

/**
 * The value of the header `Holdfast-Hint`: the collection that the caller means, if the one of the request does not exist. The
 * hint and its time depend only on the collections that the caller can list. Never rejects.
 */
export function hintFor(
  service: Service,
  { route, caller, request }: HintRequest,
): undefined | Promise<string | undefined> {
  const name = request.method === "OPTIONS" ? undefined : undeclaredName(service, route);
  if (name === undefined || !collectionName.test(name)) return undefined;
  const names = route.kind === "nothing" ? listedByRequest(service, request) : listedNames(service, caller);
  return names.then(
    (known) => (known.includes(name) ? undefined : hintAt(nearestTo(name, known))),
    () => undefined, // the response is complete without it
  );
}

function undeclaredName({ collections }: Service, route: Route): string | undefined {
  if (route.kind === "nothing") return route.name;
  if (!("collection" in route) || collections.has(route.collection.name)) return undefined;
  return route.collection.name;
}

/** An unknown path has no caller yet. Rejects if the credential is invalid: the status of the response stays the same. */
async function listedByRequest(service: Service, request: HttpRequest): Promise<string[]> {
  if (service.settings.requireTls && !isEncrypted(service.settings, request)) return [];
  return listedNames(service, { principal: await identify(service, request) });
}

function hintAt(nearest: string | undefined): string | undefined {
  return nearest === undefined ? undefined : `did you mean "${nearest}"?`;
}
