/**
 * Carries out commits. A group of commits shares one transaction, but each of them is accepted or refused by itself.
 */
import { setTimeout as pass } from "node:timers/promises";
import { clockSeconds } from "../../../counters.ts";
import { Problem } from "../../../errors.ts";
import { damagedCounter, isDamage } from "../../core/checksums.ts";
import { maxCascadeText } from "../../core/commits/deletes.ts";
import { judge, type Verdict } from "../../core/commits/judge.ts";
import { problemOf } from "../../core/commits/refusals.ts";
import {
  type Judging,
  judgingOf,
  type ResolvedCommit,
  resolveCommit,
  resolvedChangesOf,
  type WriteParts,
} from "../../core/commits/resolved-commit.ts";
import type { Outcome } from "../../port/batch.ts";
import { allChangesOf, type Commit, type Committed, textLength } from "../../port/commit.ts";
import type { CommitMeter } from "../../port/commit-meter.ts";
import { toPlace } from "../../port/log-place.ts";
import type { Connections } from "../connection/connections.ts";
import {
  counterOf,
  failureOf,
  isQuickLoss,
  isUndefinedTable,
  toClientError,
} from "../connection/failures.ts";
import { type Transaction, transact, transactionModes } from "../connection/transaction.ts";
import type { Catalogue, NumberedCollection } from "../tables/declared-catalogue.ts";
import { type FlushParts, flush, Overtaken } from "./flush.ts";
import { findHeld, Held, hold, lockFreeHeads } from "./holds.ts";
import type { GroupNumbers } from "./numbers.ts";

/** What commits depend on. */
export interface CommitsParts extends WriteParts<NumberedCollection>, FlushParts {
  connections: Connections;
  /** The catalogue as it was last read. */
  catalogue(): Catalogue;
  /** Reads the catalogue again. */
  reload(): Promise<void>;
  groups: GroupNumbers;
  meter: CommitMeter | undefined;
}

/** How often a group is attempted. */
const maxTries = 8;

/** After this time, a group is not attempted again, because others wait for it. In milliseconds. */
const maxRetryMs = 3_000;

/** The average pause before the second attempt, in milliseconds. The pause doubles with each attempt. */
const retryPauseMs = 3;

/** Carries out groups of commits. */
export class Commits {
  readonly #parts: CommitsParts;

  constructor(parts: CommitsParts) {
    this.#parts = parts;
  }

  /** Returns the outcomes in the order of the commits. */
  async perform(commits: readonly Commit[]): Promise<readonly Outcome<Committed>[]> {
    const outcomes = await this.#performFirst(commits, performance.now() + maxRetryMs);
    if (outcomes.length === commits.length) return outcomes;
    const rest = commits.slice(outcomes.length);
    // An error of the remaining commits must not hide the outcomes of those that are written.
    return [...outcomes, ...(await this.perform(rest).catch((error) => rest.map(() => ({ error }))))];
  }

  /** Performs all commits, or only the first ones. */
  async #performFirst(commits: readonly Commit[], deadline: number): Promise<readonly Outcome<Committed>[]> {
    let hadLostConnection = false;
    let error: unknown;
    for (let tries = 0; tries < maxTries; tries++) {
      const start = performance.now();
      try {
        return await this.#attempt(commits);
      } catch (caught) {
        error = caught;
        const isLostConnection = isQuickLoss(caught, start);
        if (performance.now() > deadline || (isLostConnection && hadLostConnection)) break;
        if (!isLostConnection && !(await this.#prepareRetry(caught, tries))) break;
        hadLostConnection ||= isLostConnection;
      }
    }
    // An error of one commit must not make the others fail.
    if (commits.length > 1 && canBeCausedByOne(error)) return this.#oneByOne(commits, deadline);
    const reason = error instanceof Overtaken ? alwaysOvertaken() : toClientError(error);
    return commits.map(() => ({ error: reason }));
  }

  /** Prepares another attempt. Returns whether there can be one. */
  async #prepareRetry(error: unknown, tries: number): Promise<boolean> {
    if (isRedeclared(error)) await this.#parts.reload();
    if (isRedeclared(error) || error instanceof Overtaken) return true;
    if (error instanceof Problem || failureOf(error) !== "conflict") return false;
    await pass(Math.random() * 2 * retryPauseMs * 2 ** tries);
    return true;
  }

  async #oneByOne(commits: readonly Commit[], deadline: number): Promise<readonly Outcome<Committed>[]> {
    const outcomes: Outcome<Committed>[] = [];
    for (const commit of commits) {
      if (performance.now() > deadline) outcomes.push({ error: alwaysOvertaken() });
      else outcomes.push(...(await this.#performFirst([commit], deadline)));
    }
    return outcomes;
  }

  /**
   * Attempts the commits once. If the first ones change very much, it returns only their outcomes. If it throws,
   * nothing was written.
   */
  async #attempt(commits: readonly Commit[]): Promise<readonly Outcome<Committed>[]> {
    const { connections, groups } = this.#parts;
    const catalogue = this.#parts.catalogue();
    const nextGroup = await groups.take(commits.filter((commit) => canHaveGroup(commit, catalogue)).length);
    return transact(connections, { moreMs: msToWrite(lengthOf(commits)) }, (transaction) =>
      this.#write({ transaction, catalogue, nextGroup }, commits),
    );
  }

