/** What becomes of those that refer to something deleted: they keep it, or go with it, or lose their reference. */
import { Extent, referencedDetail, textWithout, timeOfFollowing } from "../../follow-up.ts";
import { collectionOf, type NumberedCollection } from "../catalogue.ts";
import type { Refusal, WireChange, WireCommit, WireKey } from "../protocol.ts";
import type { Groups } from "./groups.ts";
import type { FoundWhole, References, Referrers } from "./references.ts";
import type { Resources } from "./resources.ts";

/** What is deleted, and the change of the commit that makes it so: its own, or that which it follows. */
interface Deleted {
  collection: number;
  id: string;
  change: number;
}

/** The deletes of one commit. */
interface Deletes {
  commit: WireCommit;
  /** The sequence of the commit's first change. */
  sequence: number;
  /** The resources that the commit changes itself. */
  own: ReadonlySet<string>;
  /** Those that are still to be followed, and those that came of it. */
  open: Deleted[];
  /** What must not be referred to any more in the end. */
  restricted: { by: Referrers; deleted: Deleted }[];
  /** How much follows. */
  extent: Extent;
}

/** What following works on. */
export interface FollowingParts {
  collections: ReadonlyMap<number, NumberedCollection>;
  references: References;
  resources: Resources;
  groups: Groups;
}

/** Changes those that refer to what was deleted as it is declared. */
export class Following {
  readonly #parts: FollowingParts;
  #followed: WireKey[] = [];

  constructor(parts: FollowingParts) {
    this.#parts = parts;
  }

  /** Resources that were changed because others were deleted, since this was asked last. */
  take(): readonly WireKey[] {
    const followed = this.#followed;
    if (followed.length > 0) this.#followed = [];
    return followed;
  }

  /** Gives a function that forgets who follows from now on. */
  remember(): () => void {
    const before = this.#followed.length;
    return () => {
      this.#followed.length = before;
    };
  }

  /** Follows the deletes of a commit that has been carried out. Gives why one of them must not be. */
  follow(commit: WireCommit, sequences: readonly number[]): Refusal | undefined {
    const open = deletedBy(commit);
    if (open.length === 0) return undefined;
    const own = new Set(commit.changes.map(({ collection, id }) => nameOf(collection, id)));
    const sequence = sequences[0] as number;
    const deletes: Deletes = { commit, sequence, own, open, restricted: [], extent: new Extent() };
    for (const deleted of open) {
      for (const referrers of this.#referrersOf(deleted)) {
        const refusal = this.#followIn(referrers, deleted, deletes);
        if (refusal !== undefined) return refusal;
      }
    }
    const broken = deletes.restricted.find(({ by, deleted }) => by.find(deleted.id, 1).length > 0);
    return broken === undefined ? undefined : referenced(broken.deleted);
  }

  #referrersOf({ collection }: Deleted): readonly Referrers[] {
    return this.#parts.references.to(collectionOf(this.#parts.collections, collection));
  }

  /** Does to the resources of one collection what their reference is declared for. */
  #followIn(referrers: Referrers, deleted: Deleted, deletes: Deletes): Refusal | undefined {
    if (referrers.reference.onDelete === "restrict") {
      deletes.restricted.push({ by: referrers, deleted });
      return undefined;
    }
    for (const found of referrers.find(deleted.id, deletes.extent.left.resources + 1)) {
      if (deletes.own.has(nameOf(referrers.from.number, found.id))) return referenced(deleted);
      const resource = referrers.read(found);
      const tooMuch = deletes.extent.add(resource.text, deleted.id);
      if (tooMuch !== undefined) return refusal(deleted, tooMuch);
      const referring = { resource, from: referrers.from, reference: referrers.reference };
      const at = timeOfFollowing(referring, deletes.commit.at);
      const next = textWithout(referring, { id: deleted.id, at }) ?? null;
      this.#change(resource, { from: referrers.from, next, at }, deletes);
      if (next === null)
        deletes.open.push({ ...deleted, collection: referrers.from.number, id: resource.id });
    }
    return undefined;
  }

  #change(
    resource: FoundWhole,
    { from, next, at }: { from: NumberedCollection; next: string | null; at: number },
    { commit, sequence }: Deletes,
  ): void {
    const { changes, principal } = commit;
    const group = this.#parts.groups.extend(changes[0] as WireChange, sequence);
    const change = { collection: from.number, id: resource.id, expect: resource.version, next };
    this.#parts.resources.write(change, resource, { at, principal, group });
    this.#followed.push({ collection: from.name, id: resource.id, isDeleted: next === null });
  }
}

function deletedBy({ changes }: WireCommit): Deleted[] {
  const deleted: Deleted[] = [];
  for (const [change, { collection, id, next }] of changes.entries())
    if (next === null) deleted.push({ collection, id, change });
  return deleted;
}

function nameOf(collection: number, id: string): string {
  return `${collection}/${id}`;
}

function refusal({ change }: Deleted, detail: string): Refusal {
  return { code: "REFERENCED", detail, change };
}

function referenced(deleted: Deleted): Refusal {
  return refusal(deleted, referencedDetail(deleted.id));
}
