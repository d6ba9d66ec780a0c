/**
 * What must change so that collections are again as they were at a time, and what would not fit then. The path `_rewind` and the
 * command use it.
 *
 * The plan belongs to one state of the collections. Its commit names that state (`Commit.whole`), so the store refuses it if
 * other changes came in between.
 */
import { setImmediate as turn } from "node:timers/promises";
import type { Collection } from "../collection/collection.ts";
import { proposeText, textOf } from "../collection/proposal.ts";
import { resourceText } from "../collection/resource.ts";
import { clientAttributes, withTimestamps } from "../collection/timestamps.ts";
import {
  completeProposal,
  type HookedItem,
  type HooksOfRequest,
  hookedViolations,
  hookRefusals,
} from "../collection/write-hooks.ts";
import { Problem, type Violation } from "../errors.ts";
import { danglingDetail, maxRefusals, takenViolations } from "../store/core/commits/refusals.ts";
import { textOfChain } from "../store/core/history-plans.ts";
import {
  type ChangedResource,
  type ChangedTexts,
  type ChangesSince,
  HistoryMissing,
} from "../store/port/change-log.ts";
import type { Change, Commit } from "../store/port/commit.ts";
import { type LogPlace, logStart } from "../store/port/log-place.ts";
import type { HistoryStore } from "../store/port/store.ts";
import type { Key } from "../store/port/stored.ts";

/** What a rewind asks for. Times are Unix times in milliseconds. */
export interface RewindAsked {
  /** The collections to rewind, as they are declared now. */
  collections: readonly Collection[];
  /** The time to go back to. */
  to: number;
  now: number;
  /** The limit of the changed resources, each before or after the rewind, in bytes. */
  maxBytes: number;
  /** What the caller can do if it is larger, as a sentence. @default nothing more */
  ifLarger?: string;
  /** The hooks of a collection. @default no collection has any */
  hooksOf?: (collection: Collection) => HooksOfRequest | undefined;
  /** Called with the characters that the plan holds in memory. @default nothing is called */
  onLength?: (length: number) => void;
}

/** How many resources of a collection change. */
export interface RewindCounts {
  /** Resources that were deleted since, and exist again. */
  created: number;
  replaced: number;
  /** Resources that were created since. */
  deleted: number;
}

/** The changes of a rewind. */
export interface RewindPlan {
  /** All changes in one commit. Without changes, there is nothing to commit. */
  commit: Pick<Commit, "changes" | "at"> & Required<Pick<Commit, "whole">>;
  /** By the name of the collection. */
  counts: ReadonlyMap<string, RewindCounts>;
  /** The resources that do not fit the schemas of today. */
  misfits: Misfits;
}

/** Thrown if a collection changed while it was read. A new plan can succeed. */
export class Moved extends Error {}

/** A smaller resource takes as much time as one of this many bytes. */
const leastBytes = 1_024;

/** After this time, other work gets a turn. In milliseconds. */
const stretchMs = 10;

/**
 * Plans a rewind. Throws HistoryMissing with the collection, CONTENT_TOO_LARGE, and Moved if a collection changed in the
 * meantime.
 */
export async function planRewind(
  store: Pick<HistoryStore, "changesSince" | "textsOf">,
  asked: RewindAsked,
): Promise<RewindPlan> {
  const { collections, to, now } = asked;
  const names = collections.map(({ name }) => name);
  const since = await store.changesSince(names, to).catch((error) => {
    throw isTooLarge(error) ? tooLarge(asked, error.message) : error;
  });
  const planning = new Planning(asked, timeOf(since, now));
  for (const [index, part] of since.entries())
    await planning.add(store, collections[index] as Collection, part);
  const whole = new Map(
    since.filter(({ sequence }) => sequence !== logStart).map((each) => [each.collection, each.sequence]),
  );
  return planning.plan(whole);
}

/** Later than every change so far, so that the millisecond before is the time to go back to. */
function timeOf(since: readonly ChangesSince[], now: number): number {
  return since.reduce((time, { latestAt }) => Math.max(time, latestAt + 1), now);
}

