/** Whether whoever asks may do what they ask for: of the request as a whole, and of each resource that it is about. */
import type { Action } from "../access/actions.ts";
import { denied } from "../access/denied.ts";
import { includes, type Permit } from "../access/permit.ts";
import type { Principal } from "../access/principal.ts";
import type { Decision } from "../access/rules.ts";
import type { Collection } from "../collection/collection.ts";
import { type Sight, toldText } from "../collection/sight.ts";
import type { Key, Store, Stored } from "../store/store.ts";
import type { HttpRequest } from "./message.ts";
import type { methodsOf, Route } from "./route.ts";
import type { Service } from "./service.ts";

/** What each method asks for, of which one suffices. A method that is not here is for nobody. */
const askedBy: Readonly<
  Record<Exclude<keyof typeof methodsOf, "document" | "batch">, Readonly<Record<string, readonly Action[]>>>
> = {
  collection: { GET: ["list"], HEAD: ["list"], QUERY: ["list"], POST: ["create"] },
  resource: { GET: ["read"], HEAD: ["read"], PUT: ["update"], PATCH: ["update"], DELETE: ["delete"] },
  changes: { GET: ["read"], HEAD: ["read"] },
  // What is deleted is created anew.
  restore: { POST: ["update", "create"] },
};

/**
 * Throws UNAUTHENTICATED or INSUFFICIENT_SCOPE where there could be no resource with which the caller may do what is
 * asked. What a service is asked of itself, anybody may ask. Gives the route with its collection as the caller sees it.
 */
export function requireAllowed({ access }: Service, route: Route, { method, principal }: HttpRequest): Route {
  if (access === undefined || method === "OPTIONS") return route;
  if (route.kind === "batch" && !access.mayWrite(principal)) throw denied(principal);
  if (!("collection" in route)) return route;
  const { kind, collection } = route;
  const permit = access.permit(collection.name, principal);
  const asked = askedBy[kind][method] ?? [];
  if (asked.some((action) => permit.may(action) !== "nothing"))
    return { ...route, collection: access.seen(collection, principal) };
  throw denied(principal, { collection: collection.name, action: asked[0] ?? "update" });
}

/** A caller before the resources of one collection. */
export interface Guard {
  /** Which resources there are for the caller: the others are not there. */
  visible: Decision;
  /** Whether a resource of this text is there for the caller. */
  sees(text: string): boolean;
  /** Whether the caller may be told this text. */
  mayRead(text: string): boolean;
  /** A resource as far as the caller may be told. */
  told(stored: Stored): Stored;
  /** Which resources a list has. */
  listed: Decision;
  /** Throws UNAUTHENTICATED or INSUFFICIENT_SCOPE unless the caller may do this with a resource of this text. */
  require(action: Action, text: string): void;
}

const open: Guard = {
  visible: "everything",
  sees: () => true,
  mayRead: () => true,
  told: (stored) => stored,
  listed: "everything",
  require: () => {},
};

/** The guard of a collection, before whoever asks. */
export function guardOf(
  { access }: Service,
  { name, sight }: Pick<Collection, "name" | "sight">,
  { principal }: Pick<HttpRequest, "principal">,
): Guard {
  const told = (stored: Stored) => toldResource(stored, sight);
  if (access !== undefined) return { ...createGuard(access.permit(name, principal), name, principal), told };
  return sight === undefined ? open : { ...open, told };
}

function toldResource(stored: Stored, sight: Sight | undefined): Stored {
  return sight === undefined ? stored : { ...stored, text: toldText(stored.text, sight) };
}

function createGuard(
  permit: Permit,
  collection: string,
  principal: Principal | undefined,
): Omit<Guard, "told"> {
  const visible = permit.visible();
  return {
    visible,
    sees: (text) => includes(visible, text),
    mayRead: (text) => includes(permit.may("read"), text),
    listed: permit.may("list"),
    require(action, text) {
      if (!includes(permit.may(action), text)) throw denied(principal, { collection, action });
    },
  };
}

/** Whether a resource is there for the caller by its last state, also where it is deleted. */
export async function seesLast({ visible, sees }: Guard, store: Store, key: Key): Promise<boolean> {
  if (visible === "everything") return true;
  const last = await lastState(store, key);
  return last !== undefined && sees(last.text);
}

async function lastState(store: Store, key: Key): Promise<Stored | undefined> {
  const current = await store.read(key);
  if (current !== undefined) return current;
  const [last] = await store.changesOf(key, { before: Number.MAX_SAFE_INTEGER, limit: 1 });
  return last?.kind === "deleted" ? store.version(key, last.version - 1) : undefined;
}
