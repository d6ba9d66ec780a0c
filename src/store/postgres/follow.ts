/** What follows from deletes: those that refer to what is gone go too, refer to it no more, or forbid it. */
import { Problem } from "../../errors.ts";
import type { Followed } from "../change-log.ts";
import type { Commit } from "../commit.ts";
import { Extent, referencedDetail, textWithout, timeOfFollowing } from "../follow-up.ts";
import type { Referrer } from "./catalogue.ts";
import type { Court } from "./judge.ts";
import type { Entry, Origin, PendingChange } from "./ledger.ts";

/** What is deleted, and the change of the commit that makes it so: its own, or that which it follows. */
interface Deleted {
  collection: string;
  id: string;
  change: number;
}

/** Does to those that refer to what a commit deleted what they are declared for. Gives them, or why that cannot be. */
export async function follow(
  court: Court,
  commit: Commit,
  changes: readonly PendingChange[],
): Promise<readonly Followed[] | Problem> {
  const deleted = commit.changes.flatMap(({ key, next }, change) =>
    next === undefined ? [{ ...key, change }] : [],
  );
  if (deleted.every(({ collection }) => court.catalogue.referrersTo(collection).length === 0)) return [];
  const following = new Following(court, commit, changes);
  return (await following.run(deleted)) ?? following.followed;
}

class Following {
  readonly #court: Court;
  readonly #own: ReadonlySet<string>;
  readonly #changes: readonly PendingChange[];
  readonly #origin: Origin;
  readonly #restricting: [Referrer, readonly Deleted[]][] = [];
  readonly #extent = new Extent();
  readonly followed: Followed[] = [];

  constructor(court: Court, commit: Commit, changes: readonly PendingChange[]) {
    this.#court = court;
    this.#changes = changes;
    this.#own = new Set(commit.changes.map(({ key }) => `${key.collection}/${key.id}`));
    this.#origin = { at: commit.at, principal: commit.principal ?? null, group: changes[0]?.group ?? null };
  }

  /** Gives why it cannot be. */
  async run(deleted: readonly Deleted[]): Promise<Problem | undefined> {
    let wave = deleted;
    while (wave.length > 0) {
      const next: Deleted[] = [];
      for (const [name, gone] of Map.groupBy(wave, ({ collection }) => collection)) {
        for (const referrer of this.#court.catalogue.referrersTo(name)) {
          const refusal = await this.#followAll(referrer, gone, next);
          if (refusal !== undefined) return refusal;
        }
      }
      wave = next;
    }
    return this.#restricted();
  }

  async #followAll(
    referrer: Referrer,
    gone: readonly Deleted[],
    next: Deleted[],
  ): Promise<Problem | undefined> {
    if (referrer.reference.onDelete === "restrict") {
      this.#restricting.push([referrer, gone]);
      return undefined;
    }
    const byId = new Map(gone.map((deleted) => [deleted.id, deleted]));
    const { resources, text } = this.#extent.left;
    const limit = { resources: resources + 1, text };
    const referring = await this.#court.sight.referring(referrer, [...byId.keys()], limit);
    for (const [entry, id] of referring) {
      const refusal = this.#followOne(referrer, { entry, deleted: byId.get(id) as Deleted }, next);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  #followOne(
    { from, reference }: Referrer,
    { entry, deleted }: { entry: Entry; deleted: Deleted },
    next: Deleted[],
  ): Problem | undefined {
    const { now } = entry;
    if (now === undefined) return undefined; // it went with another one
    if (this.#own.has(`${from.name}/${entry.id}`)) return referenced(deleted);
    const tooMuch = this.#extent.add(now.text, deleted.id);
    if (tooMuch !== undefined) return refusal(deleted, tooMuch);
    const resource = { id: entry.id, text: now.text, updatedAt: now.at };
    const referring = { resource, from, reference };
    const at = timeOfFollowing(referring, this.#origin.at);
    const text = textWithout(referring, { id: deleted.id, at });
    this.#court.ledger.write(from, { id: entry.id, next: text }, { ...this.#groupedOrigin(), at });
    const isDeleted = text === undefined;
    this.followed.push({ collection: from.name, id: entry.id, isDeleted });
    if (isDeleted) next.push({ collection: from.name, id: entry.id, change: deleted.change });
    return undefined;
  }

  /** Whether somebody still refers is only known when everything that follows has been done. */
  async #restricted(): Promise<Problem | undefined> {
    for (const [referrer, gone] of this.#restricting) {
      const ids = gone.map(({ id }) => id);
      const id = await this.#court.sight.referredTo(referrer, ids);
      if (id !== undefined) return referenced(gone.find((deleted) => deleted.id === id) as Deleted);
    }
    return undefined;
  }

  /** With a group, which the first change of the commit gets too where it was alone. */
  #groupedOrigin(): Origin {
    if (this.#origin.group === null) {
      this.#origin.group = this.#court.groups.next();
      for (const change of this.#changes) change.group = this.#origin.group;
    }
    return this.#origin;
  }
}

function refusal({ change }: Deleted, detail: string): Problem {
  return new Problem("REFERENCED", detail, { change });
}

function referenced(deleted: Deleted): Problem {
  return refusal(deleted, referencedDetail(deleted.id));
}