/** A plan in progress. */
class Planning {
  readonly #asked: RewindAsked;
  readonly #at: number;
  readonly #changes: Change[] = [];
  readonly #counts = new Map<string, RewindCounts>();
  readonly #misfits = new Misfits();
  #bytes = 0;
  #length = 0;

  constructor(asked: RewindAsked, at: number) {
    this.#asked = asked;
    this.#at = at;
  }

  plan(whole: ReadonlyMap<string, LogPlace>): RewindPlan {
    const commit = { changes: this.#changes, at: this.#at, whole };
    return { commit, counts: this.#counts, misfits: this.#misfits };
  }

  /** Adds the changes of one collection. */
  async add(
    store: Pick<HistoryStore, "textsOf">,
    collection: Collection,
    since: ChangesSince,
  ): Promise<void> {
    const counts = { created: 0, replaced: 0, deleted: 0 };
    this.#counts.set(collection.name, counts);
    const changed = since.changed.filter(({ existed, exists }) => existed || exists);
    let started = performance.now();
    for (let from = 0; from < changed.length; ) {
      const texts = await store.textsOf(collection.name, changed, from);
      if (texts.length === 0) throw new Moved();
      for (const each of texts) {
        const kind = await this.#addOne(collection, changed[from++] as ChangedResource, each);
        if (kind !== undefined) counts[kind]++;
        if (performance.now() - started < stretchMs) continue;
        await turn();
        started = performance.now();
      }
      this.#asked.onLength?.(this.#length);
    }
  }

  async #addOne(
    collection: Collection,
    resource: ChangedResource,
    texts: ChangedTexts,
  ): Promise<keyof RewindCounts | undefined> {
    const { id, existed, exists, lastVersion: version } = resource;
    const last = exists ? currentText(resource, texts) : texts.deleted;
    if (last === undefined) throw new HistoryMissing(undefined, collection.name);
    const item = { id, previous: exists ? last : undefined } as const;
    const then = existed ? await this.#textThen(collection, { ...resource, texts }, item) : undefined;
    const next = then === undefined ? undefined : this.#textOf(collection, then, { ...resource, last });
    if (exists && next === last) return undefined;
    const key = { collection: collection.name, id };
    this.#count(last, next);
    if (exists) this.#changes.push({ key, expect: version, next, replaced: last.length });
    else this.#changes.push({ key, expect: "absent", next, after: version });
    await this.#judge(collection, item, { last, next });
    return next === undefined ? "deleted" : exists ? "replaced" : "created";
  }

  /** The next text of a resource. It is its last text if nothing differs but the timestamps. */
  #textOf(
    collection: Collection,
    then: string,
    { id, last, lastAt, exists }: ChangedResource & { last: string },
  ): string {
    if (!collection.timestamps) return then;
    const { idKind } = collection;
    const attributes = clientAttributes(collection, JSON.parse(then) as Record<string, unknown>);
    const known = clientAttributes(collection, JSON.parse(last) as Record<string, unknown>);
    if (exists && JSON.stringify(attributes) === JSON.stringify(known)) return last;
    return resourceText(idKind, id, withTimestamps(attributes, this.#at, { text: last, updatedAt: lastAt }));
  }

  /** The text of a resource at the time to go back to, as its hooks complete it today. */
  async #textThen(
    collection: Collection,
    { texts, ...resource }: ChangedResource & { texts: ChangedTexts },
    item: Omit<HookedItem, "operation">,
  ): Promise<string> {
    const then = textThen(collection, resource, texts);
    const hooks = this.#asked.hooksOf?.(collection);
    if (hooks?.hooks.complete === undefined) return then;
    const proposal = proposeText(collection, then);
    return textOf(await completeProposal(proposal, { ...item, operation: "restore" }, hooks), resource.id);
  }

  async #judge(
    collection: Collection,
    item: Omit<HookedItem, "operation"> & { id: string },
    { last, next }: { last: string; next: string | undefined },
  ): Promise<void> {
    const hooks = this.#asked.hooksOf?.(collection);
    if (hooks === undefined && (collection.schema === undefined || next === undefined)) return;
    const violations =
      next === undefined
        ? await hookRefusals(last, { ...item, operation: "delete" }, hooks)
        : await hookedViolations(proposeText(collection, next), { ...item, operation: "restore" }, hooks);
    this.#misfits.addViolations({ collection: collection.name, id: item.id }, violations);
  }

