/**
 * The messages between the store and its writer thread.
 *
 * A message contains commits as one flat list of strings and numbers, its cells. Copying such a list between threads takes a
 * fraction of the time for objects, and the HTTP thread does that work.
 */
import type { MessagePort } from "node:worker_threads";
import type { Unique } from "../../../collection/unique.ts";
import type { StepReport } from "../../core/building.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import type { Refusal } from "../../core/commits/refusals.ts";
import type { ResolvedChange, ResolvedCommit } from "../../core/commits/resolved-commit.ts";
import type { KeyChange } from "../../core/key-plans.ts";
import type { Erased } from "../../port/change-log.ts";
import { type Change, type Commit, type Receipt, requirementsOf } from "../../port/commit.ts";
import { toNumber } from "../../port/log-place.ts";
import type { History, ReceiptLimits } from "../../port/options.ts";
import type { CollectionRecord } from "../../port/record.ts";
import type { Added, LoadOptions } from "../../port/store.ts";
import type { Stored } from "../../port/stored.ts";

/** An element of a flat list. */
export type Cell = string | number | null;

/** A task was refused. The store throws the reason as an error. */
export interface Refused {
  refusal: Refusal;
}

/** The work of the writer, by name: the arguments and results that a message carries. Commits are a task of their own. */
export interface WriterTasks {
  /** Returns the declared collections, and `Marks.catalogue` before the change. */
  migrate(plan: readonly CollectionRecord[]): { collections: readonly NumberedCollection[]; before: number };
  /** Reserves `n` integer ids and returns the first. */
  reserve(collection: number, n: number): number;
  /** Starts or continues an import. Returns the number of the collection. */
  load(into: number | CollectionRecord, options: Required<LoadOptions>): number;
  /** Adds resources to the import: ids, texts, the versions that they replace, and who ends them, or null, in turn. */
  add(cells: readonly Cell[]): Added;
  /** The resources that have these values in a unique attribute. */
  holders(unique: Unique, values: readonly string[]): readonly (Stored | undefined)[];
  checkLoad(): Refused | undefined;
  finish(): Refused | undefined;
  cancel(): void;
  /** Takes a step of what is built in the background. `undefined`: everything is complete. */
  buildNext(): StepReport | undefined;
  /** Returns whether there can be more to remove. */
  trim(now: number): boolean;
  erase(collection: number, id: string): Omit<Erased, "unfinished"> | Refused;
  finishErasures(): void;
  changeKey(change: KeyChange): boolean;
  probe(): void;
  restartLog(): void;
  close(): void;
}

/** What a thread asks about its connection to the writer. */
export interface ConnectionTasks {
  /** Adds a thread that uses the writer, too. */
  connect(port: MessagePort): void;
  /** The thread of this connection ends. */
  disconnect(): void;
  /** Whether the thread wants to know which collections other threads change. */
  listen(isListening: boolean): void;
  /** From now on, no other thread writes. */
  hold(): Refused | undefined;
  release(): void;
}

/** All tasks. */
export interface Tasks extends WriterTasks, ConnectionTasks {
  /** Writes small commits. `since`: when each one arrived, if there is a meter. */
  commit(count: number, cells: readonly Cell[], since?: readonly number[]): CommitResults;
  /** Writes a large commit, after the small ones that have arrived. */
  commitLarge(...commit: Parameters<Tasks["commit"]>): CommitResults;
}

/** A request to the writer. */
export type RequestFor<Name extends keyof Tasks> = {
  [N in Name]: { name: N; args: Parameters<Tasks[N]> };
}[Name];

/** Any request. */
export type WriterRequest = RequestFor<keyof Tasks>;

/** A request on its way. Each thread numbers its own ones. The writer performs them in their order, but small commits before large ones. */
export interface SentRequest {
  number: number;
  request: WriterRequest;
}

/** What a task returns if it is not refused. */
export type ResultOf<Name extends keyof Tasks> = Exclude<ReturnType<Tasks[Name]>, Refused>;

/**
 * The answer to one request. `isHeld`: another thread holds the writer, so nothing was done. `invalidState`: the writer cannot do it in its
 * present state.
 */
export type WriterAnswer = { result: unknown } | Refused | { isHeld: true } | { invalidState: string };

/**
 * A message from the writer. The first one is `ready` or `openFailed`. `answers` have the numbers of the thread's requests.
 * `changed` has the numbers of the collections that have changed. `failure` is the reason why the writer has stopped
 * permanently. After `free`, requests that were answered with `isHeld` can be repeated.
 */
export type WriterMessage =
  | { kind: "ready" }
  | { kind: "openFailed"; reason: string; isFull: boolean }
  | {
      kind: "answers";
      answers: readonly (readonly [number, WriterAnswer])[];
      changed: readonly number[];
      failure: string | undefined;
    }
  | { kind: "free" };

/** The settings of the writer thread. */
export interface WriterSettings {
  path: string;
  synchronous: "FULL" | "NORMAL";
  groupCommit: boolean;
  history: History;
  /** @default `receiptLimits` */
  receipts?: ReceiptLimits;
  /** The memory of `Marks`. @default memory of its own, if nobody reads beside the writer */
  marks?: SharedArrayBuffer;
  /** The memory of a `CommitMeter`. @default nothing is counted */
  meter?: SharedArrayBuffer;
}

