/** Commits: the changes that a store must write together, their result, and the batch in which they wait. */
import { clockSeconds } from "../../counters.ts";
import type { StoreFilter } from "../../query/filter.ts";
import type { Target } from "../../query/targets.ts";
import { Batch, type BatchOptions } from "./batch.ts";
import type { CommitMeter } from "./commit-meter.ts";
import type { LogPlace } from "./log-place.ts";
import type { ResolvedStoreOptions } from "./options.ts";
import type { Key } from "./stored.ts";

/** The change of one resource in a commit: the version that the caller has read, and the next text. */
export interface Change {
  key: Key;
  /** The version that the resource must have. `absent` if it must not exist. */
  expect: number | "absent";
  /**
   * The text that this version must have. A caller sets it if it takes the version from a commit in progress. If that commit
   * fails, another one can make the same version with another text. @default any text
   */
  expectText?: string;
  /** The next text of the resource. `undefined` deletes it. */
  next: string | undefined;
  /**
   * The length of the text that is replaced or deleted, in characters. Like the next text, it takes memory and time.
   * @default 0
   */
  replaced?: number;
  /**
   * Restores a deleted resource. The value is the version of the delete, and the restored resource gets the next number.
   * `expect` must be `absent`, and the delete must be the last change of the resource.
   * @default the resource is new
   */
  after?: number;
  /**
   * Set if the client chose the id of a new resource: the last version of this id (`ServingStore.lastVersion`). The resource gets the
   * next number. `expect` must be `absent`.
   * @default no resource ever had the id, or `after` is set
   */
  last?: number;
  /** What related resources must be like. Otherwise, the commit fails with PRECONDITION_FAILED. @default nothing */
  requires?: readonly Requirement[];
  /** Who deletes the resource, and changes what refers to it, for the change log. Only for a delete. @default `Commit.principal` */
  principal?: string;
}

/** A filter that must match a resource with the related resources as they are when the commit is written. */
export interface Requirement {
  filter: StoreFilter;
  /** The attributes of the resource that the filter looks at. */
  resource: Readonly<Record<string, unknown>>;
  /** The related resources that the filter looks at. */
  targets: readonly RequiredTarget[];
}

/** A related resource that a requirement looks at. */
export interface RequiredTarget extends Target {
  /**
   * Its text, if it is the changed resource itself, or if an earlier operation of the same batch has made it. `null`: that has deleted it.
   * @default the text before the commit
   */
  text?: string | null;
}

/** The version that a change makes. */
export function versionOf({ expect, after, last }: Pick<Change, "expect" | "after" | "last">): number {
  return (expect === "absent" ? (after ?? last ?? 0) : expect) + 1;
}

/** The stored response for an Idempotency-Key. The store writes it in the same transaction as the changes. */
export interface Receipt {
  /** A text made of the principal, the method, the path and the Idempotency-Key. The caller decides on its form. */
  key: string;
  /** Shows whether a later request with the same key is the same request. */
  fingerprint: string;
  /** The response in the form of the caller. */
  answer: string;
  /** A short form of the response. The store keeps it when it removes `answer` to save space. @default "" */
  brief?: string;
  /** When the receipt expires: Unix time in milliseconds. */
  expiresAt: number;
}

/** A receipt that a store has read. It can be without its response. */
export interface KeptReceipt extends Omit<Receipt, "answer"> {
  /** `undefined` if the store has removed it to save space, or because the resource was erased. */
  answer: string | undefined;
}

/** Changes that a store writes together or not at all. */
export interface Commit {
  /** At most one change for each resource. Empty only if there is a receipt, or earlier steps. */
  changes: readonly Change[];
  /**
   * Changes that come before. The store decides about each step as about a commit of its own, with what the steps before have changed, but
   * writes all of them together or none. So `changes` can change a resource again, or use a value that an earlier step frees. An error
   * has its `change` among all of them (`allChangesOf`). @default none
   */
  steps?: readonly (readonly Change[])[];
  receipt?: Receipt;
  /** The caller, for the change log. */
  principal?: string;
  /** Returns who waits for the commit, because callers take turns. @default the service itself */
  caller?: () => string;
  /** Unix time in milliseconds. It becomes `updatedAt` and the time in the change log. */
  at: number;
  /** Whether the store only decides about the commit, and writes nothing. Not together with a receipt. @default false */
  isDryRun?: boolean;
  /** The most text that can change because of deletes in the commit, in bytes. @default 16 MiB, and never more */
  maxCascadeText?: number;
  /**
   * Set if the commit brings whole collections to a state: the place at which the log of each of these collections must end. Its deletes
   * then change no other resources: a reference to a deleted resource is refused, whatever its `onDelete`. Only internal collections
   * follow their `onDelete`. The error has all refusals (`Problem.others`), up to `maxRefusals`. @default the commit changes only some resources
   */
  whole?: ReadonlyMap<string, LogPlace>;
}

/** All changes of a commit, those of the earlier steps first. */
export function allChangesOf({ changes, steps }: Pick<Commit, "changes" | "steps">): readonly Change[] {
  return steps === undefined ? changes : [...steps.flat(), ...changes];
}