  /**
   * Does work while no other transaction can write to the collections, of this store or another instance. `commit` ends this.
   * Writes to them and to those that constraints connect with them wait. Others do not wait.
   * It throws Overtaken as PRECONDITION_FAILED.
   */
  async exclusively<T>(
    connections: Connections,
    collections: readonly string[],
    work: (commit: (commit: Commit) => Promise<Committed>) => Promise<T>,
  ): Promise<T> {
    await this.#parts.reload();
    const catalogue = this.#parts.catalogue();
    const nextGroup = await this.#parts.groups.take(1);
    const whole = collections.filter((name) => catalogue.byName.has(name));
    return transact(connections, transactionModes.longWrite, async (transaction) => {
      await hold(transaction, touchedBy(catalogue, { changed: [], whole }).all).catch(throwOvertaken);
      await lockRelated(transaction, catalogue, { changed: [], whole }).catch(throwOvertaken);
      let writing: Promise<unknown> | undefined;
      try {
        return await work(async (commit) => {
          const written = this.#write({ transaction, catalogue, nextGroup }, [commit]);
          writing = written;
          const [outcome] = await written.catch(throwOvertaken);
          if (outcome === undefined || "error" in outcome) throw outcome?.error;
          return outcome.answer;
        });
      } finally {
        await writing?.catch(() => {}); // the work can end earlier, and others get the connection then
      }
    });
  }