/** The results of commits: the sequences of all changes in their order, and the refusals by the index of the commit. */
export interface CommitResults {
  sequences: readonly number[];
  refusals: ReadonlyMap<number, Refusal>;
}

/** The outcome of one commit: the sequence of each change, or the refusal. */
export type CommitOutcome = { sequences: readonly number[] } | Refused;

/** The results for a message. */
export function resultsOf(outcomes: readonly CommitOutcome[]): CommitResults {
  const sequences: number[] = [];
  const refusals = new Map<number, Refusal>();
  for (const [n, outcome] of outcomes.entries()) {
    if ("refusal" in outcome) refusals.set(n, outcome.refusal);
    else for (const sequence of outcome.sequences) sequences.push(sequence); // too many for the arguments of one call
  }
  return { sequences, refusals };
}

type FindCollection = (number: number) => NumberedCollection;

/** Appends a commit to a flat list. */
export function encodeCommit(cells: Cell[], commit: Commit, numberOf: (collection: string) => number): void {
  const { at, principal, receipt, changes, steps = [], isDryRun, maxCascadeText, whole } = commit;
  cells.push(at, principal ?? null, isDryRun ? 1 : 0, maxCascadeText ?? null, changes.length);
  cells.push(whole === undefined ? null : whole.size);
  for (const [name, place] of whole ?? []) cells.push(numberOf(name), toNumber(place));
  if (receipt === undefined) cells.push(null);
  else cells.push(receipt.key, receipt.fingerprint, receipt.answer, receipt.expiresAt, receipt.brief ?? "");
  encodeChanges(cells, changes, numberOf);
  cells.push(steps.length);
  for (const step of steps) {
    cells.push(step.length);
    encodeChanges(cells, step, numberOf);
  }
  const requires = requirementsOf(commit);
  cells.push(requires.length === 0 ? null : JSON.stringify(requires));
}

function encodeChanges(
  cells: Cell[],
  changes: readonly Change[],
  numberOf: (collection: string) => number,
): void {
  for (const { key, expect, expectText, next, after, last, principal: own } of changes) {
    // 0: the resource must not exist. Below 0: the resource must be deleted, with the negative version of the delete.
    // A change of a resource can have `expectText`, and only a create can have `last`. So they share a cell.
    const before = expect !== "absent" ? expect : after === undefined ? 0 : -after;
    cells.push(numberOf(key.collection), key.id, before, expectText ?? last ?? null, next ?? null);
    if (next === undefined) cells.push(own ?? null);
  }
}

/** Reads `count` commits from a flat list. */
export function decodeCommits(cells: readonly Cell[], count: number, find: FindCollection): ResolvedCommit[] {
  const source = { cells, position: 0 };
  return Array.from({ length: count }, () => decodeCommit(source, find));
}

/** A flat list with the position of the next cell. */
interface CellSource {
  cells: readonly Cell[];
  position: number;
}

function take(source: CellSource): Cell {
  return source.cells[source.position++] as Cell;
}

function decodeCommit(source: CellSource, find: FindCollection): ResolvedCommit {
  const at = take(source) as number;
  const principal = take(source) as string | null;
  const isDryRun = take(source) === 1;
  const maxCascadeText = (take(source) as number | null) ?? undefined;
  const changes = take(source) as number;
  const whole = decodeWhole(source, find);
  const receipt = decodeReceipt(source);
  const decoded = times(changes, () => decodeChange(source, find));
  const stepCount = take(source) as number;
  const steps =
    stepCount === 0
      ? undefined
      : times(stepCount, () => times(take(source) as number, () => decodeChange(source, find)));
  const requires = take(source) as string | null;
  return {
    at,
    principal,
    isDryRun,
    maxCascadeText,
    whole,
    receipt,
    changes: decoded,
    steps,
    ...(requires !== null && { requires: JSON.parse(requires) }),
  };
}

function decodeWhole(source: CellSource, find: FindCollection): ResolvedCommit["whole"] {
  const count = take(source) as number | null;
  if (count === null) return undefined;
  return times(count, () => ({
    collection: find(take(source) as number),
    sequence: take(source) as number,
  }));
}

function times<T>(n: number, make: () => T): T[] {
  const made: T[] = [];
  for (let i = 0; i < n; i++) made.push(make());
  return made;
}

function decodeReceipt(source: CellSource): Receipt | undefined {
  const key = take(source) as string | null;
  if (key === null) return undefined;
  return {
    key,
    fingerprint: take(source) as string,
    answer: take(source) as string,
    expiresAt: take(source) as number,
    brief: take(source) as string,
  };
}

function decodeChange(source: CellSource, find: FindCollection): ResolvedChange {
  const collection = find(take(source) as number);
  const id = take(source) as string;
  const expect = take(source) as number;
  const expected = take(source) as string | number | null;
  const next = (take(source) as string | null) ?? undefined;
  const principal = next === undefined ? ((take(source) as string | null) ?? undefined) : undefined;
  return {
    collection,
    id,
    expect: expect > 0 ? expect : "absent",
    expectText: typeof expected === "string" ? expected : undefined,
    next,
    principal,
    after: expect < 0 ? -expect : undefined,
    last: typeof expected === "number" ? expected : undefined,
  };
}
