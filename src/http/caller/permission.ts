/** Whether whoever asks may do what they ask for: of the request as a whole, and of each resource that it is about. */
import type { Action } from "../../access/actions.ts";
import { includes, type Permit } from "../../access/permit.ts";
import type { Principal } from "../../access/principal.ts";
import { denied } from "../../access/refusals.ts";
import type { Decision } from "../../access/rules.ts";
import type { Collection } from "../../collection/collection.ts";
import { type AttributeVisibility, visibleText } from "../../collection/visibility.ts";
import type { Store } from "../../store/store.ts";
import type { Key, Stored } from "../../store/stored.ts";
import { type Validators, validatorsOf } from "../conditional.ts";
import type { HttpRequest } from "../message.ts";
import type { methodsOf, Route } from "../route.ts";
import type { Service } from "../service.ts";
import type { Tags } from "./tags.ts";

/** What each method asks for, of which one suffices. A method that is not here is for nobody. */
export const askedBy: Readonly<
  Record<
    Exclude<keyof typeof methodsOf, "collections" | "document" | "batch">,
    Readonly<Record<string, readonly Action[]>>
  >
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
  if (asked.every((action) => permit.may(action) === "nothing")) {
    throw denied(principal, { collection: collection.name, action: asked[0] ?? "update" });
  }
  const seen = access.seen(collection, principal);
  return seen === collection ? route : { ...route, collection: seen };
}

/** A caller before the resources of one collection. */
export interface Guard {
  /** Which resources there are for the caller: the others are not there. */
  visible: Decision;
  /** Whether a resource of this text is there for the caller. */
  sees(text: string): boolean;
  /** Whether the caller may do this with a resource whose JSON is `text`. */
  may(action: Action, text: string): boolean;
  /** Whether the caller may read no resource of the collection, as with a scope for writing only. */
  isBlind: boolean;
  /** A resource as far as the caller may be told. */
  told(stored: Stored): Stored;
  /** The validators of the caller's view of a resource. */
  validators(stored: Stored): Validators;
  /** Which resources a list has. */
  listed: Decision;
  /** Throws UNAUTHENTICATED or INSUFFICIENT_SCOPE unless the caller may do this with a resource of this text. */
  require(action: Action, text: string): void;
}

const open: Guard = {
  visible: "everything",
  sees: () => true,
  may: () => true,
  isBlind: false,
  told: (stored) => stored,
  validators: (stored) => validatorsOf(stored, ""),
  listed: "everything",
  require: () => {},
};

/** The guard of a collection, before whoever asks. */
export function guardOf(
  { access, tags }: Service,
  collection: Pick<Collection, "name" | "visibility">,
  { principal }: Pick<HttpRequest, "principal">,
): Guard {
  const { name, visibility } = collection;
  if (access !== undefined)
    return new PermitGuard(access.permit(name, principal), { collection, principal, tags });
  if (visibility === undefined) return open;
  return {
    ...open,
    told: (stored) => toldResource(stored, visibility),
    validators: (stored) => validatorsOf(stored, tags.view(visibility)),
  };
}

function toldResource(stored: Stored, visibility: AttributeVisibility | undefined): Stored {
  return visibility === undefined ? stored : { ...stored, text: visibleText(stored.text, visibility) };
}

/** One object with what it needs, since every request makes one. */
class PermitGuard implements Guard {
  readonly #permit: Permit;
  readonly #collection: Pick<Collection, "name" | "visibility">;
  readonly #principal: Principal | undefined;
  readonly #tags: Tags;

  constructor(
    permit: Permit,
    {
      collection,
      principal,
      tags,
    }: {
      collection: Pick<Collection, "name" | "visibility">;
      principal: Principal | undefined;
      tags: Tags;
    },
  ) {
    this.#permit = permit;
    this.#collection = collection;
    this.#principal = principal;
    this.#tags = tags;
  }

  get visible(): Decision {
    return this.#permit.visible();
  }

  get listed(): Decision {
    return this.#permit.may("list");
  }

  sees(text: string): boolean {
    return includes(this.#permit.visible(), text);
  }

  may(action: Action, text: string): boolean {
    return includes(this.#permit.may(action), text);
  }

  get isBlind(): boolean {
    return this.#permit.may("read") === "nothing";
  }

  told(stored: Stored): Stored {
    return toldResource(stored, this.#collection.visibility);
  }

  validators(stored: Stored): Validators {
    return validatorsOf(stored, this.#tags.view(this.#collection.visibility));
  }

  require(action: Action, text: string): void {
    if (this.may(action, text)) return;
    throw denied(this.#principal, { collection: this.#collection.name, action });
  }
}

/** Whether a resource is there for the caller by its last state, also where it is deleted. */
export async function seesLast(guard: Guard, store: Store, key: Key): Promise<boolean> {
  if (guard.visible === "everything") return true;
  const last = await lastState(store, key);
  return last !== undefined && guard.sees(last.text);
}

/** The current state of a resource, or its last state if it is deleted; `undefined` if neither is known. */
export async function lastState(store: Store, key: Key): Promise<Stored | undefined> {
  const current = await store.read(key);
  if (current !== undefined) return current;
  const [last] = await store.changesOf(key, { before: Number.MAX_SAFE_INTEGER, limit: 1 });
  return last?.kind === "deleted" ? store.version(key, last.version - 1) : undefined;
}
