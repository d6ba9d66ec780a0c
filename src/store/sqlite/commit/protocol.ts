/**
 * What the store and its writer thread say to each other.
 *
 * Commits go as flat lists of strings and numbers: cloning those between threads costs a fraction of what
 * objects cost, and the thread that answers HTTP pays for it.
 */
import type { ProblemCode } from "../../../errors.ts";
import type { Followed } from "../../change-log.ts";
import type { Commit, Receipt } from "../../commit.ts";
import type { Refusal } from "../../commits/refusals.ts";
import type { ResolvedChange, ResolvedCommit } from "../../commits/resolved-commit.ts";
import type { History } from "../../history.ts";
import type { Refused } from "../../load.ts";
import type { ReceiptLimits } from "../../receipts.ts";
import type { CollectionRecord } from "../../record.ts";
import type { NumberedCollection } from "../file/catalogue.ts";
import type { KeyChange } from "../key-table.ts";

/** What a flat list is made of. */
export type Cell = string | number | null;

/** What the writer is asked. Answers come in the order of the requests. */
export type WriterRequest =
  | { kind: "commit"; calls: number; cells: readonly Cell[] }
  | { kind: "migrate"; plan: readonly CollectionRecord[] }
  | { kind: "reserve"; collection: number; n: number }
  | { kind: "load"; into: number | CollectionRecord; at: number; among: readonly string[] }
  | { kind: "add"; cells: readonly string[] }
  | { kind: "finish" }
  | { kind: "cancel" }
  | { kind: "gather" }
  | { kind: "trim"; now: number }
  | { kind: "erase"; collection: number; id: string }
  | { kind: "key"; change: KeyChange }
  | { kind: "probe" }
  | { kind: "close" };

/** What the writer answers to one request. A problem is told by its code and detail. */
export type WriterAnswer =
  | { kind: "committed"; cells: readonly Cell[]; followed?: readonly Followed[] }
  | { kind: "done" }
  | { kind: "migrated"; collections: readonly NumberedCollection[] }
  | { kind: "reserved"; first: number }
  | { kind: "loading"; collection: number }
  | { kind: "added"; refused: readonly Refused[] }
  | { kind: "gathered"; more: boolean }
  | { kind: "trimmed"; more: boolean }
  | { kind: "erased"; resource: boolean; changes: number; followed: readonly Followed[] }
  | { kind: "keyed"; isChanged: boolean }
  | { kind: "mistake"; message: string }
  | { kind: "problem"; code: ProblemCode; detail: string };

/** What the writer says: that it is ready, or the answers to a number of requests, and why it can go on no longer. */
export type WriterMessage =
  | { kind: "ready" }
  | { kind: "unopened"; reason: string }
  | { kind: "answers"; answers: readonly WriterAnswer[]; failure: string | undefined };

/** What the writer thread is started with. */
export interface WriterSettings {
  path: string;
  synchronous: "FULL" | "NORMAL";
  groupCommit: boolean;
  history: History;
  /** @default the program's */
  receipts?: ReceiptLimits;
}

/** What became of one commit: a sequence for each of its changes and what followed from them, or why it is refused. */
export type Outcome = { sequences: readonly number[]; followed: readonly Followed[] } | { refusal: Refusal };

/** Finds a collection by its number. */
type Find = (number: number) => NumberedCollection;

/** Appends a commit to a flat list. */
export function encodeCommit(cells: Cell[], commit: Commit, numberOf: (collection: string) => number): void {
  const { at, principal, receipt, changes } = commit;
  cells.push(at, principal ?? null, changes.length);
  if (receipt === undefined) cells.push(null);
  else cells.push(receipt.key, receipt.fingerprint, receipt.answer, receipt.expiresAt, receipt.brief ?? "");
  for (const { key, expect, next, after } of changes) {
    // 0: the resource must not exist. Below 0: it must be deleted, and this was the version of the delete.
    const before = expect !== "absent" ? expect : after === undefined ? 0 : -after;
    cells.push(numberOf(key.collection), key.id, before, next ?? null);
  }
}

/** Reads the commits of a flat list. */
export function decodeCommits(cells: readonly Cell[], calls: number, find: Find): ResolvedCommit[] {
  const source = { cells, position: 0 };
  return Array.from({ length: calls }, () => decodeCommit(source, find));
}

interface Source {
  cells: readonly Cell[];
  position: number;
}

function take(source: Source): Cell {
  return source.cells[source.position++] as Cell;
}

function decodeCommit(source: Source, find: Find): ResolvedCommit {
  const at = take(source) as number;
  const principal = take(source) as string | null;
  const changes = take(source) as number;
  return {
    at,
    principal,
    receipt: decodeReceipt(source),
    changes: times(changes, () => decodeChange(source, find)),
  };
}

function times<T>(n: number, make: () => T): T[] {
  const made: T[] = [];
  for (let i = 0; i < n; i++) made.push(make());
  return made;
}

function decodeReceipt(source: Source): Receipt | undefined {
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

function decodeChange(source: Source, find: Find): ResolvedChange {
  const collection = find(take(source) as number);
  const id = take(source) as string;
  const expect = take(source) as number;
  const next = (take(source) as string | null) ?? undefined;
  if (expect > 0) return { collection, id, expect, next, after: undefined };
  return { collection, id, expect: "absent", next, after: expect === 0 ? undefined : -expect };
}

/** Appends what became of a commit to a flat list. */
export function encodeOutcome(cells: Cell[], outcome: Outcome): void {
  if ("sequences" in outcome) {
    cells.push(null, ...outcome.sequences);
    return;
  }
  const { code, detail, pointer, change } = outcome.refusal;
  cells.push(code, detail, pointer ?? null, change ?? null);
}

/** Reads what became of commits that have so many changes each: sequences, or why one is refused. */
export function decodeOutcomes(
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

function decodeRefusal(source: Source, code: ProblemCode): Refusal {
  const detail = take(source) as string;
  const pointer = take(source) as string | null;
  const change = take(source) as number | null;
  return {
    code,
    detail,
    ...(pointer === null ? {} : { pointer }),
    ...(change === null ? {} : { change }),
  };
}
