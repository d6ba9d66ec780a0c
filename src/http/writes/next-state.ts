/** The next state of a resource: whether the rules allow it, and the text that the store gets. */
import type { Judged } from "../../access/access.ts";
import type { Requirement } from "../../store/port/commit.ts";
import type { Key } from "../../store/port/stored.ts";
import { withoutHiddenReferences } from "../caller/hidden-references.ts";
import { judged, requirementsFor } from "../caller/judged.ts";
import type { Callers, Clock, Data } from "../service.ts";
import type { CollectionWrite } from "./commit.ts";

/** What a write makes of a resource. */
interface Next {
  key: Key;
  /** `undefined`: it does not exist, or is deleted. */
  current: { text: string } | undefined;
  next: string;
  at: number;
}

/** A next state that the rules allow, or that the store refuses because of a reference. */
export interface AllowedNext {
  /** The next state, with what the rules look at. */
  state: Judged;
  /** The text to commit. It differs if the store must refuse a reference in it. */
  text: string;
  /** What the commit must check again. */
  requires: readonly Requirement[];
}

/** Throws UNAUTHENTICATED or INSUFFICIENT_SCOPE unless the rules allow the next state. */
export async function requireNext(
  service: Data & Callers & Clock,
  { collection, guard, caller }: Pick<CollectionWrite, "collection" | "guard" | "caller">,
  { key, current, next, at }: Next,
): Promise<AllowedNext> {
  const refusesMissing = guard.looksAtOthers;
  const state: Judged = refusesMissing ? await judged(service, guard, { text: next }, key) : { text: next };
  const action = current === undefined ? "create" : "update";
  const about = current === undefined ? "these attributes" : "the new attributes of this resource";
  if (!refusesMissing) guard.require(action, state, about);
  const checked = withoutHiddenReferences(service, caller, {
    collection,
    next,
    before: current?.text,
    refusesMissing,
  });
  const text = typeof checked === "string" ? checked : await checked;
  // The store refuses a reference that leads nowhere. The rules cannot judge it.
  if (refusesMissing && text === next) guard.require(action, state, about);
  const requires = requirementsFor(service, guard, { allowed: guard.allowed(action), state, at, key });
  return { state, text, requires };
}
