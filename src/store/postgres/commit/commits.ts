/** Carries out commits: a group in one transaction, and each of them is accepted or refused by itself. */
import { setTimeout as pass } from "node:timers/promises";
import { Problem } from "../../../errors.ts";
import type { Outcome } from "../../batch.ts";
import { type Commit, type Committed, textLength } from "../../commit.ts";
import { maxFollowedText } from "../../commits/deletes.ts";
import { judge, type Verdict } from "../../commits/judge.ts";
import { problemOf } from "../../commits/refusals.ts";
import { type Judging, resolveCommit } from "../../commits/resolved-commit.ts";
import { StagedChanges } from "../../commits/staged-changes.ts";
import { decideAsync } from "../../decision.ts";
import type { ReceiptBounds } from "../../receipts.ts";
import type { Connections } from "../connection/connections.ts";
import { answerTo, failureOf, isWithoutTable } from "../connection/failures.ts";
import { isQuickLoss } from "../connection/retry.ts";
import { smallWrite, type Transaction, transact } from "../connection/transaction.ts";
import type { Catalogue, NumberedCollection } from "../tables/catalogue.ts";
import { lockHeads } from "../tables/statements.ts";
import { type Flushed, flush, Overtaken } from "./flush.ts";
import { PostgresLookups } from "./lookups.ts";
import type { GroupNumbers, IdNumbers } from "./numbers.ts";

/** What commits are carried out with. */
export interface CommitsParts {
  connections: Connections;
  /** The catalogue as it was read last. */
  catalogue(): Catalogue;
  /** Reads the catalogue again. */
  reload(): Promise<void>;
  groups: GroupNumbers;
  ids: IdNumbers;
  isLogged: boolean;
  receiptBounds: ReceiptBounds;
}

/** How often a group that others overtook is tried anew. */
const maxTries = 8;

/** A group is not tried any more after so many milliseconds: others wait behind it. */
const maxTryingMs = 3_000;

/** Waits so long before a further try, in milliseconds, on average; and longer each time. */
const pauseMs = 3;

/** Carries out groups of commits, one group at a time. */
export class Commits {
  readonly #parts: CommitsParts;

  constructor(parts: CommitsParts) {
    this.#parts = parts;
  }

  /** The outcomes in the order of the commits. */
  async perform(commits: readonly Commit[]): Promise<readonly Outcome<Committed>[]> {
    const outcomes = await this.#performFirst(commits, performance.now() + maxTryingMs);
    if (outcomes.length === commits.length) return outcomes;
    const rest = commits.slice(outcomes.length);
    // What has been written is told as such, whatever becomes of the rest.
    return [...outcomes, ...(await this.perform(rest).catch((error) => rest.map(() => ({ error }))))];
  }

  /** Performs all of them, or the first ones. */
  async #performFirst(commits: readonly Commit[], until: number): Promise<readonly Outcome<Committed>[]> {
    let hadLoss = false;
    let error: unknown;
    for (let tries = 0; tries < maxTries; tries++) {
      const since = performance.now();
      try {
        return await this.#attempt(commits);
      } catch (caught) {
        error = caught;
        const isLoss = isQuickLoss(caught, since);
        if (performance.now() > until || (isLoss && hadLoss)) break;
        if (!isLoss && !(await this.#mayTryAgain(caught, tries))) break;
        hadLoss ||= isLoss;
      }
    }
    // The fault of one commit must not cost the others theirs.
    if (commits.length > 1 && isFaultOfOne(error)) return this.#oneByOne(commits, until);
    const answer = error instanceof Overtaken ? tooFast() : answerTo(error);
    return commits.map(() => ({ error: answer }));
  }

  async #mayTryAgain(error: unknown, tries: number): Promise<boolean> {
    const isDeclaration = isWithoutTable(error) || (error instanceof Overtaken && error.isDeclaration);
    if (isDeclaration) await this.#parts.reload();
    if (isDeclaration || error instanceof Overtaken) return true;
    if (error instanceof Problem || failureOf(error) !== "conflict") return false;
    await pass(Math.random() * 2 * pauseMs * 2 ** tries);
    return true;
  }