  #count(last: string, next = ""): void {
    this.#length += last.length + next.length;
    this.#bytes += Math.max(leastBytes, Buffer.byteLength(last), Buffer.byteLength(next));
    if (this.#bytes <= this.#asked.maxBytes) return;
    const { maxBytes, ifLarger } = this.#asked;
    const reason = `More than ${maxBytes} bytes of resources would change, which is the limit of one commit. A larger "limits.rewind" raises it.`;
    throw tooLarge(this.#asked, ifLarger === undefined ? reason : `${reason} ${ifLarger}`);
  }
}

function currentText({ lastVersion }: ChangedResource, { current }: ChangedTexts): string {
  if (current?.version !== lastVersion) throw new Moved();
  return current.text;
}

function textThen({ name }: Collection, { id, version }: ChangedResource, texts: ChangedTexts): string {
  const text = textOfChain(id, version, texts);
  if (text === undefined) throw new HistoryMissing(undefined, name);
  return text;
}

function isTooLarge(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "CONTENT_TOO_LARGE";
}

function tooLarge({ collections }: RewindAsked, reason: string): Problem {
  const fewer = collections.length > 1 ? "rewind one collection at a time, " : "";
  return new Problem(
    "CONTENT_TOO_LARGE",
    `Nothing was rewound. ${reason} Choose a later time, ${fewer}or restore a backup.`,
  );
}

/** One reason why a resource would not fit. */
export interface Misfit extends Key {
  /** The attribute, as a JSON Pointer in a fragment; absent if it is about the whole resource. */
  pointer?: string;
  /** The rule: a JSON Schema keyword, `unique`, `reference` or `referenced`. */
  code: string;
  detail: string;
}

/** The codes of what a store refuses. */
const codes: Readonly<Record<string, string>> = {
  UNIQUE_VIOLATION: "unique",
  REFERENCE_NOT_FOUND: "reference",
  REFERENCED: "referenced",
};

/** The resources that would not fit: the first 50, and whether there are more. */
export class Misfits {
  readonly #first: Misfit[] = [];
  #hasMore = false;

  get first(): readonly Misfit[] {
    return this.#first;
  }

  get hasMore(): boolean {
    return this.#hasMore;
  }

  get isEmpty(): boolean {
    return this.#first.length === 0;
  }

  /** Adds the violations of a schema. */
  addViolations({ collection, id }: Key, violations: readonly Violation[]): void {
    for (const { pointer, code, detail } of violations)
      this.#add({ collection, id, ...(pointer === undefined ? {} : { pointer }), code, detail });
  }

  /** Adds the reasons why a store refuses a commit with these changes. Throws any other error. */
  addRefusals(error: unknown, changes: readonly Change[]): void {
    if (!(error instanceof Problem) || codes[error.code] === undefined) throw error;
    for (const each of [error, ...error.others]) {
      const key = changes[each.change ?? 0]?.key as Key;
      const code = codes[each.code] ?? each.code;
      if (each.attributes.length === 0) this.#add({ ...key, code, detail: each.message });
      else if (code === "unique") this.addViolations(key, takenViolations(each.attributes));
      else
        for (const pointer of each.attributes) this.#add({ ...key, pointer, code, detail: danglingDetail });
    }
    if (error.others.length + 1 >= maxRefusals) this.#hasMore = true;
  }

  #add(misfit: Misfit): void {
    if (this.#first.length < maxRefusals) this.#first.push(misfit);
    else this.#hasMore = true;
  }
}
