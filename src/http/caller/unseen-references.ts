/** Ids that lead to what the caller may not see: they lead nowhere, as far as the caller can tell. */
import type { Collection } from "../../collection/collection.ts";
import { type Target, targetsOf } from "../../collection/refers.ts";
import type { HttpRequest } from "../message.ts";
import type { Service } from "../service.ts";
import { guardOf } from "./permission.ts";

/** What is about to be written. */
interface Written {
  collection: Collection;
  /** The next text, and the current one where there is any. */
  next: string;
  before: string | undefined;
}

/**
 * The text to commit. Where it refers anew to a resource that is not there for the caller, an id that nobody has stands
 * in that one's place, so that the store refuses it with the very answer to an id that leads nowhere.
 */
export function withoutUnseen(
  service: Service,
  request: HttpRequest,
  written: Written,
): string | Promise<string> {
  if (service.access === undefined || written.collection.references.length === 0) return written.next;
  return replaceUnseen(service, request, written);
}

async function replaceUnseen(service: Service, request: HttpRequest, written: Written): Promise<string> {
  const { collection, next, before } = written;
  const { visibility, references } = collection;
  const isConcealed = ({ at }: Target) => visibility?.restricted.has(String(at[0])) === true;
  const attributes = JSON.parse(next) as Record<string, unknown>;
  const known = before === undefined ? [] : targetsOf(JSON.parse(before), references);
  let isWhole = true;
  for (const target of targetsOf(attributes, references)) {
    // What the caller does not see, the caller has not set, and does not know.
    if (isConcealed(target) || known.some((each) => isSame(each, target) && !isConcealed(each))) continue;
    if (!(await isUnseen(service, request, target))) continue;
    replaceAt(attributes, target.at, await idOfNobody(service, target.reference.collection));
    isWhole = false;
  }
  return isWhole ? next : JSON.stringify(attributes);
}

function isSame(a: Target, b: Target): boolean {
  return a.id === b.id && a.reference.collection === b.reference.collection;
}

async function isUnseen(
  service: Service,
  request: HttpRequest,
  { reference: { collection }, id }: Target,
): Promise<boolean> {
  const guard = guardOf(service, { name: collection }, request);
  if (guard.visible === "everything") return false;
  const stored = await service.store.read({ collection, id });
  return stored !== undefined && !guard.sees(stored.text);
}

/** Integer ids count up from one; others can only come with an import. */
async function idOfNobody(
  { collections, store, newUuid }: Service,
  collection: string,
): Promise<string | number> {
  if (collections.get(collection)?.idKind !== "integer") return newUuid();
  let id = Number.MIN_SAFE_INTEGER;
  while ((await store.read({ collection, id: String(id) })) !== undefined) id++;
  return id;
}

function replaceAt(attributes: Record<string, unknown>, at: Target["at"], id: string | number): void {
  let holder: unknown = attributes;
  for (const step of at.slice(0, -1)) holder = (holder as Record<string, unknown>)[step];
  (holder as Record<string, unknown>)[at.at(-1) as string] = id;
}