/** The requirements of a commit, each with the index of its change. */
export function requirementsOf(
  commit: Pick<Commit, "changes" | "steps">,
): readonly (Requirement & { change: number })[] {
  return allChangesOf(commit).flatMap(({ requires = [] }, change) =>
    requires.map((each) => ({ ...each, change })),
  );
}

/** The result of each of the `changes` of a commit, in the same order. Empty for a dry run. */
export type Committed = readonly { version: number; sequence: LogPlace }[];

/** Throws an Error if a commit breaks the contract of `Commit`. It would make the counts in the head rows wrong. */
export function requireValidCommit({ changes, steps, receipt, isDryRun }: Commit): void {
  if (isDryRun && receipt !== undefined) throw new Error("A dry run has no receipt.");
  if (changes.length === 0 && steps === undefined && receipt === undefined)
    throw new Error("A commit has at least one change.");
  for (const step of [...(steps ?? []), changes]) requireValidChanges(step);
}

function requireValidChanges(changes: readonly Change[]): void {
  if (changes.some(({ expect, next }) => expect === "absent" && next === undefined)) {
    throw new Error("A change cannot delete what it expects to be absent.");
  }
  if (changes.length <= 1) return;
  const keys = new Set(changes.map(({ key }) => `${key.collection}/${key.id}`));
  if (keys.size < changes.length) throw new Error("A commit cannot change one resource twice.");
}

/** The limit of the texts in all waiting commits of a kind, in characters. */
const maxWaitingText = 128 * 1024 * 1024;

/** A change takes as much time as this many characters, beside those of its text. */
const charactersOfChange = 1_024;

/** The weight of a commit: about how much time the store needs for it, in characters. */
const weightOf = (commit: Commit) => allChangesOf(commit).length * charactersOfChange + textLength(commit);

/** A commit with several changes is large if its weight is more than this. The store needs some 10 ms for it. */
const maxSmallWeight = 128 * 1024;

/** Small commits are written together up to this weight. */
const maxSmallUnderWay = 2 * 1024 * 1024;

/** Whether a commit takes so long that small ones go first. */
export function isLargeCommit(commit: Commit): boolean {
  return allChangesOf(commit).length > 1 && weightOf(commit) > maxSmallWeight;
}

/**
 * The commits of one thread. Small ones that arrive together are written in one go. Large ones are written one by one, and meanwhile
 * small ones go on, so each small commit waits for at most one large one. Callers take turns in both.
 */
export class CommitQueue {
  readonly #small: Batch<Commit, Committed>;
  readonly #large: Batch<Commit, Committed>;

  constructor(
    {
      groupCommit,
      answersPerTurn,
      meter,
    }: Pick<ResolvedStoreOptions, "groupCommit" | "answersPerTurn" | "meter">,
    {
      perform,
      maxConcurrent = Number.POSITIVE_INFINITY,
    }: Pick<BatchOptions<Commit, Committed>, "perform" | "maxConcurrent">,
  ) {
    const shared = {
      perform: meter === undefined ? perform : counted(perform, meter),
      clock: meter && clockSeconds,
      answersPerTurn,
      maxWeight: maxWaitingText,
      weigh: weightOf,
    };
    const callerOf = ({ caller }: Commit) => caller?.() ?? "";
    this.#small = new Batch({
      ...shared,
      maxConcurrent,
      maxBatchSize: groupCommit ? 1_000 : 1,
      turns: { callerOf, namesOf, maxUnderWay: maxSmallUnderWay },
    });
    this.#large = new Batch({
      ...shared,
      maxConcurrent: 1,
      maxBatchSize: 1,
      // A large commit seldom continues another one (`largeTurn` in `http/writes/write.ts`). If it comes too early, it is decided again.
      turns: { callerOf, namesOf: () => [], maxUnderWay: Number.POSITIVE_INFINITY },
    });
  }

  /** Performs a commit. Throws UNAVAILABLE if too many wait, and the reason if it was not written. */
  run(commit: Commit): Promise<Committed> {
    return (isLargeCommit(commit) ? this.#large : this.#small).run(commit);
  }

  /** Resolves when every commit has its outcome. */
  async drained(): Promise<void> {
    await Promise.all([this.#small.drained(), this.#large.drained()]);
  }
}

/** The resources of a commit. A commit can continue an earlier one of the same resource that is in progress. */
function namesOf(commit: Commit): string[] {
  return allChangesOf(commit).map(({ key: { collection, id } }) => `${collection}/${id}`);
}

type Perform = BatchOptions<Commit, Committed>["perform"];

/** Counts the outcomes. */
function counted(perform: Perform, meter: CommitMeter): Perform {
  return async (commits, since) => {
    const outcomes = await Promise.resolve(perform(commits, since)).catch((error: unknown) =>
      commits.map(() => ({ error })),
    );
    meter.note(outcomes);
    return outcomes;
  };
}

/** The length of all texts that a commit brings and replaces, in characters. */
export function textLength(commit: Commit): number {
  let length = commit.receipt?.answer.length ?? 0;
  for (const { next, replaced = 0 } of allChangesOf(commit)) length += (next?.length ?? 0) + replaced;
  return length;
}
