/**
 * Makes the store refuse a new reference to a resource that the caller cannot see or that has expired, as if that resource did not exist.
 * It replaces the id before the write. The store itself knows neither the caller nor what expires.
 */
import type { Collection } from "../../collection/collection.ts";
import { type Reference, type ReferencedId, referencedIds } from "../../collection/references.ts";
import type { Callers, Clock, Data } from "../service.ts";
import type { Caller } from "./admit.ts";
import { currentOf } from "./judged.ts";
import { guardOf } from "./permission.ts";

/** A resource that is about to be written. */
export interface NextState {
  collection: Collection;
  next: string;
  /** The current text; `undefined` if the resource does not exist. */
  before: string | undefined;
  /** Whether a resource that does not exist yet counts as hidden, because rules cannot judge it. @default false */
  refusesMissing?: boolean;
}

/**
 * Returns the text to commit. Each new reference to a resource that the caller cannot see gets an id that no resource has.
 * The store then refuses the write with the same error as for an id that does not exist. A reference to the resource itself stays.
 */
export function withoutHiddenReferences(
  service: Data & Callers & Clock,
  caller: Caller,
  state: NextState,
): string | Promise<string> {
  const { references } = state.collection;
  if (references.length === 0) return state.next;
  const canExpire = ({ collection }: Reference) =>
    service.collections().get(collection)?.expires !== undefined;
  if (service.access === undefined && !references.some(canExpire)) return state.next;
  return replaceHidden(service, caller, state);
}

async function replaceHidden(
  service: Data & Callers & Clock,
  caller: Caller,
  { collection, next, before, refusesMissing = false }: NextState,
): Promise<string> {
  const { visibility, references } = collection;
  const isRestricted = ({ at }: ReferencedId) => visibility?.restricted.has(String(at[0])) === true;
  const resource = JSON.parse(next) as Record<string, unknown>;
  const known = before === undefined ? [] : referencedIds(JSON.parse(before), references);
  let isReplaced = false;
  for (const target of referencedIds(resource, references)) {
    // The caller cannot have set a restricted attribute.
    if (isRestricted(target) || known.some((each) => isSame(each, target) && !isRestricted(each))) continue;
    const isItself = target.reference.collection === collection.name && target.id === String(resource.id);
    if (isItself || !(await isHidden(service, caller, target, refusesMissing))) continue;
    replaceAt(resource, target.at, await unusedId(service, target.reference.collection));
    isReplaced = true;
  }
  return isReplaced ? JSON.stringify(resource) : next;
}

function isSame(a: ReferencedId, b: ReferencedId): boolean {
  return a.id === b.id && a.reference.collection === b.reference.collection;
}

async function isHidden(
  service: Data & Callers,
  caller: Caller,
  { reference: { collection }, id }: ReferencedId,
  refusesMissing: boolean,
): Promise<boolean> {
  const target = service.collections().get(collection) as Collection; // references only lead to declared collections
  const guard = guardOf(service, target, caller);
  const expires = target.expires !== undefined;
  if (guard.visible === "everything" && !expires && !refusesMissing) return false;
  const stored = await currentOf(service, guard, { collection, id });
  return stored === undefined ? expires || refusesMissing : !guard.sees(stored);
}

/** An id that no resource has. The service assigns integer ids from 1 upwards, and only an import can create others. */
async function unusedId(
  { collections, store, newUuid }: Data & Clock,
  collection: string,
): Promise<string | number> {
  if (collections().get(collection)?.idKind !== "integer") return newUuid();
  let id = Number.MIN_SAFE_INTEGER;
  while ((await store.read({ collection, id: String(id) })) !== undefined) id++;
  return id;
}

function replaceAt(resource: Record<string, unknown>, at: ReferencedId["at"], id: string | number): void {
  let holder: unknown = resource;
  for (const step of at.slice(0, -1)) holder = (holder as Record<string, unknown>)[step];
  (holder as Record<string, unknown>)[at.at(-1) as string] = id;
}