  /** Decides about commits, writes them and commits the transaction. Throws Overtaken. */
  async #write(
    { transaction, catalogue, nextGroup }: Pick<Judging, "nextGroup"> & WithinCatalogue,
    commits: readonly Commit[],
  ): Promise<readonly Outcome<Committed>[]> {
    const resolved = commits.map((commit) => resolveCommit(catalogue, commit));
    const sequenceOf = ({ number }: { number: number }) => locked.sequences.get(number) as number; // `Commit.whole` names only locked collections
    const judging = judgingOf({ ...this.#parts, catalogue: () => catalogue }, { nextGroup, sequenceOf });
    const { staged, lookups } = judging;
    const locked = await lockRelated(transaction, catalogue, collectionsOf(commits), () =>
      transaction.runPlan(lookups.readAhead(resolved, staged)),
    );
    const verdicts: (Verdict | Held)[] = [];
    for (const commit of resolved) {
      const held = heldOf(commit, locked.held, catalogue);
      verdicts.push(held ?? (await transaction.runPlan(judge(judging, commit))));
      // The resources that refer to deleted ones take as much memory as they can.
      if (lookups.referrerBytes >= maxCascadeText) break;
    }
    if (staged.size === 0 && staged.receipts.size === 0) {
      await transaction.rollBack();
      return verdicts.map((verdict) => outcomeOf(verdict));
    }
    await transaction.extend(msToWrite(lookups.referrerBytes));
    const { meter } = this.#parts;
    const unknownOutcome = await namingDamage(catalogue, async () => {
      const last = await transaction.runPlan(flush(this.#parts, staged));
      const start = meter === undefined ? 0 : clockSeconds();
      const outcome = await transaction.commit(last).catch(returnUnknownOutcome);
      meter?.flushes.observe(clockSeconds() - start);
      return outcome;
    });
    return verdicts.map((verdict) =>
      unknownOutcome && "changes" in verdict ? { error: unknownOutcome } : outcomeOf(verdict),
    );
  }
}

/** Runs `work`. Throws DATA_DAMAGED if the change log already has the next sequence of a collection. */
export async function namingDamage<T>({ byNumber }: Catalogue, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const collection = byNumber.get(counterOf(error) ?? 0);
    throw collection === undefined ? error : damagedCounter(collection.name);
  }
}

/** Whether another instance has changed the declaration of a collection, so that the catalogue must be read again. */
export function isRedeclared(error: unknown): boolean {
  return isUndefinedTable(error) || (error instanceof Overtaken && error.isRedeclared);
}

/** Work that was overtaken can be done again. Any other error is the client's. */
function throwOvertaken(error: unknown): never {
  if (error instanceof Overtaken) throw new Problem("PRECONDITION_FAILED", error.message);
  throw toClientError(error);
}

/** A transaction, and the declarations that it assumes. */
interface WithinCatalogue {
  transaction: Transaction;
  catalogue: Catalogue;
}

/** The database writes at least this much text in a millisecond. */
const charactersPerMs = 1_000;

const lengthOf = (commits: readonly Commit[]) => commits.reduce((sum, commit) => sum + textLength(commit), 0);

function msToWrite(length: number): number {
  return Math.ceil(length / charactersPerMs);
}

/** The collections of commits. */
interface CommittedCollections {
  /** Those of the changes. */
  changed: Iterable<string>;
  /** Those that must have a sequence. @default none */
  whole?: Iterable<string>;
}

function collectionsOf(commits: readonly Commit[]): CommittedCollections {
  return {
    changed: commits.flatMap((commit) => allChangesOf(commit).map(({ key }) => key.collection)),
    whole: commits.flatMap(({ whole }) => [...(whole?.keys() ?? [])]),
  };
}

/** What a transaction has locked. */
interface Locked {
  /** The sequences of the collections whose heads are locked, by their numbers. */
  sequences: ReadonlyMap<number, number>;
  /** The collections that another transaction holds. */
  held: ReadonlySet<number>;
}

/**
 * Locks the heads of the `whole` collections and of those that constraints connect with the changed ones, before `read` reads
 * anything. No other transaction can write to them. Throws Overtaken if a declaration has changed. A collection that another
 * transaction holds is not locked: nobody else can write to it.
 */
export async function lockRelated(
  transaction: Transaction,
  catalogue: Catalogue,
  collections: CommittedCollections,
  read: () => Promise<void> = async () => {},
): Promise<Locked> {
  const { all, constrained } = touchedBy(catalogue, collections);
  const [held, heads] = await Promise.all([
    findHeld(
      transaction,
      [...all].filter((number) => !constrained.has(number)),
    ),
    constrained.size === 0 ? [] : transaction.run(lockFreeHeads([...constrained])).then(({ rows }) => rows),
    read(),
  ]);
  for (const [number, , declared] of heads)
    if (Number(declared) !== catalogue.byNumber.get(Number(number))?.declared) throw new Overtaken(true);
  const sequences = new Map(heads.map(([number, sequence]) => [Number(number), Number(sequence)]));
  return {
    sequences,
    held: new Set([...held, ...[...constrained].filter((number) => !sequences.has(number))]),
  };
}

/** The numbers of all collections that commits touch, and of those whose heads must be locked first. */
function touchedBy(catalogue: Catalogue, { changed, whole = [] }: CommittedCollections) {
  const constrained = new Set<number>();
  const all = new Set<number>();
  for (const name of whole) constrained.add(catalogue.byName.get(name)?.number as number); // `resolveCommit` has found it
  for (const name of new Set([...changed, ...whole])) {
    const collection = catalogue.byName.get(name);
    if (collection === undefined) continue;
    all.add(collection.number);
    for (const number of catalogue.relatedTo(collection)) constrained.add(number);
  }
  for (const number of constrained) all.add(number);
  return { all, constrained };
}

/**
 * Why a commit must wait: a collection that it changes is held, or it deletes resources to which a collection that is held can
 * refer.
 */
function heldOf(commit: ResolvedCommit, held: ReadonlySet<number>, catalogue: Catalogue): Held | undefined {
  if (held.size === 0) return undefined;
  const { whole, requires = [] } = commit;
  const numbers = new Set<number>();
  for (const { collection } of requires.flatMap(({ targets }) => targets)) {
    const target = catalogue.byName.get(collection);
    if (target !== undefined) numbers.add(target.number);
  }
  for (const { collection, next } of resolvedChangesOf(commit)) {
    numbers.add(collection.number);
    if (next === undefined || whole !== undefined)
      for (const each of catalogue.relatedTo(collection as NumberedCollection)) numbers.add(each);
  }
  for (const { collection } of whole ?? []) numbers.add(collection.number);
  const needed = [...numbers].filter((number) => held.has(number));
  return needed.length === 0 ? undefined : new Held(needed);
}

/** Whether a commit can make several changes. */
function canHaveGroup(commit: Commit, catalogue: Catalogue): boolean {
  const changes = allChangesOf(commit);
  return (
    changes.length > 1 ||
    changes.some(({ key, next }) => next === undefined && catalogue.referrersTo(key.collection).length > 0)
  );
}

function outcomeOf(verdict: Verdict | Held): Outcome<Committed> {
  if (verdict instanceof Held) return { error: verdict };
  if ("refusal" in verdict) return { error: problemOf(verdict.refusal) };
  return {
    answer: verdict.changes.slice(0, verdict.own).map(({ version, sequence }) => ({
      version,
      sequence: toPlace(sequence),
    })),
  };
}

function returnUnknownOutcome(error: unknown): Problem {
  if (error instanceof Problem && error.code === "OUTCOME_UNKNOWN") return error;
  throw error;
}

/** Whether one commit can have made the whole group fail. */
function canBeCausedByOne(error: unknown): boolean {
  if (error instanceof Overtaken || isDamage(error)) return true;
  if (error instanceof Problem) return false;
  const failure = failureOf(error);
  return failure === "other" || failure === "conflict" || failure === "denied";
}

function alwaysOvertaken(): Problem {
  return new Problem("UNAVAILABLE", "Other writes came first every time. Try again.");
}
