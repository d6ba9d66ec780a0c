/**
 * The messages between the store and its writer thread.
 *
 * A message contains commits as one flat list of strings and numbers, its cells. Copying such a list between threads takes a
 * fraction of the time for objects, and the HTTP thread does that work.
 */
import type { MessagePort } from "node:worker_threads";
import type { ProblemCode } from "../../../errors.ts";
import type { Refusal } from "../../core/commits/refusals.ts";
import type { ResolvedChange, ResolvedCommit } from "../../core/commits/resolved-commit.ts";
import type { KeyChange } from "../../core/key-plans.ts";
import type { Erased } from "../../port/change-log.ts";
import type { Commit, Receipt } from "../../port/commit.ts";
import type { History } from "../../port/history.ts";
import type { LoadOptions, Refused } from "../../port/load.ts";
import type { ReceiptLimits } from "../../port/options.ts";
import type { CollectionRecord } from "../../port/record.ts";
import type { NumberedCollection } from "../file/catalogue.ts";

/** An element of a flat list. */
export type Cell = string | number | null;

/** Commits. `since`: when each one arrived, if there is a meter. */
export interface CommitRequest {
  kind: "commit";
  count: number;
  cells: readonly Cell[];
  since?: readonly number[];
}

/** A request that reads or writes the file. */
export type WorkRequest =
  | CommitRequest
  | { kind: "migrate"; plan: readonly CollectionRecord[] }
  | { kind: "reserve"; collection: number; n: number }
  | ({ kind: "load"; into: number | CollectionRecord; at: number } & Required<LoadOptions>)
  | { kind: "add"; cells: readonly string[] }
  | { kind: "checkLoad" }
  | { kind: "finish" }
  | { kind: "cancel" }
  | { kind: "buildIndex" }
  | { kind: "trim"; now: number }
  | { kind: "erase"; collection: number; id: string }
  | { kind: "finishErasures" }
  | { kind: "key"; change: KeyChange }
  | { kind: "probe" }
  | { kind: "restartLog" }
  | { kind: "close" };

/** A request about the connection of a thread to the writer. */
export type ConnectionRequest =
  /** Adds a thread that uses the writer, too. */
  | { kind: "connect"; port: MessagePort }
  /** The thread of this connection ends. */
  | { kind: "disconnect" }
  /** Whether the thread wants to know which collections other threads change. */
  | { kind: "listen"; isListening: boolean }
  /** From now on, no other thread writes. */
  | { kind: "hold" }
  | { kind: "release" };

/** A request to the writer. It answers the requests of each thread in their order. */
export type WriterRequest = WorkRequest | ConnectionRequest;

const connectionRequests: ReadonlySet<string> = new Set<ConnectionRequest["kind"]>([
  "connect",
  "disconnect",
  "listen",
  "hold",
  "release",
]);

/** Whether a request is about the connection of its thread. */
export function isConnectionRequest(request: WriterRequest): request is ConnectionRequest {
  return connectionRequests.has(request.kind);
}

/** The answer to one request. `held`: another thread holds the writer, so nothing was done. `invalidState`: the writer cannot do it in its present state. `problem`: the error for the client. */
export type WriterAnswer =
  | { kind: "committed"; cells: readonly Cell[] }
  | { kind: "done" }
  | { kind: "held" }
  /** `before`: `Marks.catalogue` before the change. */
  | { kind: "migrated"; collections: readonly NumberedCollection[]; before: number }
  | { kind: "reserved"; first: number }
  | { kind: "loading"; collection: number }
  | { kind: "added"; refused: readonly Refused[] }
  | { kind: "indexBuilt"; more: boolean }
  | { kind: "trimmed"; more: boolean }
  | ({ kind: "erased" } & Omit<Erased, "unfinished">)
  | { kind: "keyed"; isChanged: boolean }
  | { kind: "invalidState"; message: string }
  | { kind: "problem"; code: ProblemCode; detail: string };

/**
 * A message from the writer. The first one is `ready` or `openFailed`. `answers` answer the oldest requests of the thread.
 * `changed` has the numbers of the collections that have changed. `failure` is the reason why the writer has stopped
 * permanently. After `free`, requests that were answered with `held` can be repeated.
 */
export type WriterMessage =
  | { kind: "ready" }
  | { kind: "openFailed"; reason: string }
  | {
      kind: "answers";
      answers: readonly WriterAnswer[];
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

/** The outcome of one commit: the sequence of each change, or the refusal. */
export type CommitOutcome = { sequences: readonly number[] } | { refusal: Refusal };

type FindCollection = (number: number) => NumberedCollection;

/** Appends a commit to a flat list. */
export function encodeCommit(cells: Cell[], commit: Commit, numberOf: (collection: string) => number): void {
  const { at, principal, receipt, changes, isDryRun, maxCascadeText, whole } = commit;
  cells.push(at, principal ?? null, isDryRun ? 1 : 0, maxCascadeText ?? null, changes.length);
  cells.push(whole === undefined ? null : whole.size);
  for (const [name, sequence] of whole ?? []) cells.push(numberOf(name), sequence);
  if (receipt === undefined) cells.push(null);
  else cells.push(receipt.key, receipt.fingerprint, receipt.answer, receipt.expiresAt, receipt.brief ?? "");
  for (const { key, expect, expectText, next, after } of changes) {
    // 0: the resource must not exist. Below 0: the resource must be deleted, with the negative version of the delete.
    const before = expect !== "absent" ? expect : after === undefined ? 0 : -after;
    cells.push(numberOf(key.collection), key.id, before, expectText ?? null, next ?? null);
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
  return {
    at,
    principal,
    isDryRun,
    maxCascadeText,
    whole,
    receipt: decodeReceipt(source),
    changes: times(changes, () => decodeChange(source, find)),
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
  const expectText = (take(source) as string | null) ?? undefined;
  const next = (take(source) as string | null) ?? undefined;
  if (expect > 0) return { collection, id, expect, expectText, next, after: undefined };
  return { collection, id, expect: "absent", expectText, next, after: expect === 0 ? undefined : -expect };
}

/** Appends the outcome of a commit to a flat list. */
export function encodeCommitOutcome(cells: Cell[], outcome: CommitOutcome): void {
  if ("sequences" in outcome) {
    cells.push(null);
    for (const sequence of outcome.sequences) cells.push(sequence); // too many for the arguments of one call
    return;
  }
  const { code, detail, pointer, change, others } = outcome.refusal;
  cells.push(
    code,
    detail,
    pointer ?? null,
    change ?? null,
    others === undefined ? null : JSON.stringify(others),
  );
}

/** Reads the outcomes of commits from a flat list. `changes` has the number of changes that each commit writes. */
export function decodeCommitOutcomes(
  cells: readonly Cell[],
  changes: readonly number[],
): (readonly number[] | Refusal)[] {
  const source = { cells, position: 0 };
  return changes.map((n) => {
    const code = take(source) as ProblemCode | null;
    if (code !== null) return decodeRefusal(source, code);
    return times(n, () => take(source) as number);
  });
}

function decodeRefusal(source: CellSource, code: ProblemCode): Refusal {
  const detail = take(source) as string;
  const pointer = take(source) as string | null;
  const change = take(source) as number | null;
  const others = take(source) as string | null;
  return {
    code,
    detail,
    ...(pointer === null ? {} : { pointer }),
    ...(change === null ? {} : { change }),
    ...(others === null ? {} : { others: JSON.parse(others) as Refusal[] }),
  };
}
