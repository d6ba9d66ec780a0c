/** Drafts without a panel: kept while the page asks for a credential, or handed to the panel of a new resource. */
import { useEffect, useRef } from "react";
import { go } from "../route.ts";
import { asksForCredential, bearer, onLeave } from "../service/session.ts";
import {
  type Attributes,
  changedNames,
  type Edit,
  isChanged,
  merge,
  startEdit,
  tagOf,
  versionOf,
} from "./edit.ts";

/** The drafts, by collection and id. They never leave the memory of the page. */
const kept = new Map<string, Edit>();

onLeave((next) => {
  if (next === "" || isOther(bearer()?.subject, bearer(next)?.subject)) kept.clear();
});

addEventListener("beforeunload", (event) => {
  if (kept.size > 0) event.preventDefault();
});

function isOther(before: string | undefined, next: string | undefined): boolean {
  return before !== undefined && next !== undefined && before !== next;
}

/** Keeps the draft of a panel that is removed because the page asks for a credential. A new resource has no id. */
export function useKeptDraft(collection: string, id: string | undefined, edit: Edit | undefined): void {
  const latest = useRef(edit);
  latest.current = edit;
  useEffect(() => {
    return () => {
      const draft = latest.current;
      if (draft !== undefined && isChanged(draft) && asksForCredential())
        kept.set(keyOf(collection, id), draft);
    };
  }, [collection, id]);
}

/** The draft that was kept. */
export function findDraft(collection: string, id: string | undefined): Edit | undefined {
  return kept.get(keyOf(collection, id));
}

/** Forgets a draft that a panel has taken. */
export function forgetDraft(collection: string, id: string | undefined): void {
  kept.delete(keyOf(collection, id));
}

/**
 * A kept draft on top of what the service has now. It contains no more of the version that it is based on than the caller can read
 * now, because this can be another caller.
 */
export function resumeDraft(draft: Edit, current: object): Edit {
  const now = current as Attributes;
  const { base, etag, mine } = draft;
  const changed = new Set(changedNames(base, mine));
  const tag = tagOf(now);
  if (versionOf(tag) === versionOf(etag))
    return { ...draft, base: now, etag: tag, mine: merge(mine, now, changed) };
  const isKept = (name: string) => changed.has(name) || Object.hasOwn(now, name);
  return { ...draft, base: only(base, isKept), mine: only(mine, isKept) };
}

/** A kept draft of a resource that cannot be read now: only what the user changed. */
export function resumeWithout(draft: Edit): Edit {
  const changed = new Set(changedNames(draft.base, draft.mine));
  return { ...draft, base: {}, mine: only(draft.mine, (name) => changed.has(name)), json: undefined };
}

function only(attributes: Attributes, isKept: (name: string) => boolean): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => isKept(name)));
}

function keyOf(collection: string, id: string | undefined): string {
  return JSON.stringify([collection, id ?? null]);
}

let handed: { collection: string; attributes: Attributes } | undefined;

/** Opens the panel of a new resource that begins with these attributes. */
export function openNew(collection: string, query: string, attributes: Attributes): void {
  handed = { collection, attributes };
  go({ kind: "new", collection, query });
}

/** What a new resource begins with: nothing, or what was handed over, which counts as a change. */
export function startOfNew(collection: string): Edit {
  const start = startEdit({}, "");
  return handed?.collection === collection ? { ...start, mine: handed.attributes } : start;
}

/** Forgets the attributes, after the panel has taken them. */
export function forgetHanded(): void {
  handed = undefined;
}

/** A copy without what the service sets. */
export function copyOf(attributes: Attributes, readOnly: readonly string[]): Attributes {
  const own = new Set(["id", "createdAt", "updatedAt", ...readOnly]);
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !own.has(name)));
}