  async #oneByOne(commits: readonly Commit[], until: number): Promise<readonly Outcome<Committed>[]> {
    const outcomes: Outcome<Committed>[] = [];
    for (const commit of commits) {
      if (performance.now() > until) outcomes.push({ error: tooFast() });
      else outcomes.push(...(await this.#performFirst([commit], until)));
    }
    return outcomes;
  }

  /** Tries once; gives the outcomes of the first ones alone where much follows from those. Nothing was written where it throws. */
  async #attempt(commits: readonly Commit[]): Promise<readonly Outcome<Committed>[]> {
    const { connections, groups } = this.#parts;
    const catalogue = this.#parts.catalogue();
    await groups.ensure(commits.filter((commit) => mayGroup(commit, catalogue)).length);
    const resolved = commits.map((commit) => resolveCommit(catalogue, commit));
    return transact(connections, { answerMs: answerMsFor(commits) }, async (transaction) => {
      const staged = new StagedChanges<NumberedCollection>();
      const lookups = new PostgresLookups(transaction, catalogue);
      const names = commits.flatMap(({ changes }) => changes.map(({ key }) => key.collection));
      await Promise.all([lockRelated(transaction, catalogue, names), lookups.prepare(resolved, staged)]);
      const judging = judgingOf(staged, this.#parts);
      const verdicts: Verdict[] = [];
      for (const commit of resolved) {
        verdicts.push(await decideAsync(judge(judging, commit), lookups));
        // What follows from the first ones takes all the memory that it may.
        if (lookups.referrersText >= maxFollowedText) break;
      }
      if (verdicts.every((verdict) => "refusal" in verdict)) {
        await transaction.rollBack();
        return verdicts.map((verdict) => outcomeOf(verdict, undefined));
      }
      await transaction.extend(msToWrite(lookups.referrersText));
      const replaced = [...staged.receipts.keys()].filter((key) => lookups.receipt(key) !== undefined);
      const flushed = await flush(staged, { ...this.#parts, transaction }, replaced);
      const unknown = await transaction.commit(flushed.last).catch(onlyUnknown);
      return verdicts.map((verdict) =>
        unknown && "changes" in verdict ? { error: unknown } : outcomeOf(verdict, flushed),
      );
    });
  }
}

/** What decisions work with. */
export function judgingOf(
  staged: StagedChanges<NumberedCollection>,
  { catalogue, groups, receiptBounds }: Pick<CommitsParts, "catalogue" | "groups" | "receiptBounds">,
): Judging {
  return { catalogue, staged, maxReceipts: receiptBounds.keys, nextGroup: () => groups.next() };
}

/** So much text is written in a millisecond at least. */
const charactersPerMs = 1_000;

function answerMsFor(commits: readonly Commit[]): number {
  const length = commits.reduce((sum, commit) => sum + textLength(commit), 0);
  return smallWrite.answerMs + msToWrite(length);
}

function msToWrite(length: number): number {
  return Math.ceil(length / charactersPerMs);
}

/** Where declarations ask for it, nobody else may write to what they relate: the heads are locked before anything is read. */
export async function lockRelated(
  transaction: Transaction,
  catalogue: Catalogue,
  names: Iterable<string>,
): Promise<void> {
  const numbers = new Set<number>();
  for (const name of new Set(names)) {
    const collection = catalogue.byName.get(name);
    if (collection === undefined) continue;
    for (const number of catalogue.relatedTo(collection)) numbers.add(number);
  }
  if (numbers.size === 0) return;
  const { rows } = await transaction.run(lockHeads([...numbers]));
  for (const [number, , declared] of rows) {
    if (Number(declared) !== catalogue.byNumber.get(Number(number))?.declared) throw new Overtaken(true);
  }
}

/** Whether the changes that a commit makes may be several. */
function mayGroup({ changes }: Commit, catalogue: Catalogue): boolean {
  return (
    changes.length > 1 ||
    changes.some(({ key, next }) => next === undefined && catalogue.referrersTo(key.collection).length > 0)
  );
}

function outcomeOf(verdict: Verdict, flushed: Flushed | undefined): Outcome<Committed> {
  if ("refusal" in verdict) return { error: problemOf(verdict.refusal) };
  return {
    answer: verdict.changes.slice(0, verdict.own).map((change) => ({
      version: change.version,
      sequence: flushed?.sequences.get(change) ?? 0,
    })),
  };
}

function onlyUnknown(error: unknown): Problem {
  if (error instanceof Problem && error.code === "OUTCOME_UNKNOWN") return error;
  throw error;
}

/** Whether a group may have failed because of one of its commits. */
function isFaultOfOne(error: unknown): boolean {
  if (error instanceof Overtaken) return true;
  if (error instanceof Problem) return false;
  const failure = failureOf(error);
  return failure === "other" || failure === "conflict" || failure === "denied";
}

function tooFast(): Problem {
  return new Problem("UNAVAILABLE", "Other writes came first every time. Try again.");
}
